import { FlintError } from "@flint/protocol";
import type { ConfinedProcess } from "./confined-git.ts";
import type { GitCommand } from "./git-command.ts";

/** The start of a pack: a word, a version, and how many objects it has. */
const HEADER_BYTES = 12;

/** Git itself stores fewer objects as single files, and more as a pack. */
const UNPACK_LIMIT = 100;

/** The objects to receive. */
export interface ObjectRequest {
  /** The objects, with everything that they need. */
  readonly requested: readonly string[];
  /** Objects of the user, which are not sent. */
  readonly known: readonly string[];
  readonly maxBytes: number;
}

/**
 * Stores objects of an agent in the user's repository, from a process that has sent its report. They come as from a
 * remote that is not trusted: git checks each of them, and that none is missing that another one needs.
 */
export async function receiveObjects(
  git: GitCommand,
  sender: ConfinedProcess,
  { requested, known, maxBytes }: ObjectRequest,
): Promise<void> {
  sender.send(["", ...requested, "--not", ...known, ""].join("\n"));
  const header = await sender.peek(HEADER_BYTES);
  if (header.length < HEADER_BYTES || header.toString("latin1", 0, 4) !== "PACK") {
    const reason = sender.errors.trim().split("\n")[0] ?? "";
    const message = `The agent's copy of .git did not send its commits (${reason.slice(0, 300)}); they stay there.`;
    throw new FlintError("internalError", message);
  }
  const count = header.readUInt32BE(8);
  if (count === 0) return;
  const checks = ["--strict", `--max-input-size=${maxBytes}`];
  const store =
    count < UNPACK_LIMIT
      ? ["unpack-objects", "-q", ...checks]
      : ["index-pack", "--stdin", "--fix-thin", ...checks];
  await git.run(store, sender.output);
}

/** Rejects if something is missing that these objects need. */
export async function assertObjectsComplete(git: GitCommand, ids: readonly string[]): Promise<void> {
  const options = ["--objects", "--stdin", "--exclude-promisor-objects", "--not", "--all", "--quiet"];
  await git.run(["rev-list", ...options], ids.map((id) => `${id}\n`).join(""));
}
