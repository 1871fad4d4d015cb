import { type DeltaType, isKnownItem, LIMITS, type ThreadItem } from "@flint/protocol";
import { cutMiddle, headOf } from "../text/bounded.ts";
import { StreamMap } from "../thread/stream-map.ts";

/** How much of a text was accepted. */
interface Accepted {
  bytes: number;
}

const nothingAccepted = (): Accepted => ({ bytes: 0 });

/** Bounds the streamed text of one turn: text beyond the limit of an item is counted, not stored. */
export class TurnCaps {
  readonly #accepted = new StreamMap<Accepted>();
  readonly #omitted = new Map<string, number>();

  /** The part of a piece that still fits. */
  admit(type: DeltaType, itemId: string, piece: string): string {
    const limit = type === "item/commandExecution/outputDelta" ? LIMITS.output : LIMITS.text;
    const accepted = this.#accepted.getOrCreate(type, itemId, nothingAccepted);
    const size = Buffer.byteLength(piece);
    if (accepted.bytes + size <= limit) {
      accepted.bytes += size;
      return piece;
    }
    const admitted = headOf(piece, limit - accepted.bytes);
    // Nothing is accepted after the first omitted byte, because a gap must not look like text.
    accepted.bytes = limit;
    const missing = size - Buffer.byteLength(admitted);
    this.#omitted.set(itemId, (this.#omitted.get(itemId) ?? 0) + missing);
    return admitted;
  }

  /** A completed item with its text within the limits, and the number of omitted bytes. */
  finish(item: ThreadItem): ThreadItem {
    if (!isKnownItem(item)) return item;
    switch (item.type) {
      case "agentMessage":
      case "plan":
        return bounded(item, "text");
      case "reasoning":
        return bounded(bounded(item, "content"), "summary");
      case "fileChange":
        return bounded(item, "output");
      case "commandExecution": {
        const { text, omitted } = cutMiddle(item.aggregatedOutput ?? "", LIMITS.output);
        const missing = Math.max(omitted + (item.omittedOutputBytes ?? 0), this.#omitted.get(item.id) ?? 0);
        if (missing === 0) return item;
        const output = item.aggregatedOutput === undefined ? {} : { aggregatedOutput: text };
        return { ...item, ...output, omittedOutputBytes: missing };
      }
      default:
        return item;
    }
  }
}

function bounded<Bounded extends ThreadItem>(item: Bounded, field: string): Bounded {
  const whole: unknown = Reflect.get(item, field);
  if (typeof whole !== "string") return item;
  const { text, omitted } = cutMiddle(whole, LIMITS.text);
  return omitted === 0 ? item : { ...item, [field]: text };
}
