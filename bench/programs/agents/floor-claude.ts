// The least that a server between Claude Code and a client can do: split, parse, map, stringify, one write per chunk.
// No log, no checks, no limits, no approvals. Argument: the program that plays Claude.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";

const TURN = "0195f7a2-6d1e-7000-8000-000000000002";

type Frame = {
  type: string;
  event?: { type: string; delta?: { text?: string } };
  message?: { content: { text?: string }[] };
};
type Request = { id: number; method: string; params: { threadId: string; input: { text: string }[] } };

let threadId = "";
let itemId = "";
const engine = spawn(process.execPath, [process.argv[2] ?? ""], { stdio: ["pipe", "pipe", "inherit"] });
let rest = "";
engine.stdout.setEncoding("utf8");
engine.stdout.on("data", (chunk: string) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  let written = "";
  for (const line of lines) {
    // The fake Claude writes nothing else.
    const message = toMessage(JSON.parse(line) as Frame);
    if (message !== undefined) written += `${JSON.stringify(message)}\n`;
  }
  if (written !== "") process.stdout.write(written);
});

function toMessage({ type, event, message }: Frame): object | undefined {
  const place = { threadId, turnId: TURN };
  if (event?.type === "content_block_delta") {
    return { method: "item/agentMessage/delta", params: { ...place, itemId, delta: event.delta?.text } };
  }
  if (event?.type === "message_start") {
    itemId = randomUUID();
    const item = { type: "agentMessage", id: itemId, text: "" };
    return { method: "item/started", params: { ...place, item } };
  }
  if (type === "assistant") {
    const item = { type: "agentMessage", id: itemId, text: message?.content[0]?.text };
    return { method: "item/completed", params: { ...place, item } };
  }
  if (type !== "result") return undefined;
  return {
    method: "turn/completed",
    params: { ...place, turn: { id: TURN, status: "completed", items: [] } },
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  // Only measurements write to this program.
  const { id, method, params } = JSON.parse(line) as Request;
  process.stdout.write(`${JSON.stringify({ id, result: {} })}\n`);
  if (method !== "turn/start") continue;
  threadId = params.threadId;
  const content = [{ type: "text", text: params.input[0]?.text ?? "" }];
  const said = { type: "user", message: { role: "user", content }, uuid: randomUUID() };
  engine.stdin.write(`${JSON.stringify(said)}\n`);
}
engine.kill();
process.exit();
