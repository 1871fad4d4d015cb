import assert from "node:assert/strict";
import { statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { scriptText } from "../../server/script-text.ts";
import type { TortureCase } from "../case.ts";
import type { Context } from "../context.ts";
import { count } from "../figures.ts";
import { expectNothingMerged, logPath, readLog } from "../log-files.ts";

/** Tears the last record of a log, at several places. */
export const torn: TortureCase = {
  id: "P18",
  title: "a torn last line is skipped with a warning and the next record starts on its own line",
  async run(context) {
    const cuts = context.choose([1, 2, 40, 200], [1, 40]);
    for (const cut of cuts) await tearOnce(context, cut);
    return [count("cuts", cuts.length)];
  },
};

/** Cuts so many bytes from the end of a log; the first one is only its line end. */
async function tearOnce(context: Context, cut: number): Promise<void> {
  const home = join(await context.folder(), "home");
  const server = await context.start({ kind: "scripted", home });
  const threadId = await server.startThread();
  const kept = await server.runTurn(threadId, scriptText({ text: "kept" }));
  await server.runTurn(threadId, scriptText({ text: "torn" }));
  assert.equal((await server.stop()).code, 0);
  const path = logPath(home, threadId);
  truncateSync(path, statSync(path).size - cut);
  const isTorn = cut > 1;
  assert.equal(readLog(home, threadId).torn.length, isTorn ? 1 : 0);

  const next = await context.start({ kind: "scripted", home });
  await next.call("thread/resume", { threadId });
  const turn = await next.runTurn(threadId, scriptText({ text: "after" }));
  assert.equal(turn.status, "completed");
  const { turns } = await next.call("thread/read", { threadId, includeTurns: true });
  assert.equal(turns?.length, 3);
  assert.deepEqual(turns[0]?.items, kept.items, "what was whole is still there");
  assert.equal(next.received("warning").length, isTorn ? 1 : 0, `warnings after a cut of ${cut} bytes`);
  await next.stop();
  const log = readLog(home, threadId);
  assert.equal(log.torn.length, isTorn ? 1 : 0, "the torn record stays, and only that");
  expectNothingMerged(log.torn);
}
