import { escapeControls } from "@flint/view";
import { type Line, type LineBlock, lineOf, span } from "../draw/line.ts";
import type { Key } from "./keyboard.ts";

/** An answer and the key for it. */
export interface Choice<Value> {
  readonly key: string;
  readonly label: string;
  readonly value: Value;
  /** Shown when the user presses `?`. */
  readonly help: string;
}

/** The effect of a key on a question: it stays open, shows help, or is answered. */
export type Step<Value> =
  | { readonly type: "open" }
  | { readonly type: "help" }
  | { readonly type: "answered"; readonly value: Value };

/** Handles a key at a question with a key for each answer. Enter and unknown keys never mean yes. */
export function stepChoice<Value>(
  choices: readonly Choice<Value>[],
  otherwise: Value,
  key: Key,
): Step<Value> {
  if (key.type === "enter" || key.type === "escape" || key.type === "end")
    return { type: "answered", value: otherwise };
  if (key.type !== "text") return { type: "open" };
  if (key.text === "?") return { type: "help" };
  const chosen = choices.find((choice) => choice.key === key.text);
  return chosen === undefined ? { type: "open" } : { type: "answered", value: chosen.value };
}

/** The choices on one line: `[y] once  [n] no`. A wrapped line keeps each key with its label. */
export function choiceLine(question: string, choices: readonly Choice<unknown>[]): Line {
  const keys = [...choices, { key: "?", label: "help" }].flatMap(({ key, label }) => [
    span("  "),
    span(`[${key}]`, "cyan"),
    span(`\u00a0${label.replaceAll(" ", "\u00a0")}`),
  ]);
  return [span(question, "bold"), ...keys];
}

/** Explains each choice. */
export function helpBlock(choices: readonly Choice<unknown>[]): LineBlock {
  const lines = choices.map(({ key, help }): Line => [span(`  ${key}  `, "cyan"), span(help)]);
  const enter: Line = [span("  Enter means no. Ctrl-C interrupts the turn.", "dim")];
  return { head: [...lines, enter], indent: 5 };
}

/** A line that is being typed. */
export interface TextEntry {
  readonly text: string;
  readonly secret: boolean;
}

/** Handles a key while a line is typed. Escape and the end of input cancel it. */
export function stepTextEntry(
  typing: TextEntry,
  key: Key,
): TextEntry | { readonly done: string | undefined } {
  switch (key.type) {
    case "text":
      return { ...typing, text: typing.text + key.text };
    case "backspace":
      return { ...typing, text: Array.from(typing.text).slice(0, -1).join("") };
    case "clear":
      return { ...typing, text: "" };
    case "enter":
      return { done: typing.text };
    case "escape":
    case "end":
      return { done: undefined };
    case "interrupt":
    case "suspend":
      return typing;
  }
}

/** The line as it is shown while typing; of a secret not even the length. */
export function typingLine({ text, secret }: TextEntry): Line {
  const shown = secret ? (text === "" ? "" : "(hidden)") : escapeControls(text);
  return [span("> ", "cyan"), ...lineOf(shown), span(" ", "inverse")];
}
