import assert from "node:assert/strict";
import { join } from "node:path";
import { scriptText } from "../../server/script-text.ts";
import type { TortureCase } from "../case.ts";
import { milliseconds } from "../figures.ts";
import { readLog } from "../log-files.ts";
import type { TortureServer } from "../server.ts";

const THREAD_LOCKED = -32007;

/** Lets two servers want the same thread. */
export const twoServers: TortureCase = {
  id: "P21",
  title: "a second server on a thread is refused; after a kill the thread can be taken over",
  async run(context) {
    const home = join(await context.folder(), "home");
    const first = await context.start({ kind: "scripted", home });
    const second = await context.start({ kind: "scripted", home });
    const threadId = await first.startThread();
    await first.runTurn(threadId, scriptText({ text: "first" }));
    const refusedMs = await expectLocked(second, threadId);
    const { turns } = await second.call("thread/read", { threadId, includeTurns: true });
    assert.equal(turns?.length, 1, "reading needs no lock");
    first.wire.kill("SIGSTOP");
    const stoppedMs = await expectLocked(second, threadId);
    await first.crash();

    const startedAt = performance.now();
    await second.call("thread/resume", { threadId });
    const takenMs = performance.now() - startedAt;
    assert.equal((await second.runTurn(threadId, scriptText({ text: "second" }))).status, "completed");
    await second.stop();
    assert.deepEqual(readLog(home, threadId).torn, [], "no broken record");
    return [
      milliseconds("refused in", refusedMs, 1_000),
      milliseconds("by a stopped owner in", stoppedMs, 1_000),
      milliseconds("taken over in", takenMs, 5_000),
    ];
  },
};

async function expectLocked(server: TortureServer, threadId: string): Promise<number> {
  const startedAt = performance.now();
  await assert.rejects(
    server.call("thread/resume", { threadId }),
    (error: { code?: number; message: string }) => {
      assert.equal(error.code, THREAD_LOCKED);
      assert.match(error.message, /in use by/, "the error says who has the thread");
      return true;
    },
  );
  return performance.now() - startedAt;
}
