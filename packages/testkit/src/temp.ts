import { rmSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atTestEnd } from "./test-end.ts";

/** A folder of a test's own, gone with everything in it when the test ends. */
export interface TemporaryFolder {
  /** Absolute, with every link resolved. */
  readonly path: string;
  /** A path inside of it. */
  join(...parts: readonly string[]): string;
  /** Removes it before the end of the test. May be called twice. */
  remove(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Makes an empty folder. Outside of a test, call `remove` yourself. */
export async function temporaryFolder(): Promise<TemporaryFolder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "flint-test-")));
  const remove = (): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 5 });
  atTestEnd(remove, () => rmSync(path, { recursive: true, force: true }));
  return { path, join: (...parts) => join(path, ...parts), remove, [Symbol.asyncDispose]: remove };
}
