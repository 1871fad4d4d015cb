import type { ClientTool } from "@flint/protocol";
import { expect, test } from "vitest";
import type { McpServerConfig } from "../ports/index.ts";
import { ClientProvided } from "./client-provided.ts";

const SERVER: McpServerConfig = { type: "http", name: "wiki", url: "http://127.0.0.1:9/mcp", headers: {} };
const TOOL: ClientTool = { name: "look", description: "Looks.", inputSchema: { type: "object" } };

test("what a client brings is a change only if it was not there before", () => {
  const brought = new ClientProvided();
  expect([brought.setMcpServers("t", []), brought.setTools("t", [])]).toEqual([false, false]);
  expect([brought.setMcpServers("t", [SERVER]), brought.setTools("t", [TOOL])]).toEqual([true, true]);
  expect([brought.setMcpServers("t", [SERVER]), brought.setTools("t", [TOOL])]).toEqual([false, false]);
  expect([brought.setMcpServers("t", []), brought.setTools("t", [])]).toEqual([true, true]);
});

test("a thread has what was brought for it, and nothing once it is gone", () => {
  const brought = new ClientProvided();
  for (const threadId of ["t", "other"]) {
    brought.setMcpServers(threadId, [SERVER]);
    brought.setTools(threadId, [TOOL]);
  }
  brought.delete("t");
  expect([brought.mcpServers("t"), brought.tools("t")]).toEqual([[], []]);
  expect([brought.mcpServers("other"), brought.tools("other")]).toEqual([[SERVER], [TOOL]]);
});
