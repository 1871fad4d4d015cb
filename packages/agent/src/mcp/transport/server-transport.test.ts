import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { MessageInbox } from "./server-transport.ts";

test("each request that waits is given up once, and none that was answered or never made", async () => {
  const got: JSONRPCMessage[] = [];
  const inbox = new MessageInbox((message) => void got.push(message));
  for (const id of [1, 2, "three"]) inbox.trackRequest({ jsonrpc: "2.0", id, method: "a" });
  inbox.trackRequest({ jsonrpc: "2.0", method: "notifications/a" });
  inbox.deliver({ jsonrpc: "2.0", id: 1, result: {} });
  inbox.failPending("too late", [1, 2, 9]);
  inbox.failPending("the end");
  inbox.failPending("the end");
  await inbox.delivered;
  expect(got).toEqual([
    { jsonrpc: "2.0", id: 1, result: {} },
    { jsonrpc: "2.0", id: 2, error: { code: -32000, message: "too late" } },
    { jsonrpc: "2.0", id: "three", error: { code: -32000, message: "the end" } },
  ]);
});

test("a message that cannot be handled does not hold up the next", async () => {
  const got: JSONRPCMessage[] = [];
  const inbox = new MessageInbox((message) => {
    if ("method" in message) throw new Error("unknown");
    got.push(message);
  });
  inbox.deliver({ jsonrpc: "2.0", method: "a" });
  inbox.deliver({ jsonrpc: "2.0", id: 1, result: {} });
  await inbox.delivered;
  expect(got).toHaveLength(1);
});
