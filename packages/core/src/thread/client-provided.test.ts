import type { ClientTool } from "@flint/protocol";
import { expect, test } from "vitest";
import type { McpServerConfig } from "../ports/index.ts";
import { Brought } from "./client-provided.ts";

const SERVER: McpServerConfig = { type: "http", name: "wiki", url: "http://127.0.0.1:9/mcp", headers: {} };
const TOOL: ClientTool = { name: "look", description: "Looks.", inputSchema: { type: "object" } };

test("what a client brings is a change only if it was not there before", () => {
  const brought = new Brought();
  expect([brought.bringServers("t", []), brought.bringTools("t", [])]).toEqual([false, false]);
  expect([brought.bringServers("t", [SERVER]), brought.bringTools("t", [TOOL])]).toEqual([true, true]);
  expect([brought.bringServers("t", [SERVER]), brought.bringTools("t", [TOOL])]).toEqual([false, false]);
  expect([brought.bringServers("t", []), brought.bringTools("t", [])]).toEqual([true, true]);
});

test("a thread has what was brought for it, and nothing once it is gone", () => {
  const brought = new Brought();
  for (const threadId of ["t", "other"]) {
    brought.bringServers(threadId, [SERVER]);
    brought.bringTools(threadId, [TOOL]);
  }
  brought.forget("t");
  expect([brought.servers("t"), brought.tools("t")]).toEqual([[], []]);
  expect([brought.servers("other"), brought.tools("other")]).toEqual([[SERVER], [TOOL]]);
});
