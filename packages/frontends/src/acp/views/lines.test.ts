import type { ThreadEvent } from "@flint/protocol";
import { expect, test } from "vitest";
import { Lines } from "./lines.ts";

const event = (delta: string): ThreadEvent => ({
  type: "item/agentMessage/delta",
  data: { threadId: "t", turnId: "u", itemId: "i", delta, offset: 0 },
  at: 1,
});

test("an event is encoded once for all clients that are told the same of it", () => {
  const lines = new Lines();
  let made = 0;
  const updates = () => {
    made += 1;
    return [{ sessionUpdate: "agent_message_chunk" }];
  };
  const first = event("a");
  const line = lines.of(first, "delta", "t", updates);
  expect(line).toEqual([
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"t","update":{"sessionUpdate":"agent_message_chunk"}}}',
  ]);
  expect(lines.of(first, "delta", "t", updates)).toBe(line);
  expect(made).toBe(1);
  lines.of(first, "other", "t", updates);
  lines.of(event("b"), "delta", "t", updates);
  expect(made).toBe(3);
});
