const BEGIN = "-----BEGIN";
const END = "-----END";
const HEADER = /-----BEGIN[A-Z ]{0,40}PRIVATE KEY-----/y;
const FOOTER = /-----END[A-Z ]{0,40}-----/y;
const UNFINISHED_HEADER = /-----BEGIN(?:[A-Z ]{0,60}|[A-Z ]{0,40}PRIVATE KEY-{0,4})$/y;

/** How much of a private key is held back at most; the longest in use have half of it. */
export const LONGEST_PRIVATE_KEY = 16_384;

/** What the lines of a private key consist of, including escaped line ends. */
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

/** Where a private key starts that has no footer yet; the length of the text if there is none. */
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
