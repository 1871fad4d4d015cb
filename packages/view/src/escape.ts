/** Most text: ASCII, and letters and signs that are neither invisible nor part of anything. The rest takes far longer. */
const PLAIN =
  /^[\x20-\x7e\n\t\u00a1-\u00ac\u00ae-\u02ff\u0370-\u052f\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u2190-\u23ff\u2500-\u27bf\u3001-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff01-\uff9d]*$/;

/** Joiners and variation selectors that belong to an emoji. */
const emojiJoiner = () =>
  /(?<=\p{Emoji})\ufe0f|(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)\u200d(?=\p{Extended_Pictographic})/gu;

/** Control characters, lone surrogates, line separators, and characters that are invisible or change the direction. */
const unsafe = () => /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** Spaces that look like the ASCII one. */
const otherSpace = () => /[^\P{Zs} ]/gu;

/**
 * Makes text from an agent safe for a terminal: control characters, escape sequences, and characters that are invisible or
 * change the writing direction are shown as `\u{…}`. Line breaks and tabs stay.
 */
export function escapeControls(text: string): string {
  if (PLAIN.test(text)) return text;
  return replaceUnsafe(
    text.replace(/\r(?=\n)/g, ""),
    (character) => character === "\n" || character === "\t",
  );
}

/** As `escapeControls`, on one line. */
export function oneLine(text: string): string {
  return escapeControls(text).replaceAll("\n", " ");
}

/**
 * As `escapeControls`, for text that a user must judge by its exact characters, such as a command: tabs, carriage returns
 * and unusual spaces are escaped too.
 */
export function escapeExact(text: string): string {
  return replaceUnsafe(text, (character) => character === "\n").replace(otherSpace(), escaped);
}

function replaceUnsafe(text: string, isKept: (character: string) => boolean): string {
  const joiners = new Set([...text.matchAll(emojiJoiner())].map((match) => match.index));
  return text.replace(unsafe(), (character, place: number) =>
    isKept(character) || joiners.has(place) ? character : escaped(character),
  );
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
