import type { DeltaBody, DeltaType } from "@flint/protocol";
import { RedactedStream, type Redactor } from "../redact/index.ts";
import { toWellFormed } from "../text/well-formed.ts";
import { Places } from "./stream-positions.ts";

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

/** What is known of the text of one item between its pieces. */
interface Flow {
  readonly place: DeltaPlace;
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
  #fresh: Run[] = [];
  /** Told, not stored yet, by item. */
  readonly #told = new Places<Run>();
  readonly #flows = new Places<Flow>();
  readonly #redactor: Redactor;
  #freshSize = 0;
  #toldSize = 0;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

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
    const { type, itemId } = place;
    const flow =
      this.#flows.find(type, itemId) ??
      this.#flows.set(type, itemId, {
        ...{ place, stream: new RedactedStream(this.#redactor), half: "", end: undefined },
      });
    this.#add(flow, flow.stream.push(wellFormed(flow, piece)), known);
  }

  /** No more pieces come for this item, or for none: what waited for more is to be told as it is. */
  finish(known: (place: DeltaPlace) => number, itemId?: string): void {
    for (const flow of this.#flows.values()) {
      if (itemId !== undefined && flow.place.itemId !== itemId) continue;
      this.#add(flow, flow.stream.end(), () => known(flow.place));
    }
  }

  #add(flow: Flow, text: string, known: () => number): void {
    if (text === "") return;
    const { place } = flow;
    const offset = flow.end ?? known();
    flow.end = offset + text.length;
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
    this.#flows.clear();
  }

  #remember(run: Run): void {
    const { type, itemId } = run.place;
    const known = this.#told.find(type, itemId);
    if (known === undefined) this.#told.set(type, itemId, { ...run });
    else known.text += run.text;
    this.#toldSize += Buffer.byteLength(run.text);
  }
}

/** Half a character at the end waits for its other half; half a character alone becomes a replacement mark. */
function wellFormed(flow: Flow, piece: string): string {
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
