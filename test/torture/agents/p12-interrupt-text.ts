import assert from "node:assert/strict";
import { scriptText } from "../../server/script-text.ts";
import type { TortureCase } from "../case.ts";
import { count, milliseconds, quantile } from "../figures.ts";

const LONG = 5_000;

/** Interrupts turns that stream text. */
export const interruptText: TortureCase = {
  id: "P12",
  title: "an interrupt while streaming ends the turn within the time limit",
  async run(context) {
    const server = await context.start({ kind: "scripted" });
    const threadId = await server.startThread();
    const runs = context.choose(20, 5);
    const times: number[] = [];
    for (let run = 0; run < runs; run += 1) {
      const after = server.wire.mark;
      const turnId = await server.startTurn(threadId, scriptText({ words: LONG, everyMs: 2 }));
      await server.during(turnId, "item/agentMessage/delta", after);
      const startedAt = performance.now();
      await server.call("turn/interrupt", { threadId });
      const turn = await server.turnCompleted(turnId);
      times.push(performance.now() - startedAt);
      assert.equal(turn.status, "interrupted");
      assert(
        turn.items.some((item) => "partial" in item && item.partial === true),
        "the text is marked partial",
      );
    }
    await server.expectAlive(context.patience);
    return [
      count("runs", runs),
      milliseconds("p50", quantile(times, 0.5), 50),
      milliseconds("p95", quantile(times, 0.95), 250),
    ];
  },
};
