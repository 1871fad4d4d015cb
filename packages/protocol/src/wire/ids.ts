import * as z from "zod/mini";

/** The form of every id, on every wire and in every file name: never a path. */
export const ID_PATTERN = /^[A-Za-z0-9_-]{1,64}$/;

/** The id of a thread, turn, item, approval, question or queued input. */
export const Id = z.string().check(z.regex(ID_PATTERN, "must be 1 to 64 letters, digits, '_' or '-'"));

/** Reports whether a string from a file name or a peer may be used as an id. */
export function isId(text: string): boolean {
  return ID_PATTERN.test(text);
}

const counter = { lastMilliseconds: 0, sequence: 0 };

const RANDOM_BYTES = 8;
/** Random bytes that no id has yet: asking for many at once costs little more than for a few. */
const random = { bytes: new Uint8Array(64 * RANDOM_BYTES), used: 64 * RANDOM_BYTES };

/**
 * A new UUID of version 7: unique, and sorting by creation time also within one millisecond.
 * All ids of Flint are made here.
 */
export function mintId(now: number = Date.now()): string {
  const milliseconds = Math.max(now, counter.lastMilliseconds);
  counter.sequence = milliseconds === counter.lastMilliseconds ? counter.sequence + 1 : 0;
  if (counter.sequence > 0xfff) {
    counter.lastMilliseconds = milliseconds + 1;
    counter.sequence = 0;
  } else {
    counter.lastMilliseconds = milliseconds;
  }
  const time = counter.lastMilliseconds.toString(16).padStart(12, "0");
  const sequence = counter.sequence.toString(16).padStart(3, "0");
  const tail = randomTail();
  return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence}-${tail.slice(0, 4)}-${tail.slice(4)}`;
}

function randomTail(): string {
  if (random.used === random.bytes.length) {
    crypto.getRandomValues(random.bytes);
    random.used = 0;
  }
  const bytes = random.bytes.subarray(random.used, random.used + RANDOM_BYTES);
  random.used += RANDOM_BYTES;
  let tail = "";
  for (const [at, byte] of bytes.entries())
    tail += (at === 0 ? (byte & 0x3f) | 0x80 : byte).toString(16).padStart(2, "0");
  return tail;
}
