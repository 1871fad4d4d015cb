import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { MessageInbox } from "./server-transport.ts";

test("fails each pending request once, and no other", async () => {
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

test("delivers the next message after one that cannot be handled", async () => {
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
