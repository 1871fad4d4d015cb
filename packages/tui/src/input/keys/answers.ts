import type { Rgb, TerminalAnswer } from "./input-event.ts";
import type { ControlSequence } from "./key-sequences.ts";

/** The answer in a control sequence; undefined if it is none. */
export function answerOfSequence({
  prefix,
  parameters,
  intermediate,
  final,
}: ControlSequence): TerminalAnswer | undefined {
  const [first, second] = parameters.map(([number]) => number);
  if (prefix === "" && intermediate === "" && final === "R") return plainPosition(first, second);
  if (prefix !== "?") return undefined;
  if (intermediate === "$" && final === "y" && first !== undefined)
    return { about: "mode", mode: first, state: second ?? 0 };
  if (intermediate !== "") return undefined;
  switch (final) {
    case "c":
      return { about: "attributes", values: parameters.flatMap(([number]) => number ?? []) };
    case "u":
      return { about: "keyboard", flags: first ?? 0 };
    case "R":
      return { about: "cursor", row: first ?? 1, column: second ?? 1 };
    case "n":
      return first === COLOR_SCHEME ? { about: "scheme", dark: second === 1 } : undefined;
    default:
      return undefined;
  }
}

const COLOR_SCHEME = 997;

/**
 * F3 with modifiers is sent like a position in the first row, and taken for F3. The answer to `CSI ? 6 n` is never
 * mistaken.
 */
function plainPosition(row: number | undefined, column: number | undefined): TerminalAnswer | undefined {
  if (row === undefined || column === undefined || isModifiedF3(row, column)) return undefined;
  return { about: "cursor", row, column };
}

/** Reports whether the parameters of a sequence that ends in `R` are those of F3. */
function isModifiedF3(first: number | undefined, second: number | undefined): boolean {
  return (first ?? 1) === 1 && (second ?? 1) <= 16;
}

const COLOR = /^1([01]);rgba?:([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})(?:\/[0-9a-f]{1,4})?$/i;
const SHORT_COLOR = /^1([01]);#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i;

/** The answer in an operating system command (`ESC ]`), which is a colour; undefined if it is none. */
export function answerOfCommand(body: string): TerminalAnswer | undefined {
  const [, which, ...parts] = COLOR.exec(body) ?? SHORT_COLOR.exec(body) ?? [];
  const [red = 0, green = 0, blue = 0] = parts.map(colorPart);
  if (which === undefined) return undefined;
  const color: Rgb = { red, green, blue };
  return { about: which === "1" ? "background" : "foreground", color };
}

/** The answer in a device control string (`ESC P`), which is the terminal's name; undefined if it is none. */
export function answerOfDeviceString(body: string): TerminalAnswer | undefined {
  const [, name] = /^>\|([\x20-\x7e]{1,80})$/.exec(body) ?? [];
  return name === undefined ? undefined : { about: "name", name };
}

/** Terminals send 1 to 4 hexadecimal digits. */
function colorPart(digits: string): number {
  return Math.round((Number.parseInt(digits, 16) / (16 ** digits.length - 1)) * 255);
}
