import type { DeltaBody, DeltaType } from "@flint/protocol";
import { RedactedStream, type Redactor } from "../redact/index.ts";
import { toWellFormed } from "../text/characters.ts";
import { StreamMap } from "./stream-map.ts";

/** Where a piece of text belongs. */
export interface DeltaTarget {
  readonly type: DeltaType;
  readonly threadId: string;
  readonly turnId: string;
  readonly itemId: string;
}

interface Run {
  readonly place: DeltaTarget;
  readonly offset: number;
  text: string;
}

/** What is known of the text of one item between its pieces. */
interface TextStream {
  readonly place: DeltaTarget;
  readonly stream: RedactedStream;
  /** Half a character that waits for its other half. */
  half: string;
  /** Where the next piece starts, once there was one. */
  end: number | undefined;
}

/**
 * Streamed text between the driver and the log. Pieces of one item that come together are told as one, and what
 * was told is stored as one. Also knows where in its item each piece starts, never cuts a character in two, and
 * lets no secret through, also if it comes in two pieces.
 */
export class DeltaBuffer {
  /** Not told yet, in the order it came. */
  #pending: Run[] = [];
  /** Told, not stored yet, by item. */
  readonly #unstored = new StreamMap<Run>();
  readonly #streams = new StreamMap<TextStream>();
  readonly #redactor: Redactor;
  #pendingSize = 0;
  #unstoredBytes = 0;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  get hasPending(): boolean {
    return this.#pending.length > 0;
  }

  /** Characters that wait to be told. */
  get pendingSize(): number {
    return this.#pendingSize;
  }

  get hasUnstored(): boolean {
    return this.#unstored.size > 0;
  }

  /** Bytes that were told and are not stored yet. */
  get unstoredBytes(): number {
    return this.#unstoredBytes;
  }

  /** Takes a piece. `known` is the length of the item's text before its first piece. */
  push(place: DeltaTarget, piece: string, known: () => number): void {
    const { type, itemId } = place;
    const flow =
      this.#streams.get(type, itemId) ??
      this.#streams.set(type, itemId, {
        ...{ place, stream: new RedactedStream(this.#redactor), half: "", end: undefined },
      });
    this.#add(flow, flow.stream.push(wellFormed(flow, piece)), known);
  }

  /** No more pieces come for this item, or for none: what waited for more is to be told as it is. */
  finish(known: (place: DeltaTarget) => number, itemId?: string): void {
    for (const flow of this.#streams.values()) {
      if (itemId !== undefined && flow.place.itemId !== itemId) continue;
      this.#add(flow, flow.stream.end(), () => known(flow.place));
    }
  }

  #add(flow: TextStream, text: string, known: () => number): void {
    if (text === "") return;
    const { place } = flow;
    const offset = flow.end ?? known();
    flow.end = offset + text.length;
    this.#pendingSize += text.length;
    const last = this.#pending.at(-1);
    if (last !== undefined && last.place.itemId === place.itemId && last.place.type === place.type)
      last.text += text;
    else this.#pending.push({ place, offset, text });
  }

  /** The pieces to tell now; they count as told afterwards. */
  takePending(): readonly DeltaBody[] {
    const fresh = this.#pending;
    this.#pending = [];
    this.#pendingSize = 0;
    for (const run of fresh) this.#remember(run);
    return fresh.map(bodyOf);
  }

  /** The pieces to store now; they stay until `forgetTold` says that they are stored. */
  unstored(): readonly DeltaBody[] {
    return this.#unstored.size === 0 ? [] : [...this.#unstored.values()].map(bodyOf);
  }

  markStored(): void {
    this.#unstored.clear();
    this.#unstoredBytes = 0;
  }

  /** Forgets where the items of an ended turn stood. */
  reset(): void {
    this.#streams.clear();
  }

  #remember(run: Run): void {
    const { type, itemId } = run.place;
    const known = this.#unstored.get(type, itemId);
    if (known === undefined) this.#unstored.set(type, itemId, { ...run });
    else known.text += run.text;
    this.#unstoredBytes += Buffer.byteLength(run.text);
  }
}

/** Half a character at the end waits for its other half; half a character alone becomes a replacement mark. */
function wellFormed(flow: TextStream, piece: string): string {
  let text = flow.half === "" ? piece : flow.half + piece;
  flow.half = "";
  if (isHighSurrogate(text.charCodeAt(text.length - 1))) {
    flow.half = text.slice(-1);
    text = text.slice(0, -1);
  }
  return toWellFormed(text);
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function bodyOf({ place, offset, text }: Run): DeltaBody {
  const { type, threadId, turnId, itemId } = place;
  return { type, data: { threadId, turnId, itemId, delta: text, offset } };
}
