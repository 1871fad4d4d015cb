import { graphemeAfter, graphemeBefore, spacedWordBefore, wordAfter, wordBefore } from "./graphemes.ts";
import { endOf, type Lines, lineAt, type TextPosition } from "./text.ts";

/** A move of the cursor that does not depend on how the text is drawn. */
export type Motion = keyof typeof MOTIONS;

/** Every motion: where it leads from a place. */
export const MOTIONS = {
  left: stepLeft,
  right: stepRight,
  wordLeft: (lines: Lines, position: TextPosition) =>
    acrossLines(lines, position, stepLeft, (line, at) => wordBefore(line, at)),
  wordRight: (lines: Lines, position: TextPosition) =>
    acrossLines(lines, position, stepRight, (line, at) => wordAfter(line, at)),
  spacedWordLeft: (lines: Lines, position: TextPosition) =>
    acrossLines(lines, position, stepLeft, (line, at) => spacedWordBefore(line, at)),
  lineStart: (_lines: Lines, { line }: TextPosition): TextPosition => ({ line, at: 0 }),
  lineEnd: (lines: Lines, { line }: TextPosition): TextPosition => ({ line, at: lineAt(lines, line).length }),
  textStart: (): TextPosition => ({ line: 0, at: 0 }),
  textEnd: (lines: Lines): TextPosition => endOf(lines),
} as const satisfies Record<string, (lines: Lines, position: TextPosition) => TextPosition>;

function stepLeft(lines: Lines, { line, at }: TextPosition): TextPosition {
  if (at > 0) return { line, at: graphemeBefore(lineAt(lines, line), at) };
  return line === 0 ? { line, at } : { line: line - 1, at: lineAt(lines, line - 1).length };
}

function stepRight(lines: Lines, { line, at }: TextPosition): TextPosition {
  const text = lineAt(lines, line);
  if (at < text.length) return { line, at: graphemeAfter(text, at) };
  return line === lines.length - 1 ? { line, at } : { line: line + 1, at: 0 };
}

/** Moves within the line; where that leads nowhere, to the neighbouring line. */
function acrossLines(
  lines: Lines,
  position: TextPosition,
  step: (lines: Lines, position: TextPosition) => TextPosition,
  within: (line: string, at: number) => number,
): TextPosition {
  const at = within(lineAt(lines, position.line), position.at);
  return at === position.at ? step(lines, position) : { line: position.line, at };
}
