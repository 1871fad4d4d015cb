/** Limits on the content of one message. Checked on the text, before anything is built from it. */
export const JSON_LIMITS = { depth: 128, members: 100_000, values: 1_000_000 } as const;

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;
const FEWEST_CHARACTERS_PER_MEMBER = 4;

// A pair, a lone half, or any other escape. The last branch makes sure that `\\ud800` is read as a backslash and text.
const ESCAPES =
  /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[dD][89a-fA-F][\da-fA-F]{2}|.)/gs;
const LONE_HALF_LENGTH = 6;

// The letters of `__proto__` written as escapes.
const ESCAPED_PROTOTYPE_LETTER = /\\u00(?:5f|6f|7[024])/i;

/** Replaces escaped lone surrogates by U+FFFD; JSON.stringify writes them and strict parsers refuse the whole line. */
export function replaceLoneSurrogates(json: string): string {
  if (!json.includes("\\ud") && !json.includes("\\uD")) return json;
  return json.replace(ESCAPES, (found) => (found.length === LONE_HALF_LENGTH ? "\\ufffd" : found));
}

/**
 * Reports whether parsing this text can give an object with an own `__proto__` key. May err towards true,
 * never towards false.
 */
export function mayHoldPrototypeKey(json: string, hasEscapes: boolean): boolean {
  return json.includes("__proto__") || (hasEscapes && ESCAPED_PROTOTYPE_LETTER.test(json));
}

/** Removes every own `__proto__` key. The value must have passed the depth limit. */
export function dropPrototypeKeys(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (Object.hasOwn(value, "__proto__")) Reflect.deleteProperty(value, "__proto__");
  for (const inner of Object.values(value)) dropPrototypeKeys(inner);
}

/**
 * Returns the limit that the message breaks, as a sentence, or undefined. Costs next to nothing on ordinary
 * messages.
 */
export function findExcess(json: string): string | undefined {
  return couldExceed(json) ? measure(json) : undefined;
}

function couldExceed(json: string): boolean {
  if (json.length <= 2 * JSON_LIMITS.depth) return false;
  if (json.length > JSON_LIMITS.members * FEWEST_CHARACTERS_PER_MEMBER) return true;
  return count(json, "{") + count(json, "[") > JSON_LIMITS.depth;
}

function count(text: string, character: string): number {
  let found = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) {
    found += 1;
    if (found > JSON_LIMITS.depth) break;
  }
  return found;
}

function measure(json: string): string | undefined {
  const { depth: deepest, members: mostMembers, values: mostValues } = JSON_LIMITS;
  let depth = 0;
  let members = 0;
  let values = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfString(json, at);
    else if (code === COLON) members += 1;
    else if (code === COMMA) values += 1;
    else if (isCloser(code)) depth -= 1;
    else if (isOpener(code)) {
      depth += 1;
      values += 1;
    } else continue;
    if (depth > deepest) return `the message is nested deeper than ${deepest} levels`;
    if (members > mostMembers) return `the message has more than ${mostMembers} object members`;
    if (values > mostValues) return `the message has more than ${mostValues} values`;
  }
  return undefined;
}

/**
 * The exact text of a member of the outermost object, or undefined. Works on text that must not or need not be parsed:
 * messages over a limit, and numbers that a JavaScript number cannot hold. The last of equal keys wins, as in JSON.parse.
 */
export function rawMember(json: string, name: string): string | undefined {
  let found: string | undefined;
  let depth = 0;
  let atKey = false;
  let matches = false;
  let valueStart = -1;
  const endValue = (end: number) => {
    if (valueStart !== -1) found = json.slice(valueStart, end).trim();
    valueStart = -1;
  };
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(json, at);
      if (atKey) matches = isKey(json.slice(at, end + 1), name);
      atKey = false;
      at = end;
    } else if (isOpener(code)) {
      depth += 1;
      atKey = depth === 1;
    } else if (isCloser(code)) {
      if (depth === 1) endValue(at);
      depth -= 1;
    } else if (depth === 1 && code === COMMA) {
      endValue(at);
      atKey = true;
    } else if (depth === 1 && code === COLON && matches) {
      valueStart = at + 1;
      matches = false;
    }
  }
  return found;
}

function isKey(quoted: string, name: string): boolean {
  if (!quoted.includes("\\")) return quoted === `"${name}"`;
  try {
    return JSON.parse(quoted) === name;
  } catch {
    // A broken escape in text that was not parsed yet: not the key that is searched for.
    return false;
  }
}

/** The index of the quote that ends the string opened at `start`, or the last index when none does. */
function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let before = end - 1;
    while (json.charCodeAt(before) === BACKSLASH) before -= 1;
    const escaped = (end - before) % 2 === 0;
    if (!escaped) return end;
  }
  return json.length - 1;
}

function isOpener(code: number): boolean {
  return code === 123 || code === 91;
}

function isCloser(code: number): boolean {
  return code === 125 || code === 93;
}
