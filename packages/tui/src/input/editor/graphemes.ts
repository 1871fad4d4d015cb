const ASCII = /^[\x20-\x7e]*$/;

let segmenter: Intl.Segmenter | undefined;
let words: Intl.Segmenter | undefined;

/** Returns the start of each grapheme of a line, and the end of the last one. */
export function boundaries(line: string): readonly number[] {
  if (ASCII.test(line)) return Array.from({ length: line.length + 1 }, (_, index) => index);
  segmenter ??= new Intl.Segmenter();
  return [...Array.from(segmenter.segment(line), ({ index }) => index), line.length];
}

/** Returns the start of the grapheme before a position. */
export function graphemeBefore(line: string, position: number): number {
  return segmentAt(line, position - 1)?.index ?? 0;
}

/** Returns the end of the grapheme after a position. */
export function graphemeAfter(line: string, position: number): number {
  const segment = segmentAt(line, position);
  return segment === undefined ? line.length : segment.index + segment.segment.length;
}

function segmentAt(line: string, position: number): Intl.SegmentData | undefined {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(line).containing(position);
}

/** Returns the start of the word before a position. Languages without spaces have words too. */
export function wordBefore(line: string, position: number): number {
  return wordsIn(line).findLast(({ start }) => start < position)?.start ?? 0;
}

/** Returns the end of the word after a position. */
export function wordAfter(line: string, position: number): number {
  return wordsIn(line).find(({ end }) => end > position)?.end ?? line.length;
}

interface Word {
  readonly start: number;
  readonly end: number;
}

function wordsIn(line: string): readonly Word[] {
  if (ASCII.test(line))
    return Array.from(line.matchAll(/[A-Za-z0-9_]+/g), ({ 0: word, index }) => ({
      start: index,
      end: index + word.length,
    }));
  words ??= new Intl.Segmenter(undefined, { granularity: "word" });
  return Array.from(words.segment(line)).flatMap(({ segment, index, isWordLike }) =>
    isWordLike === true || isAtom(segment) ? [{ start: index, end: index + segment.length }] : [],
  );
}

/**
 * Returns the start of the run of characters between spaces that ends at a position, as Ctrl+W of shells has
 * it.
 */
export function spacedWordBefore(line: string, position: number): number {
  const before = line.slice(0, position).trimEnd();
  return before.search(/\S*$/);
}

/** The first of the characters that stand for attachments: lone surrogates, which no text from outside contains. */
const FIRST_ATOM = 0xdc00;

/** The number of attachments that a text can have. */
export const MAX_ATOMS = 0x400;

/** The character that stands for the attachment with this number. */
export function atomOf(index: number): string {
  return String.fromCharCode(FIRST_ATOM + index);
}

/** The number of the attachment that a character stands for. */
export function atomIndex(character: string): number {
  return character.charCodeAt(0) - FIRST_ATOM;
}

/** Reports whether a grapheme stands for an attachment. */
export function isAtom(grapheme: string): boolean {
  return grapheme.length === 1 && grapheme >= "\udc00" && grapheme <= "\udfff";
}

/** Finds the characters that stand for attachments. */
export const ATOMS = /\p{Cs}/gu;
