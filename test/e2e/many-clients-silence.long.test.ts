import { LIMITS } from "@flint/protocol";
import { Gate, type Script, settled } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { fields } from "../../packages/frontends/src/testing/client-scripts.ts";
import { FRONTEND_NAMES } from "../../packages/server/src/frontends.ts";
import { startSharedServer } from "./clients/many-clients.ts";

describe("an approval while no client is connected", () => {
  const approvalTimeoutMs = 90_000;
  const message = "There was no answer within 90 s, so it was declined: rm -r build";

  test.each(FRONTEND_NAMES)(
    "%s: waits until its timeout, and is then declined with the reason [P14]",
    async (frontend) => {
      const script: Script = [{ command: "rm -r build" }, { text: "then not" }];
      const { made, server, user } = await startSharedServer({ scripts: [script], approvalTimeoutMs });
      const starter = await user(frontend);
      const threadId = await starter.startThread();
      await starter.prompt(threadId, "clean up");
      await starter.question();
      await starter.vanish();
      while (server.listening.size > 0) await settled();
      const [turn] = made.driver.turns;
      await made.clock.advance(approvalTimeoutMs - 1);
      expect(turn?.decisions).toEqual([]);
      await made.clock.advance(1);
      while (turn?.outcome === undefined) await settled();
      expect(turn.decisions).toEqual([{ outcome: "deny", scope: "once", message }]);
      const later = await user("flint");
      const answer = await later.ask(["thread/attach", { threadId }]);
      expect(answer).toMatchObject({
        approvals: [],
        turns: [
          {
            status: "completed",
            items: [
              { type: "userMessage" },
              { type: "commandExecution", command: "rm -r build", status: "declined" },
              { type: "agentMessage", text: "then not" },
            ],
          },
        ],
      });
    },
  );

  test.each(FRONTEND_NAMES)(
    "%s: can still be answered by a client that reconnects in time",
    async (frontend) => {
      const { made, user } = await startSharedServer({ scripts: [[{ command: "make" }]], approvalTimeoutMs });
      const starter = await user(frontend);
      const threadId = await starter.startThread();
      await starter.prompt(threadId, "go");
      await starter.question();
      await starter.vanish();
      await made.clock.advance(approvalTimeoutMs - 1);
      const back = await user(frontend);
      await back.attach(threadId);
      await back.answer(await back.question(), true);
      while (made.driver.turns[0]?.outcome === undefined) await settled();
      expect(made.driver.turns[0].decisions).toMatchObject([{ outcome: "allow", scope: "once" }]);
    },
  );
});

describe("a client that stops reading", () => {
  // What a client of Flint's own front end finds is compared whole beside the listeners.
  const OTHER_FRONTENDS = FRONTEND_NAMES.filter((frontend) => frontend !== "flint");

  test.each(OTHER_FRONTENDS)(
    "%s: is disconnected after a while, and finds everything when it reconnects [P10]",
    async (frontend) => {
      const gate = new Gate();
      const flood = { deltas: 60, size: 80_000 };
      const script: Script = [flood, flood, flood, { text: "the very end" }, { wait: gate }];
      const { server, clock, user } = await startSharedServer({ scripts: [script] });
      const steady = await user("flint");
      const threadId = await steady.startThread();
      const slow = await user(frontend);
      await slow.attach(threadId);
      slow.hang();
      await steady.prompt(threadId, "go");
      await gate.reached;
      expect(server.listening.size).toBe(2);
      await clock.advance(LIMITS.stalledMilliseconds);
      while (server.listening.size > 1) await settled();
      gate.open();
      await steady.wire.waitForMethod("turn/completed");
      const back = await user(frontend);
      await back.attach(threadId);
      await back.saw("the very end");
      const lost = flood.deltas * flood.size;
      // A pattern for the runs themselves would exceed the stack: they have millions of characters.
      const runs = back.wire.lines
        .flatMap((line) => line.split(/[^x]+/))
        .filter(({ length }) => length >= 1000);
      const received = runs.reduce((sum, { length }) => sum + length, 0);
      expect(received).toBeGreaterThanOrEqual(3 * lost);
    },
  );
});

describe("a position in a thread that cannot be continued from", () => {
  test("is reported as truncated, and the current state is sent before open requests", async () => {
    const script: Script = [{ text: "said before" }, { command: "make", startsFirst: true }];
    const { user } = await startSharedServer({ scripts: [script] });
    const starter = await user("flint");
    const threadId = await starter.startThread();
    await starter.prompt(threadId, "go");
    await starter.question();
    const { epoch, seq } = await starter.ask(["thread/attach", { threadId }]);
    const gone = [
      { afterSeq: 1, epoch: "of another log" },
      { afterSeq: Number(seq) + 1, epoch },
    ];
    for (const position of gone) {
      const late = await user("flint");
      const answer = await late.ask(["thread/attach", { threadId, ...position }]);
      expect(answer).toMatchObject({ truncated: true, seq, epoch });
      const [turn] = Array.isArray(answer.turns) ? answer.turns : [];
      expect(fields(turn).items).toMatchObject([
        { type: "userMessage" },
        { type: "agentMessage", text: "said before" },
        { type: "commandExecution", status: "inProgress" },
      ]);
      expect(fields((await late.question()).params).command).toBe("make");
    }
    const late = await user("flint");
    const { truncated } = await late.ask(["thread/attach", { threadId, afterSeq: 1, epoch }]);
    expect(truncated).toBe(false);
    await late.saw("said before");
  });
});
