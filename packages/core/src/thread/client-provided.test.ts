import type { ClientTool } from "@flint/protocol";
import { expect, test } from "vitest";
import type { McpServerConfig } from "../ports/index.ts";
import { ClientProvided } from "./client-provided.ts";

const SERVER: McpServerConfig = { type: "http", name: "wiki", url: "http://127.0.0.1:9/mcp", headers: {} };
const TOOL: ClientTool = { name: "look", description: "Looks.", inputSchema: { type: "object" } };

test("reports a change only if something is different", () => {
  const provided = new ClientProvided();
  expect([provided.setMcpServers("t", []), provided.setTools("t", [])]).toEqual([false, false]);
  expect([provided.setMcpServers("t", [SERVER]), provided.setTools("t", [TOOL])]).toEqual([true, true]);
  expect([provided.setMcpServers("t", [SERVER]), provided.setTools("t", [TOOL])]).toEqual([false, false]);
  expect([provided.setMcpServers("t", []), provided.setTools("t", [])]).toEqual([true, true]);
});

test("keeps what was provided for a thread until it is deleted", () => {
  const provided = new ClientProvided();
  for (const threadId of ["t", "other"]) {
    provided.setMcpServers(threadId, [SERVER]);
    provided.setTools(threadId, [TOOL]);
  }
  provided.delete("t");
  expect([provided.mcpServers("t"), provided.tools("t")]).toEqual([[], []]);
  expect([provided.mcpServers("other"), provided.tools("other")]).toEqual([[SERVER], [TOOL]]);
});
