import type { ModelPart } from "@flint/agent/model";

/** What the offline model does: a part as it is, or text that is still to be cut into parts. */
export type Move =
  | Extract<ModelPart, { type: "tool-call" }>
  | { readonly type: "text" | "reasoning"; readonly text: string }
  /** Counts aloud; as one text it would be too long. */
  | { readonly type: "count"; readonly to: number };

/** The parts of a move, as they would come from a real model: text in words. */
export function* partsOf(move: Move): Iterable<ModelPart> {
  switch (move.type) {
    case "text":
      for (const text of words(move.text)) yield { type: "text-delta", text };
      return;
    case "reasoning":
      for (const text of words(move.text)) yield { type: "reasoning-delta", text };
      return;
    case "count":
      for (const text of numbers(move.to)) yield { type: "text-delta", text };
      return;
    case "tool-call":
      yield move;
  }
}

/** A text in words, each with the space behind it. */
export function words(text: string): string[] {
  return text.match(/\s*\S+\s*/g) ?? (text === "" ? [] : [text]);
}

function* numbers(to: number): Iterable<string> {
  for (let number = 1; number <= to; number += 1) yield number === to ? `${number}.` : `${number} `;
}
