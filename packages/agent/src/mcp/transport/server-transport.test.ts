import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { Inbox } from "./server-transport.ts";

test("each request that waits is given up once, and none that was answered or never made", async () => {
  const got: JSONRPCMessage[] = [];
  const inbox = new Inbox((message) => void got.push(message));
  for (const id of [1, 2, "three"]) inbox.expect({ jsonrpc: "2.0", id, method: "a" });
  inbox.expect({ jsonrpc: "2.0", method: "notifications/a" });
  inbox.take({ jsonrpc: "2.0", id: 1, result: {} });
  inbox.giveUp("too late", [1, 2, 9]);
  inbox.giveUp("the end");
  inbox.giveUp("the end");
  await inbox.delivered;
  expect(got).toEqual([
    { jsonrpc: "2.0", id: 1, result: {} },
    { jsonrpc: "2.0", id: 2, error: { code: -32000, message: "too late" } },
    { jsonrpc: "2.0", id: "three", error: { code: -32000, message: "the end" } },
  ]);
});

test("a message that cannot be handled does not hold up the next", async () => {
  const got: JSONRPCMessage[] = [];
  const inbox = new Inbox((message) => {
    if ("method" in message) throw new Error("unknown");
    got.push(message);
  });
  inbox.take({ jsonrpc: "2.0", method: "a" });
  inbox.take({ jsonrpc: "2.0", id: 1, result: {} });
  await inbox.delivered;
  expect(got).toHaveLength(1);
});
