import { type DeltaType, isKnownItem, LIMITS, type ThreadItem } from "@flint/protocol";

/** Bounds what one turn streams, whatever its agent does: text beyond the limit of an item is counted, not kept. */
export class TurnCaps {
  readonly #taken = new Map<string, number>();
  readonly #omitted = new Map<string, number>();

  /** The part of a piece that still fits. */
  admit(type: DeltaType, itemId: string, piece: string): string {
    const key = `${itemId} ${type}`;
    const limit = type === "item/commandExecution/outputDelta" ? LIMITS.output : LIMITS.text;
    const taken = this.#taken.get(key) ?? 0;
    const admitted = piece.length <= limit - taken ? piece : piece.slice(0, Math.max(0, limit - taken));
    this.#taken.set(key, taken + admitted.length);
    if (admitted.length < piece.length) {
      this.#omitted.set(itemId, (this.#omitted.get(itemId) ?? 0) + piece.length - admitted.length);
    }
    return admitted;
  }

  /** A finished item with its text within the limits, and the cut stated. */
  finish(item: ThreadItem): ThreadItem {
    if (!isKnownItem(item)) return item;
    if (item.type === "agentMessage") return { ...item, text: cut(item.text, LIMITS.text).text };
    if (item.type !== "commandExecution") return item;
    const { text, omitted } = cut(item.aggregatedOutput ?? "", LIMITS.output);
    const missing = Math.max(omitted + (item.omittedOutputBytes ?? 0), this.#omitted.get(item.id) ?? 0);
    if (missing === 0) return item;
    return { ...item, aggregatedOutput: text, omittedOutputBytes: missing };
  }
}

/** The beginning and the end of a text that is too long, with a line between them that says what is missing. */
export function cut(text: string, limit: number): { readonly text: string; readonly omitted: number } {
  if (text.length <= limit) return { text, omitted: 0 };
  const head = text.slice(0, Math.floor(limit * 0.75));
  const tail = text.slice(text.length - Math.floor(limit * 0.2));
  const omitted = text.length - head.length - tail.length;
  return { text: `${head}\n… ${omitted} characters left out …\n${tail}`, omitted };
}
