import { isUtf8 } from "node:buffer";
import type { FileRestore } from "@flint/protocol";
import { loadUnifiedDiff } from "../../files/unified-diff.ts";
import { readFile, TimeSlice } from "../disk/disk.ts";
import type { CaptureContext } from "../scan/capture.ts";
import { hashOf, type State } from "../scan/entry.ts";
import type { Step } from "./plan.ts";

/** Larger files are named without a diff, and so is everything after this much text. */
const MAX_FILE = 256 * 1024;
const MAX_TEXT = 1024 * 1024;

/** Time limit of the search for the shortest diff of a file. */
const SEARCH_MS = 50;

/** Adds to planned files what would change in them, as far as that is text of a reasonable size. Changes nothing. */
export async function withDiffs(
  context: CaptureContext,
  steps: readonly Step[],
  files: readonly FileRestore[],
): Promise<FileRestore[]> {
  const unifiedDiff = await loadUnifiedDiff(SEARCH_MS);
  const slice = new TimeSlice();
  const shown: FileRestore[] = [];
  let left = MAX_TEXT;
  for (const [index, file] of files.entries()) {
    if (slice.isOver) await slice.pause();
    const step = steps[index];
    const texts = step === undefined || left <= 0 ? undefined : textsOf(context, step);
    const diff = texts === undefined ? "" : unifiedDiff({ path: file.path, ...texts });
    left -= diff.length;
    shown.push(diff === "" || left < 0 ? file : { ...file, diff });
  }
  return shown;
}

/** Returns the current and the restored text of a file. Undefined if either is not text. */
function textsOf(
  { disk, blobs }: CaptureContext,
  { path, current, target }: Step,
): { readonly before: string | undefined; readonly after: string | undefined } | undefined {
  if (!isSmallFile(current) || !isSmallFile(target)) return undefined;
  const before =
    current === undefined ? undefined : readHashed(() => readFile(disk, path, MAX_FILE), current.hash);
  const after =
    target === undefined ? undefined : readHashed(() => blobs.get(target.hash, MAX_FILE), target.hash);
  const isMissing =
    (current !== undefined && before === undefined) || (target !== undefined && after === undefined);
  return isMissing ? undefined : { before, after };
}

type FileState = Extract<State, { kind: "file" }> | undefined;

function isSmallFile(state: State): state is FileState {
  return state === undefined || (state.kind === "file" && state.size <= MAX_FILE);
}

/** Content that is text and still what was planned with. */
function readHashed(read: () => Buffer | undefined, hash: string): string | undefined {
  // Expected: a file that was removed or replaced since.
  try {
    const bytes = read();
    const isText = bytes !== undefined && isUtf8(bytes) && !bytes.includes(0) && hashOf(bytes) === hash;
    return isText ? bytes.toString("utf8") : undefined;
  } catch {
    return undefined;
  }
}
