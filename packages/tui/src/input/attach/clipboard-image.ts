import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { imageFromBytes, MAX_IMAGE_BYTES } from "@flint/host/files";
import type { ImageFile } from "./attached-files.ts";

/** A program that writes the image of the clipboard to its output. */
type ClipboardProgram = readonly [program: string, ...args: string[]];

/** The path of a program that may be started outside of the sandbox; undefined if it is not installed. */
type FindProgram = (name: string) => Promise<string | undefined>;

/** The programs to try, best first. */
export const CLIPBOARD_PROGRAMS: readonly ClipboardProgram[] = [
  ["wl-paste", "--no-newline", "--type", "image/png"],
  ["xclip", "-selection", "clipboard", "-target", "image/png", "-out"],
  ["pngpaste", "-"],
];

const TIMEOUT_MS = 3_000;

/**
 * Writes the image of the clipboard to a private file in a folder. A problem says what is missing. Never rejects, and
 * never waits longer than a few seconds.
 */
export async function clipboardImage(
  folder: string,
  find: FindProgram,
  programs: readonly ClipboardProgram[] = CLIPBOARD_PROGRAMS,
): Promise<ImageFile | { readonly problem: string }> {
  let isInstalled = false;
  for (const program of programs) {
    const output = await outputOf(program, find);
    isInstalled ||= output !== "missing";
    if (output === "missing" || output.length === 0) continue;
    const loaded = imageFromBytes(output);
    if ("problem" in loaded) return { problem: `The clipboard's image cannot be sent: ${loaded.problem}.` };
    return store(folder, output, loaded.mediaType);
  }
  const names = programs.map(([name]) => name).join(", ");
  return {
    problem: isInstalled
      ? "There is no image in the clipboard."
      : `To paste images, install one of: ${names}.`,
  };
}

async function store(
  folder: string,
  bytes: Buffer,
  mediaType: string,
): Promise<ImageFile | { problem: string }> {
  const name = `pasted-${randomUUID().slice(0, 8)}.${mediaType.slice("image/".length)}`;
  const path = join(folder, name);
  // Expected: a full disk, or a folder that cannot be written.
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(path, bytes, { mode: 0o600, flag: "wx" });
    return { name, path, bytes: bytes.length };
  } catch {
    return { problem: `The image could not be stored in ${folder}.` };
  }
}

/** The output of a program; empty if it failed, which is how they say that there is no image. */
async function outputOf([name, ...args]: ClipboardProgram, find: FindProgram): Promise<Buffer | "missing"> {
  const program = await find(name);
  if (program === undefined) return "missing";
  const options = { encoding: "buffer", maxBuffer: MAX_IMAGE_BYTES + 1, timeout: TIMEOUT_MS } as const;
  return new Promise((resolve) => {
    execFile(program, args, options, (error, output) => {
      if (error?.code === "ENOENT") resolve("missing");
      // One byte too many, so that its size is the problem that is reported.
      else if (String(error?.code) === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER")
        resolve(Buffer.alloc(MAX_IMAGE_BYTES + 1));
      else resolve(error === null ? output : Buffer.alloc(0));
    });
  });
}
