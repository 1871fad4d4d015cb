import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { EventData } from "@flint/protocol";
import type { TortureCase } from "../case.ts";
import { milliseconds } from "../figures.ts";
import type { TortureServer } from "../server.ts";

const ASK = "item/commandExecution/requestApproval";

/** Leaves approvals unanswered, and interrupts a turn that waits for one. */
export const unanswered: TortureCase = {
  id: "P14",
  title: "an unanswered approval times out as declined, and nothing runs",
  async run(context) {
    const timeoutMs = context.choose(2_000, 500);
    const cwd = await context.folder();
    const args = ["--approval", "always", "--approval-timeout", String(timeoutMs / 1_000)];
    const server = await context.start({ kind: "flint", cwd, args });
    const threadId = await server.startThread();
    const first = await ask(server, threadId);
    const askedAt = performance.now();
    const { turnId, resolution } = await resolved(server, first.after);
    const lateMs = performance.now() - askedAt - timeoutMs;
    assert.equal(turnId, first.turnId);
    assert.equal(resolution.by, "timeout");
    assert.equal(resolution.decision.outcome, "deny");
    assert((resolution.decision.message ?? "").length > 0, "the reason is sent");
    const turn = await server.turnCompleted(first.turnId);
    const command = turn.items.find(({ type }) => type === "commandExecution");
    assert(command !== undefined && "status" in command && command.status === "declined");

    const second = await ask(server, threadId);
    const startedAt = performance.now();
    await server.call("turn/interrupt", { threadId });
    assert.equal((await server.turnCompleted(second.turnId)).status, "interrupted");
    const interruptMs = performance.now() - startedAt;
    assert.equal(existsSync(join(cwd, "ran")), false, "nothing ran");
    await server.expectAlive(context.patience);
    return [
      milliseconds("after its time by", lateMs, 1_000),
      milliseconds("interrupt in", interruptMs, 1_000),
    ];
  },
};

/** Begins a turn that wants to run something, and waits until it is asked for. */
async function ask(server: TortureServer, threadId: string): Promise<{ turnId: string; after: number }> {
  const after = server.wire.mark;
  const turnId = await server.startTurn(threadId, "run `touch ran`");
  await server.during(turnId, ASK, after);
  return { turnId, after };
}

async function resolved(server: TortureServer, after: number): Promise<EventData<"approval/resolved">> {
  const { params } = await server.wire.waitForMethod("approval/resolved", { after });
  // Every line is checked against the vocabulary at the end of the case.
  return params as EventData<"approval/resolved">;
}
