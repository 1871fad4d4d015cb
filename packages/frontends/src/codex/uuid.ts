/** A UUID in its usual form, or what is wrong with it in the words of the real server. */
export type ReadUuid = { readonly uuid: string } | { readonly problem: string };

const GROUPS = [8, 4, 4, 4, 12];
const PREFIX = "urn:uuid:";

/** Reads a UUID as the real server does: in groups, also after `urn:uuid:` or in braces, or as 32 digits in a row. */
export function readUuid(text: string): ReadUuid {
  const { digits, offset } = unwrapped(text);
  const place = digits.search(/[^0-9a-fA-F-]/);
  if (place !== -1) return { problem: strangeCharacter(digits, place, offset) };
  const groups = digits.split("-");
  if (groups.length === 1 && offset === 0) return readSimple(digits);
  if (groups.length !== GROUPS.length)
    return { problem: `invalid group count: expected ${GROUPS.length}, found ${groups.length}` };
  const wrong = GROUPS.findIndex((length, at) => groups[at]?.length !== length);
  if (wrong === -1) return { uuid: digits.toLowerCase() };
  return {
    problem: `invalid group length in group ${wrong}: expected ${GROUPS[wrong]}, found ${groups[wrong]?.length}`,
  };
}

/** What stands behind the prefix or between the braces, and where. */
function unwrapped(text: string): { readonly digits: string; readonly offset: number } {
  if (text.startsWith(PREFIX)) return { digits: text.slice(PREFIX.length), offset: PREFIX.length };
  if (text.length > 1 && text.startsWith("{") && text.endsWith("}"))
    return { digits: text.slice(1, -1), offset: 1 };
  return { digits: text, offset: 0 };
}

function readSimple(digits: string): ReadUuid {
  if (digits.length !== 32)
    return { problem: `invalid length: expected length 32 for simple format, found ${digits.length}` };
  const uuid = digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-").toLowerCase();
  return { uuid };
}

function strangeCharacter(digits: string, place: number, offset: number): string {
  const found = String.fromCodePoint(digits.codePointAt(place) ?? 0);
  return `invalid character: expected an optional prefix of \`urn:uuid:\` followed by [0-9a-fA-F-], found \`${found}\` at ${offset + place + 1}`;
}
