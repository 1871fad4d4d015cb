/** One kind of key: what it begins with, and what it goes on with. */
export interface KeyFormat {
  readonly kind: string;
  readonly prefixes: readonly string[];
  readonly body: string;
  /** How much of that there is at least. */
  readonly least?: number;
  /** What a whole one is made of, where that is not just enough of the body. */
  readonly whole?: string;
  /** What must be near the beginning of the body, where the prefix alone is too common. */
  readonly has?: string;
}

const WORD = "[A-Za-z0-9_-]";
const BEARER = "[A-Za-z0-9._~+/=-]";

/** The keys that are known by their looks. */
export const KEY_FORMATS: readonly KeyFormat[] = [
  { kind: "anthropic-key", prefixes: ["sk-ant-"], body: WORD, least: 8 },
  { kind: "api-key", prefixes: ["sk-proj-", "sk-svcacct-", "sk-or-"], body: WORD, least: 8 },
  // Styles of web pages have names that begin the same and are made of plain words.
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

/** Finds out quickly that there is nothing: most text has none of these. */
export const HINT = /sk[-_]|rk_l|lpat-|hf_|npm_|gh[oprsu]_|b_pat_|A[KS]IA|xox|AIza|earer |eyJ|PRIVATE KEY/;

/** A key begins where no word goes on; the last letters of escape sequences are no words. */
const ESCAPE = "\\\\[nrt]|\\u001b\\[[0-9;]{0,9}m";
const START = `(?:(?<![A-Za-z0-9_])|(?<=${ESCAPE}))`;

/** Every whole key in a text; which group matched tells the format. */
export const KEYS = new RegExp(
  KEY_FORMATS.map(({ prefixes, body, least = 1, has, whole }) => {
    const seen = has === undefined ? "" : `(?=${has})`;
    return `${START}((?:${prefixes.join("|")})${seen}${whole ?? `${body}{${least},}`})`;
  }).join("|"),
  "g",
);

/** How much of a key is waited for before the rest of it is dropped unseen. */
export const LONGEST_KEY = 4096;

/** What a key may consist of, and what may go on after one that was too long to wait for. */
export const KEY_CHARACTERS = /^[A-Za-z0-9._~+/=-]+/;

/** What a key begins with, and all of the text after it. */
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

/** Each try may look at the whole text; a text with more beginnings of keys than this is not looked at further. */
const MOST_TRIES = 100;

/** Where a key has begun that may go on after the text; the length of the text if none has. */
export function unfinishedKeyAt(text: string): number {
  const { length } = text;
  let from = length;
  while (from > 0 && IS_KEY[text.charCodeAt(from - 1)] === 1) from -= 1;
  if (text[from - 1] === " " && BEARER_END.test(text.slice(Math.max(0, from - 7), from))) from -= 7;
  let tries = 0;
  for (let at = from; at < length && tries < MOST_TRIES; at += 1) {
    if (IS_FIRST[text.charCodeAt(at)] !== 1 || isInWord(text, at)) continue;
    UNFINISHED.lastIndex = at;
    tries += 1;
    if (UNFINISHED.test(text)) return at;
  }
  return length;
}

/** Whether what is at a place of a text goes on with a word. */
function isInWord(text: string, at: number): boolean {
  return IS_WORD[text.charCodeAt(at - 1)] === 1 && !ESCAPE_END.test(text.slice(Math.max(0, at - 12), at));
}

function table(letters: string): Uint8Array {
  const marks = new Uint8Array(65_536);
  for (const letter of letters) marks[letter.charCodeAt(0)] = 1;
  return marks;
}
