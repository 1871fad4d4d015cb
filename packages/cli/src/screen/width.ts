/** One character as a person sees it, and how many columns it takes. */
export interface Cell {
  readonly text: string;
  readonly width: number;
}

const ASCII = /^[\x20-\x7e]*$/;
const EMOJI = /\p{Emoji_Presentation}|\p{Emoji}\ufe0f|\p{Regional_Indicator}{2}/u;
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cc}\p{Cf}]/u;
const WIDE =
  /^[\u1100-\u115f\u231a\u231b\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f200}-\u{1f251}\u{20000}-\u{3fffd}]/u;

let segmenter: Intl.Segmenter | undefined;

/** The text as characters that stay together, each with its width on a terminal. */
export function cellsOf(text: string): Cell[] {
  if (ASCII.test(text)) return Array.from(text, (character) => ({ text: character, width: 1 }));
  // Made late: most of what is shown is ASCII.
  segmenter ??= new Intl.Segmenter();
  return Array.from(segmenter.segment(text), ({ segment }) => ({ text: segment, width: cellWidth(segment) }));
}

/** How many columns a text takes on a terminal. */
export function textWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  return cellsOf(text).reduce((sum, cell) => sum + cell.width, 0);
}

function cellWidth(segment: string): number {
  if (EMOJI.test(segment) || WIDE.test(segment)) return 2;
  return NO_WIDTH.test(segment) ? 0 : 1;
}
