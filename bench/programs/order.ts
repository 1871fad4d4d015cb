/**
 * The work that an agent is asked to do in a turn of a measurement. The prompt of the turn is this, as JSON.
 */
export interface Order {
  /** Number of pieces of text, in all items together. */
  readonly deltas: number;
  /** The number of messages that they belong to. */
  readonly items: number;
  /** Pieces per second, each in a write of its own. 0: as fast as they are taken. */
  readonly perSecond: number;
}

/** The piece of text that is streamed where its content does not matter. */
export const PIECE = "a few more words, then ";

/** A moment on the clock that all processes of a machine share, in microseconds. */
export function monotonicMicroseconds(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/** A piece of text stamped with its time of writing; all have the same length. */
export function stampedPiece(): string {
  return `sent at ${String(monotonicMicroseconds()).padStart(14, "0")};`;
}

/** The time stamps of pieces of text, even if several were joined. */
export function stampsIn(text: string): number[] {
  return [...text.matchAll(/sent at (\d{14});/g)].map(([, stamp]) => Number(stamp));
}

/** The pieces of each item: as even as possible, none without any. */
export function piecesPerItem({ deltas, items }: Order): number[] {
  return Array.from(
    { length: items },
    (_, item) => Math.floor(((item + 1) * deltas) / items) - Math.floor((item * deltas) / items),
  );
}
