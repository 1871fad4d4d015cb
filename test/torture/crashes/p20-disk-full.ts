import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { scriptText } from "../../server/script-text.ts";
import { SkippedCase, type TortureCase } from "../case.ts";
import type { Context } from "../context.ts";
import { milliseconds, none } from "../figures.ts";
import { expectNothingMerged, pathsBelow, readLog } from "../log-files.ts";

const SMALL = "size=256k,mode=0700";
const LARGE = "remount,size=16m";
const TOO_MUCH = 1_000;
const STORAGE_FAILED = -32008;

/** Lets the disk run full in the middle of a turn, and makes room again. */
export const diskFull: TortureCase = {
  id: "P20",
  title: "a full disk is reported, kills nothing and merges no records",
  async run(context) {
    const home = await mountSmall(context);
    const server = await context.start({ kind: "scripted", home });
    const threadId = await server.startThread();
    const before = await server.runTurn(threadId, scriptText({ text: "before" }));
    assert.equal(before.status, "completed");

    const turnId = await server.startTurn(
      threadId,
      scriptText({ deltas: TOO_MUCH, size: TOO_MUCH }, { hang: true }),
    );
    await server.during(turnId, "item/agentMessage/delta");
    const startedAt = performance.now();
    const failed = await server.turnCompleted(turnId);
    const reportedMs = performance.now() - startedAt;
    assert.equal(failed.status, "failed");
    assert.equal(failed.error?.errorInfo, "StorageFailed", failed.error?.message);
    await server.call("model/list", {});
    const refused = server.startTurn(threadId, "x".repeat(TOO_MUCH * TOO_MUCH));
    await assert.rejects(refused, { code: STORAGE_FAILED }, "a turn that cannot be stored is not begun");
    expectMetaIntact(home);

    execFileSync("mount", ["-o", LARGE, home]);
    const after = await server.runTurn(threadId, scriptText({ text: "after" }));
    assert.equal(after.status, "completed", "a turn completes when there is room again");
    await server.expectAlive(context.patience);
    await server.stop();
    const log = readLog(home, threadId);
    expectNothingMerged(log.torn);
    expectMetaIntact(home);

    const next = await context.start({ kind: "scripted", home });
    await next.call("thread/resume", { threadId });
    const { turns } = await next.call("thread/read", { threadId, includeTurns: true });
    assert.deepEqual(
      turns?.map(({ status }) => status),
      ["completed", "failed", "completed"],
    );
    assert.deepEqual(turns?.at(-1)?.items, after.items, "the turn after it is whole");
    return [milliseconds("reported in", reportedMs, 1_000), none("torn records", log.torn.length)];
  },
};

async function mountSmall(context: Context): Promise<string> {
  if (process.getuid?.() !== 0) throw new SkippedCase("mount", "only root may mount a small disk");
  const home = join(await context.folder(), "home");
  mkdirSync(home);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", SMALL, "tmpfs", home], { stdio: "pipe" });
  } catch (error) {
    // Root of a container is often not allowed to.
    throw new SkippedCase("mount", `a small disk cannot be mounted: ${String(error).trim()}`);
  }
  context.atEnd(async () => void execFileSync("umount", [home]));
  return home;
}

function expectMetaIntact(home: string): void {
  for (const path of pathsBelow(home).filter((name) => name.endsWith("meta.json"))) {
    const meta: unknown = JSON.parse(readFileSync(path, "utf8"));
    assert(typeof meta === "object" && meta !== null, `${path} is whole`);
  }
}
