import type { DeltaBody, DeltaType } from "@flint/protocol";
import { RedactedStream, type Redactor } from "../redact/index.ts";
import { toWellFormed } from "../text/characters.ts";
import { StreamMap } from "./stream-map.ts";

/** The item and field that a delta extends. */
export interface DeltaTarget {
  readonly type: DeltaType;
  readonly threadId: string;
  readonly turnId: string;
  readonly itemId: string;
}

interface Run {
  readonly target: DeltaTarget;
  readonly offset: number;
  text: string;
}

/** The state of one streamed text between two pieces. */
interface TextStream {
  readonly target: DeltaTarget;
  readonly stream: RedactedStream;
  /** A high surrogate that waits for its low surrogate. */
  half: string;
  /** The offset of the next piece, once there was one. */
  end: number | undefined;
}

/**
 * Streamed text on its way from the driver to the log. Pieces of one item that arrive together are sent as one, and
 * what was sent is stored as one. It tracks the offset of each piece in its item, never splits a character, and lets
 * no secret through, even if it comes in two pieces.
 */
export class DeltaBuffer {
  /** Not sent yet, in order of arrival. */
  #pending: Run[] = [];
  /** Sent but not stored yet, by item. */
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

  /** The number of characters that wait to be sent. */
  get pendingSize(): number {
    return this.#pendingSize;
  }

  get hasUnstored(): boolean {
    return this.#unstored.size > 0;
  }

  /** The number of bytes that were sent and are not stored yet. */
  get unstoredBytes(): number {
    return this.#unstoredBytes;
  }

  /** Adds a piece. `known` returns the length of the item's text before its first piece. */
  push(target: DeltaTarget, piece: string, known: () => number): void {
    const { type, itemId } = target;
    const stream =
      this.#streams.get(type, itemId) ??
      this.#streams.set(type, itemId, {
        ...{ target, stream: new RedactedStream(this.#redactor), half: "", end: undefined },
      });
    this.#add(stream, stream.stream.push(wellFormed(stream, piece)), known);
  }

  /** Ends the text of this item, or of all: what was held back becomes pending. */
  finish(known: (target: DeltaTarget) => number, itemId?: string): void {
    for (const stream of this.#streams.values()) {
      if (itemId !== undefined && stream.target.itemId !== itemId) continue;
      this.#add(stream, stream.stream.end(), () => known(stream.target));
    }
  }

  #add(stream: TextStream, text: string, known: () => number): void {
    if (text === "") return;
    const { target } = stream;
    const offset = stream.end ?? known();
    stream.end = offset + text.length;
    this.#pendingSize += text.length;
    const last = this.#pending.at(-1);
    if (last !== undefined && last.target.itemId === target.itemId && last.target.type === target.type)
      last.text += text;
    else this.#pending.push({ target, offset, text });
  }

  /** Returns the pieces to send now; they count as sent afterwards. */
  takePending(): readonly DeltaBody[] {
    const fresh = this.#pending;
    this.#pending = [];
    this.#pendingSize = 0;
    for (const run of fresh) this.#remember(run);
    return fresh.map(bodyOf);
  }

  /** The pieces to store now; they stay until `markStored` is called. */
  unstored(): readonly DeltaBody[] {
    return this.#unstored.size === 0 ? [] : [...this.#unstored.values()].map(bodyOf);
  }

  markStored(): void {
    this.#unstored.clear();
    this.#unstoredBytes = 0;
  }

  /** Forgets the streams of an ended turn. */
  reset(): void {
    this.#streams.clear();
  }

  #remember(run: Run): void {
    const { type, itemId } = run.target;
    const known = this.#unstored.get(type, itemId);
    if (known === undefined) this.#unstored.set(type, itemId, { ...run });
    else known.text += run.text;
    this.#unstoredBytes += Buffer.byteLength(run.text);
  }
}

/** Holds back a high surrogate at the end; a lone surrogate becomes a replacement character. */
function wellFormed(stream: TextStream, piece: string): string {
  let text = stream.half === "" ? piece : stream.half + piece;
  stream.half = "";
  if (isHighSurrogate(text.charCodeAt(text.length - 1))) {
    stream.half = text.slice(-1);
    text = text.slice(0, -1);
  }
  return toWellFormed(text);
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function bodyOf({ target, offset, text }: Run): DeltaBody {
  const { type, threadId, turnId, itemId } = target;
  return { type, data: { threadId, turnId, itemId, delta: text, offset } };
}
