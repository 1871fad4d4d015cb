import assert from "node:assert/strict";
import { chmodSync, lstatSync } from "node:fs";
import { join } from "node:path";
import type { TortureCase } from "../case.ts";
import type { Context } from "../context.ts";
import { count } from "../figures.ts";
import { pathsBelow } from "../log-files.ts";
import type { TortureServer } from "../server.ts";

const ASK = "item/commandExecution/requestApproval";
const OTHERS = 0o077;

/** Looks at the modes of all that a server writes when the user's umask would let others read it. */
export const privateStore: TortureCase = {
  id: "P30",
  title: "everything in the store is private to its owner, and looser files are tightened",
  async run(context) {
    const home = join(await context.folder(), "home");
    const first = await start(context, home);
    const threadId = await first.startThread();
    await runAllowed(first, threadId, "echo first");
    assert.deepEqual(open(home), [], "open to others while the server runs");
    await first.stop();
    assert.deepEqual(open(home), [], "open to others afterwards");

    const paths = [home, ...pathsBelow(home)];
    for (const path of paths) chmodSync(path, lstatSync(path).isDirectory() ? 0o755 : 0o644);
    const second = await start(context, home);
    await second.call("thread/list", {});
    await second.call("thread/resume", { threadId });
    await runAllowed(second, threadId, "echo second");
    await second.stop();
    assert.deepEqual(open(home), [], "left open to others");
    return [count("paths", paths.length)];
  },
};

function start(context: Context, home: string): Promise<TortureServer> {
  return context.start({ kind: "flint", home, before: "umask 022", args: ["--approval", "always"] });
}

/** Runs a command that is allowed for all time, so that this is written down too. */
async function runAllowed(server: TortureServer, threadId: string, command: string): Promise<void> {
  const after = server.wire.mark;
  const turnId = await server.startTurn(threadId, `run \`${command}\``);
  const asked = await server.during(turnId, ASK, after);
  server.wire.answer(asked.id, { decision: "acceptAlways" });
  const turn = await server.turnCompleted(turnId);
  assert.equal(turn.status, "completed", turn.error?.message);
}

/** Returns the paths that others may read, write or enter, with their modes. */
function open(home: string): string[] {
  return [home, ...pathsBelow(home)].flatMap((path) => {
    // A file that replaces another is gone from its place at any moment.
    const mode = lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0;
    return (mode & OTHERS) === 0 ? [] : [`${path} ${(mode & 0o777).toString(8)}`];
  });
}
