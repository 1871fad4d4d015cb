import { graphemeAfter, graphemeBefore, spacedWordBefore, wordAfter, wordBefore } from "./graphemes.ts";
import { endOf, type Lines, lineAt, type Place } from "./text.ts";

/** Where the cursor can be moved without knowing how the text is drawn. */
export type Motion = keyof typeof MOTIONS;

/** Every motion: where it leads from a place. */
export const MOTIONS = {
  left: stepLeft,
  right: stepRight,
  wordLeft: (lines: Lines, place: Place) =>
    acrossLines(lines, place, stepLeft, (line, at) => wordBefore(line, at)),
  wordRight: (lines: Lines, place: Place) =>
    acrossLines(lines, place, stepRight, (line, at) => wordAfter(line, at)),
  spacedWordLeft: (lines: Lines, place: Place) =>
    acrossLines(lines, place, stepLeft, (line, at) => spacedWordBefore(line, at)),
  lineStart: (_lines: Lines, { line }: Place): Place => ({ line, at: 0 }),
  lineEnd: (lines: Lines, { line }: Place): Place => ({ line, at: lineAt(lines, line).length }),
  textStart: (): Place => ({ line: 0, at: 0 }),
  textEnd: (lines: Lines): Place => endOf(lines),
} as const satisfies Record<string, (lines: Lines, place: Place) => Place>;

function stepLeft(lines: Lines, { line, at }: Place): Place {
  if (at > 0) return { line, at: graphemeBefore(lineAt(lines, line), at) };
  return line === 0 ? { line, at } : { line: line - 1, at: lineAt(lines, line - 1).length };
}

function stepRight(lines: Lines, { line, at }: Place): Place {
  const text = lineAt(lines, line);
  if (at < text.length) return { line, at: graphemeAfter(text, at) };
  return line === lines.length - 1 ? { line, at } : { line: line + 1, at: 0 };
}

/** Moves within the line; where that leads nowhere, to the neighbouring line. */
function acrossLines(
  lines: Lines,
  place: Place,
  step: (lines: Lines, place: Place) => Place,
  within: (line: string, at: number) => number,
): Place {
  const at = within(lineAt(lines, place.line), place.at);
  return at === place.at ? step(lines, place) : { line: place.line, at };
}
