import { fileURLToPath } from "node:url";

/** Terminals paste the paths of dropped files; a longer text is none. */
const MAX_LENGTH = 8_192;
const MAX_PATHS = 50;

/**
 * The absolute paths that a paste consists of, as terminals write dropped files: quoted, with escaped spaces, or as
 * `file://` URLs, separated by spaces or line breaks. Empty if there is anything else in it.
 */
export function droppedPaths(pasted: string, home: string | undefined): readonly string[] {
  const text = pasted.trim();
  if (text === "" || text.length > MAX_LENGTH) return [];
  const whole = pathOf(text, home);
  // File managers also paste a path with spaces as it is.
  if (whole !== undefined && !/[\\"'\n]/.test(text) && !text.includes(" /")) return [whole];
  const words = wordsOf(text);
  const paths = words?.map((word) => pathOf(word, home)) ?? [];
  return paths.length > MAX_PATHS || paths.includes(undefined) ? [] : paths.flatMap((path) => path ?? []);
}

function pathOf(word: string, home: string | undefined): string | undefined {
  if (word.startsWith("/")) return word;
  if (word.startsWith("~/")) return home === undefined ? undefined : home + word.slice(1);
  if (/^[A-Za-z]:\\/.test(word)) return word;
  if (!word.startsWith("file://")) return undefined;
  // Expected: a URL that names no local file.
  try {
    return fileURLToPath(word);
  } catch {
    return undefined;
  }
}

/** Splits a text as a shell would, without expanding anything; undefined if a quote is not closed. */
function wordsOf(text: string): readonly string[] | undefined {
  const words: string[] = [];
  let word = "";
  let quote = "";
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? "";
    if (quote !== "" && character === quote) quote = "";
    else if (quote === "" && (character === "'" || character === '"')) quote = character;
    else if (character === "\\" && quote !== "'") {
      at += 1;
      word += text[at] ?? "";
    } else if (quote === "" && /\s/.test(character)) {
      if (word !== "") words.push(word);
      word = "";
    } else word += character;
  }
  if (quote !== "") return undefined;
  return word === "" ? words : [...words, word];
}
