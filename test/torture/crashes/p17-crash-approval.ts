import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TortureCase } from "../case.ts";
import { none } from "../figures.ts";

const ASK = "item/commandExecution/requestApproval";

/** Kills a server while it waits for an answer. */
export const crashApproval: TortureCase = {
  id: "P17",
  title: "an approval open at a crash is not open afterwards, and its command did not run",
  async run(context) {
    const home = join(await context.folder(), "home");
    const cwd = await context.folder();
    const args = ["--approval", "always"];
    const server = await context.start({ kind: "flint", home, cwd, args });
    const threadId = await server.startThread();
    const turnId = await server.startTurn(threadId, "run `touch ran`");
    const asked = await server.during(turnId, ASK);
    await server.crash();

    const next = await context.start({ kind: "flint", home, cwd, args });
    await next.call("thread/resume", { threadId });
    const { approvals, turns } = await next.call("thread/attach", { threadId });
    assert.deepEqual(approvals, []);
    assert.equal(turns.at(-1)?.status, "interrupted");
    const { approvalId } = asked.params as { approvalId: string };
    const decision = { outcome: "allow" } as const;
    const { grant } = await next.call("approval/respond", { threadId, approvalId, decision });
    assert.equal(grant?.scope, "once", "a late answer is for the next time the agent asks, and runs nothing");
    assert.equal((await next.runTurn(threadId, "hello")).status, "completed");
    assert.equal(existsSync(join(cwd, "ran")), false, "the command did not run");
    return [none("asked again", next.received(ASK).length)];
  },
};
