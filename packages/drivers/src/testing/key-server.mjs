// An MCP server with one tool, which tells whether the server has its key and what it can write.
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const TOOL = { name: "look", description: "Looks.", inputSchema: { type: "object", properties: {} } };

function look() {
  const written = ["inside", process.env.FIXTURE_OUTSIDE].filter((path) => {
    try {
      writeFileSync(path, "");
      return true;
    } catch {
      return false;
    }
  });
  const key = process.env.FIXTURE_KEY === undefined ? "no key" : "the key";
  return `report: ${key}, ${written.includes("inside") ? "writes" : "reads"} the workspace, ${written.length > 1 ? "writes" : "reads"} the rest;`;
}

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "keys", version: "1" },
  }),
  "tools/list": () => ({ tools: [TOOL] }),
  "tools/call": () => ({ content: [{ type: "text", text: look() }] }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = ANSWERS[method]?.(params) ?? {};
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
});
