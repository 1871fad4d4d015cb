/** One format of keys: its prefixes, and the characters after them. */
export interface KeyFormat {
  readonly kind: string;
  readonly prefixes: readonly string[];
  readonly body: string;
  /** Minimum number of characters of the body. */
  readonly least?: number;
  /** Matches a whole key, where that is more than enough of the body. */
  readonly whole?: string;
  /** Must match near the start of the body, where the prefix alone is too common. */
  readonly has?: string;
}

const WORD = "[A-Za-z0-9_-]";
const BEARER = "[A-Za-z0-9._~+/=-]";

/** The keys that are recognized by their format. */
export const KEY_FORMATS: readonly KeyFormat[] = [
  { kind: "anthropic-key", prefixes: ["sk-ant-"], body: WORD, least: 8 },
  { kind: "api-key", prefixes: ["sk-proj-", "sk-svcacct-", "sk-or-"], body: WORD, least: 8 },
  // CSS class names may start the same but consist of plain words.
  { kind: "api-key", prefixes: ["sk-"], body: WORD, least: 16, has: `${WORD}{0,40}[0-9A-Z]` },
  { kind: "api-key", prefixes: ["sk_live_", "rk_live_", "glpat-", "hf_", "npm_"], body: WORD, least: 16 },
  {
    kind: "github-token",
    prefixes: ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
    body: "[A-Za-z0-9]",
    least: 16,
  },
  { kind: "github-token", prefixes: ["github_pat_"], body: "[A-Za-z0-9_]", least: 16 },
  { kind: "aws-key", prefixes: ["AKIA", "ASIA"], body: "[A-Z0-9]", least: 12 },
  {
    kind: "slack-token",
    prefixes: ["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"],
    body: "[A-Za-z0-9-]",
    least: 10,
  },
  { kind: "google-key", prefixes: ["AIza"], body: WORD, least: 30 },
  { kind: "token", prefixes: ["Bearer ", "bearer "], body: BEARER, least: 16 },
  {
    kind: "token",
    prefixes: ["eyJ"],
    body: "[A-Za-z0-9_.-]",
    whole: `${WORD}{5,300}\\.eyJ${WORD}{5,}\\.${WORD}+`,
  },
];

/** A quick check: most text contains none of these. */
export const HINT = /sk[-_]|rk_l|lpat-|hf_|npm_|gh[oprsu]_|b_pat_|A[KS]IA|xox|AIza|earer |eyJ|PRIVATE KEY/;

/** A key starts where no word continues; the last letters of escape sequences are not words. */
const ESCAPE = "\\\\[nrt]|\\u001b\\[[0-9;]{0,9}m";
const START = `(?:(?<![A-Za-z0-9_])|(?<=${ESCAPE}))`;

/** Every whole key in a text; the group that matched gives the format. */
export const KEYS = new RegExp(
  KEY_FORMATS.map(({ prefixes, body, least = 1, has, whole }) => {
    const seen = has === undefined ? "" : `(?=${has})`;
    return `${START}((?:${prefixes.join("|")})${seen}${whole ?? `${body}{${least},}`})`;
  }).join("|"),
  "g",
);

/** Maximum length of a key that is held back before the rest of it is dropped. */
export const LONGEST_KEY = 4096;

/** The characters of a key, and of the rest of one that was too long to hold back. */
export const KEY_CHARACTERS = /^[A-Za-z0-9._~+/=-]+/;

/** A key prefix and everything after it, up to the end of the text. */
const UNFINISHED = new RegExp(
  `(?:${KEY_FORMATS.map(({ prefixes, body }) => `(?:${prefixes.join("|")})${body}*`).join("|")})$`,
  "y",
);

const IS_FIRST = table(
  KEY_FORMATS.flatMap(({ prefixes }) => prefixes.map((prefix) => prefix[0] ?? "")).join(""),
);
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
const IS_WORD = table(LETTERS);
const IS_KEY = table(`${LETTERS}.~+/=-`);
const BEARER_END = /[Bb]earer $/;
const ESCAPE_END = new RegExp(`(?:${ESCAPE})$`);

/** Each attempt may scan the whole text, so their number is bounded. */
const MAX_ATTEMPTS = 100;

/** Returns the start of a key that may continue after the text; the length of the text if there is none. */
export function unfinishedKeyAt(text: string): number {
  const { length } = text;
  let from = length;
  while (from > 0 && IS_KEY[text.charCodeAt(from - 1)] === 1) from -= 1;
  if (text[from - 1] === " " && BEARER_END.test(text.slice(Math.max(0, from - 7), from))) from -= 7;
  let attempts = 0;
  for (let at = from; at < length && attempts < MAX_ATTEMPTS; at += 1) {
    if (IS_FIRST[text.charCodeAt(at)] !== 1 || isInWord(text, at)) continue;
    UNFINISHED.lastIndex = at;
    attempts += 1;
    if (UNFINISHED.test(text)) return at;
  }
  return length;
}

/** Reports whether a position is inside a word. */
function isInWord(text: string, at: number): boolean {
  return IS_WORD[text.charCodeAt(at - 1)] === 1 && !ESCAPE_END.test(text.slice(Math.max(0, at - 12), at));
}

function table(letters: string): Uint8Array {
  const marks = new Uint8Array(65_536);
  for (const letter of letters) marks[letter.charCodeAt(0)] = 1;
  return marks;
}

const BEGIN = "-----BEGIN";
const END = "-----END";
const HEADER = /-----BEGIN[A-Z ]{0,40}PRIVATE KEY-----/y;
const FOOTER = /-----END[A-Z ]{0,40}-----/y;
const UNFINISHED_HEADER = /-----BEGIN(?:[A-Z ]{0,60}|[A-Z ]{0,40}PRIVATE KEY-{0,4})$/y;

/** Maximum length of a private key that is held back; the longest in use have half of it. */
export const LONGEST_PRIVATE_KEY = 16_384;

/** Characters in the lines of a private key, including escaped line ends. */
export const PRIVATE_KEY_CHARACTERS = /^[A-Za-z0-9+/=\s\\:,]+/;

/** Replaces the private keys in a text; one without a footer as far as it looks like one. */
export function withoutPrivateKeys(text: string): string {
  let shown = "";
  let rest = 0;
  // Searched once, not once for every header.
  let footer = text.indexOf(END);
  for (let at = text.indexOf(BEGIN); at !== -1; at = text.indexOf(BEGIN, Math.max(rest, at + 1))) {
    const body = endOf(HEADER, text, at);
    if (body === undefined) continue;
    if (footer !== -1 && footer < body) footer = text.indexOf(END, body);
    const isNear = footer !== -1 && footer - body <= LONGEST_PRIVATE_KEY;
    const end = isNear ? (endOf(FOOTER, text, footer) ?? footer) : body + lengthOfBody(text, body);
    shown += `${text.slice(rest, at)}[redacted:private-key]`;
    rest = end;
  }
  return rest === 0 ? text : shown + text.slice(rest);
}

/** Returns the start of a private key that has no footer yet; the length of the text if there is none. */
export function unfinishedPrivateKeyAt(text: string): number {
  const at = text.lastIndexOf(BEGIN);
  if (at === -1) return text.length;
  UNFINISHED_HEADER.lastIndex = at;
  if (UNFINISHED_HEADER.test(text)) return at;
  const body = endOf(HEADER, text, at);
  if (body === undefined) return text.length;
  const footer = text.indexOf(END, body);
  const isWhole = footer !== -1 && endOf(FOOTER, text, footer) !== undefined;
  return isWhole ? text.length : at;
}

function lengthOfBody(text: string, at: number): number {
  return PRIVATE_KEY_CHARACTERS.exec(text.slice(at))?.[0].length ?? 0;
}

function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
