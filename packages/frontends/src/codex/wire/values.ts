/** The fields of an object that are neither null nor absent, which mean the same on this wire. */
export type WithoutNullish<Fields> = { [Name in keyof Fields]?: NonNullable<Fields[Name]> };

/** Leaves out fields that are null or undefined. */
export function withoutNullish<Fields extends object>(fields: Fields): WithoutNullish<Fields> {
  const rest: unknown = Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));
  // Only fields of the object are left, and none of them is null.
  return rest as WithoutNullish<Fields>;
}

/** A UUID in its canonical form, or what is wrong with it as the real server reports it. */
export type ParsedUuid = { readonly uuid: string } | { readonly problem: string };

const GROUPS = [8, 4, 4, 4, 12];
const PREFIX = "urn:uuid:";

/** Parses a UUID as the real server does: in groups, also after `urn:uuid:` or in braces, or as 32 digits in a row. */
export function parseUuid(text: string): ParsedUuid {
  const { digits, offset } = unwrapped(text);
  const index = digits.search(/[^0-9a-fA-F-]/);
  if (index !== -1) return { problem: invalidCharacter(digits, index, offset) };
  const groups = digits.split("-");
  if (groups.length === 1 && offset === 0) return parseSimple(digits);
  if (groups.length !== GROUPS.length)
    return { problem: `invalid group count: expected ${GROUPS.length}, found ${groups.length}` };
  const wrong = GROUPS.findIndex((length, at) => groups[at]?.length !== length);
  if (wrong === -1) return { uuid: digits.toLowerCase() };
  return {
    problem: `invalid group length in group ${wrong}: expected ${GROUPS[wrong]}, found ${groups[wrong]?.length}`,
  };
}

/** Returns the text after the prefix or between the braces, and its offset. */
function unwrapped(text: string): { readonly digits: string; readonly offset: number } {
  if (text.startsWith(PREFIX)) return { digits: text.slice(PREFIX.length), offset: PREFIX.length };
  if (text.length > 1 && text.startsWith("{") && text.endsWith("}"))
    return { digits: text.slice(1, -1), offset: 1 };
  return { digits: text, offset: 0 };
}

function parseSimple(digits: string): ParsedUuid {
  if (digits.length !== 32)
    return { problem: `invalid length: expected length 32 for simple format, found ${digits.length}` };
  const uuid = digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-").toLowerCase();
  return { uuid };
}

function invalidCharacter(digits: string, index: number, offset: number): string {
  const found = String.fromCodePoint(digits.codePointAt(index) ?? 0);
  return `invalid character: expected an optional prefix of \`urn:uuid:\` followed by [0-9a-fA-F-], found \`${found}\` at ${offset + index + 1}`;
}
