// An MCP server with one tool, for the tests of agents that start it themselves.
import { createInterface } from "node:readline";

const TOOL = {
  name: "light",
  description: "Lights a lamp.",
  inputSchema: { type: "object", properties: { room: { type: "string" } } },
};

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "lamps", version: "1" },
  }),
  "tools/list": () => ({ tools: [TOOL] }),
  "tools/call": ({ arguments: { room } }) => ({ content: [{ type: "text", text: `Light in the ${room}.` }] }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = ANSWERS[method]?.(params) ?? {};
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
});
