// The least that a server between an agent and a client can do: split, parse, map, stringify, one write per chunk.
// No log, no checks, no limits. Speaks just enough of the protocol for a client that streams turns.
// Argument: the program that plays the agent.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { EngineFrame } from "./engine-frame.ts";

const TURN = "0195f7a2-6d1e-7000-8000-000000000002";

let threadId = "";
const engine = spawn(process.execPath, [process.argv[2] ?? ""], { stdio: ["pipe", "pipe", "inherit"] });
let rest = "";
engine.stdout.setEncoding("utf8");
engine.stdout.on("data", (chunk: string) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  let written = "";
  // The fake engine writes nothing else.
  for (const line of lines) written += `${JSON.stringify(toMessage(JSON.parse(line) as EngineFrame))}\n`;
  if (written !== "") process.stdout.write(written);
});

function toMessage({ method, params }: EngineFrame): object {
  const place = { threadId, turnId: TURN };
  if (method === "item/agentMessage/delta") {
    return { method, params: { ...place, itemId: params.itemId, delta: params.delta } };
  }
  return { method, params: { ...params, ...place } };
}

type Request = { id: number; method: string; params: { threadId: string; input: { text: string }[] } };

for await (const line of createInterface({ input: process.stdin })) {
  // Only measurements write to this program.
  const { id, method, params } = JSON.parse(line) as Request;
  process.stdout.write(`${JSON.stringify({ id, result: {} })}\n`);
  if (method !== "turn/start") continue;
  threadId = params.threadId;
  engine.stdin.write(`${params.input[0]?.text ?? ""}\n`);
}
engine.kill();
process.exit();
