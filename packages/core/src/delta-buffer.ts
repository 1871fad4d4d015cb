import type { DeltaBody, DeltaType } from "@flint/protocol";
import { toWellFormed } from "./well-formed.ts";

/** Where a piece of text belongs. */
export interface DeltaPlace {
  readonly type: DeltaType;
  readonly threadId: string;
  readonly turnId: string;
  readonly itemId: string;
}

interface Run {
  readonly place: DeltaPlace;
  readonly offset: number;
  text: string;
}

const HIGH_SURROGATE_END = /[\uD800-\uDBFF]$/;

/**
 * Streamed text between the driver and the log. Pieces of one item that come together are told as one, and what
 * was told is stored as one. Also knows where in its item each piece starts, and never cuts a character in two.
 */
export class DeltaBuffer {
  /** Not told yet, in the order it came. */
  #fresh: Run[] = [];
  /** Told, not stored yet, by item. */
  readonly #told = new Map<string, Run>();
  readonly #lengths = new Map<string, number>();
  readonly #halves = new Map<string, string>();
  #freshSize = 0;
  #toldSize = 0;

  get hasFresh(): boolean {
    return this.#fresh.length > 0;
  }

  /** Characters that wait to be told. */
  get freshSize(): number {
    return this.#freshSize;
  }

  get hasTold(): boolean {
    return this.#told.size > 0;
  }

  /** Bytes that were told and are not stored yet. */
  get toldSize(): number {
    return this.#toldSize;
  }

  /** Takes a piece. `known` is the length of the item's text before its first piece. */
  push(place: DeltaPlace, piece: string, known: () => number): void {
    const key = `${place.itemId} ${place.type}`;
    const text = this.#wellFormed(key, piece);
    if (text === "") return;
    const offset = this.#lengths.get(key) ?? known();
    this.#lengths.set(key, offset + text.length);
    this.#freshSize += text.length;
    const last = this.#fresh.at(-1);
    if (last !== undefined && last.place.itemId === place.itemId && last.place.type === place.type)
      last.text += text;
    else this.#fresh.push({ place, offset, text });
  }

  /** The pieces to tell now; they count as told afterwards. */
  takeFresh(): readonly DeltaBody[] {
    const fresh = this.#fresh;
    this.#fresh = [];
    this.#freshSize = 0;
    for (const run of fresh) this.#remember(run);
    return fresh.map(bodyOf);
  }

  /** The pieces to store now; they stay until `forgetTold` says that they are stored. */
  told(): readonly DeltaBody[] {
    return this.#told.size === 0 ? [] : [...this.#told.values()].map(bodyOf);
  }

  forgetTold(): void {
    this.#told.clear();
    this.#toldSize = 0;
  }

  /** Forgets where the items of an ended turn stood. */
  reset(): void {
    this.#lengths.clear();
    this.#halves.clear();
  }

  #remember(run: Run): void {
    const key = `${run.place.itemId} ${run.place.type}`;
    const known = this.#told.get(key);
    if (known === undefined) this.#told.set(key, { ...run });
    else known.text += run.text;
    this.#toldSize += Buffer.byteLength(run.text);
  }

  /** Half a character at the end waits for its other half; half a character alone becomes a replacement mark. */
  #wellFormed(key: string, piece: string): string {
    const half = this.#halves.get(key);
    let text = half === undefined ? piece : half + piece;
    if (half !== undefined) this.#halves.delete(key);
    if (HIGH_SURROGATE_END.test(text)) {
      this.#halves.set(key, text.slice(-1));
      text = text.slice(0, -1);
    }
    return toWellFormed(text);
  }
}

function bodyOf({ place, offset, text }: Run): DeltaBody {
  const { type, threadId, turnId, itemId } = place;
  return { type, data: { threadId, turnId, itemId, delta: text, offset } };
}
