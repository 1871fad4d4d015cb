import { open } from "node:fs/promises";
import { resolve } from "node:path";
import type { UserInput } from "@flint/protocol";
import { UsageError } from "../arguments.ts";

/** Larger pictures are refused by the models themselves, after they have been sent. */
const SIZE_LIMIT = 20 * 1024 * 1024;

/** What the first bytes of a picture are; `at` is where they stand. */
const KINDS: readonly { readonly name: string; readonly at: number; readonly bytes: Buffer }[] = [
  { name: "png", at: 0, bytes: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) },
  { name: "jpeg", at: 0, bytes: Buffer.from([0xff, 0xd8, 0xff]) },
  { name: "gif", at: 0, bytes: Buffer.from("GIF8", "latin1") },
  { name: "webp", at: 8, bytes: Buffer.from("WEBP", "latin1") },
];

/** The kind of a picture by its first bytes, whatever its name is; undefined if it is none that models see. */
export function imageKind(head: Uint8Array): string | undefined {
  return KINDS.find(({ at, bytes }) => bytes.equals(head.subarray(at, at + bytes.length)))?.name;
}

/** A file as a picture to send along. Refuses what is not there, is no picture, or is too large. */
export async function imageInput(path: string): Promise<UserInput> {
  const whole = resolve(path);
  const { head, size } = await beginningOf(path, whole);
  if (imageKind(head) === undefined) {
    throw new UsageError(`--image ${path} is not a picture; png, jpeg, gif and webp can be sent.`);
  }
  if (size > SIZE_LIMIT) {
    const limit = `${SIZE_LIMIT / 1024 / 1024} MiB`;
    throw new UsageError(`--image ${path} has ${size} bytes; at most ${limit} can be sent. Make it smaller.`);
  }
  return { type: "localImage", path: whole };
}

async function beginningOf(path: string, whole: string): Promise<{ head: Uint8Array; size: number }> {
  try {
    const file = await open(whole);
    try {
      const head = Buffer.alloc(16);
      const { bytesRead } = await file.read(head, 0, head.length, 0);
      return { head: head.subarray(0, bytesRead), size: (await file.stat()).size };
    } finally {
      await file.close();
    }
  } catch (cause) {
    // Not there, not readable, or a folder: the reason of the system says which.
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`--image ${path} cannot be read: ${reason}`);
  }
}
