import { Gate, ScriptedDriver, settled, testEngine, verifies } from "@flint/testkit";
import { FlintError } from "@flint/protocol";
import { describe, expect, test } from "vitest";

describe("a turn from its beginning to its end", () => {
  verifies(
    ["S0-11", "S0-29", "S0-34", "S0-39", "S2-31"],
    "the answer to turn/start comes before everything that the turn causes",
    async () => {
      const { connect } = setUp();
      const client = connect();
      const threadId = await client.startThread();
      const turnId = await client.startTurn(threadId, "hello");
      await client.turnEnd(turnId);
      expect(client.order).toEqual([
        "<- thread/start",
        "thread/started",
        "<- turn/start",
        "turn/started",
        "item/started",
        "item/completed",
        "thread/status/changed",
        "item/started",
        "item/agentMessage/delta",
        "item/completed",
        "turn/completed",
        "thread/status/changed",
      ]);
    },
  );
});

function setUp() {
  const made = testEngine();
  return { ...made, connect: () => made.connect() };
}
