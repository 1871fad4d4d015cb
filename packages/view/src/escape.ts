// Most text is plain. What looks up kinds of characters is made only for the rest, because that takes long.
const PLAIN = /^[\x20-\x7e\n\t]*$/;

/** What belongs to an emoji it follows, although it cannot be seen by itself. */
const emojiJoiner = () =>
  /(?<=\p{Emoji})\ufe0f|(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)\u200d(?=\p{Extended_Pictographic})/gu;

/** Controls, halves of characters, separators of lines, and everything that is drawn as nothing or turns the writing. */
const unseen = () => /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** Spaces that look like the plain one and are not. */
const otherSpace = () => /[^\P{Zs} ]/gu;

/**
 * Text from an agent, made safe for a terminal: control characters, escape sequences and characters that turn the
 * writing direction or cannot be seen are shown by their number instead of being obeyed.
 */
export function visible(text: string): string {
  if (PLAIN.test(text)) return text;
  return seen(text.replace(/\r(?=\n)/g, ""), (character) => character === "\n" || character === "\t");
}

/**
 * Text that somebody must judge by its exact bytes, such as a command: as `visible`, and a tab, the return at the end
 * of a line, or a space that is not the plain one is shown by its number too.
 */
export function exact(text: string): string {
  return seen(text, (character) => character === "\n").replace(otherSpace(), byNumber);
}

function seen(text: string, isKept: (character: string) => boolean): string {
  const joiners = new Set([...text.matchAll(emojiJoiner())].map((match) => match.index));
  return text.replace(unseen(), (character, place: number) =>
    isKept(character) || joiners.has(place) ? character : byNumber(character),
  );
}

function byNumber(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
