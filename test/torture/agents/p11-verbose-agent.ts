import assert from "node:assert/strict";
import { type Item, LIMITS, type Turn } from "@flint/protocol";
import { scriptText } from "../../server/script-text.ts";
import type { Measurements, TortureCase } from "../case.ts";
import type { Context } from "../context.ts";
import { count, megabytes, milliseconds } from "../figures.ts";
import { MemoryWatch } from "../memory.ts";
import { ReceivedText } from "../received-text.ts";

const DELTAS = 100_000;
const SIZE = 20;
const OUTPUT = 100_000_000;
// The line that says what is left out has to go somewhere.
const CUT_NOTE = 200;

/** Runs a turn of very many deltas, and a command that prints far more than is kept. */
export const loud: TortureCase = {
  id: "P11",
  title: "a turn of very many deltas and a very loud command completes with output capped",
  async run(context) {
    return [...(await manyDeltas(context)), ...(await loudCommand(context))];
  },
};

async function manyDeltas(context: Context): Promise<Measurements> {
  const server = await context.start({ kind: "scripted" });
  await server.expectAlive(context.patience);
  const threadId = await server.startThread();
  const memory = new MemoryWatch(server.pid);
  const startedAt = performance.now();
  const turn = await server.runTurn(threadId, scriptText({ deltas: DELTAS, size: SIZE }));
  const turnMs = performance.now() - startedAt;
  assert.equal(turn.status, "completed", turn.error?.message);
  const [item] = (await server.lastTurn(threadId)).items.filter(({ type }) => type === "agentMessage");
  assert(
    item !== undefined && "text" in item && item.text === "x".repeat(DELTAS * SIZE),
    "all text is there",
  );
  const { growth } = memory;
  await server.expectAlive(context.patience);
  return [count("deltas", DELTAS), milliseconds("in", turnMs), megabytes("+", growth, 64)];
}

async function loudCommand(context: Context): Promise<Measurements> {
  const server = await context.start({ kind: "flint", args: ["--approval", "never"] });
  await server.expectAlive(context.patience);
  const threadId = await server.startThread();
  const memory = new MemoryWatch(server.pid);
  const startedAt = performance.now();
  const turn = await server.runTurn(threadId, `run \`head -c ${OUTPUT} /dev/zero | tr '\\0' 'x'\``);
  const turnMs = performance.now() - startedAt;
  assert.equal(turn.status, "completed", turn.error?.message);
  const command = commandOf(await server.lastTurn(threadId));
  const kept = command.aggregatedOutput?.length ?? 0;
  assert(kept > LIMITS.output / 2 && kept <= LIMITS.output + CUT_NOTE, `${kept} characters are kept`);
  const received = ReceivedText.of(server.wire.messages).lengthOf(command.id);
  assert(received <= LIMITS.output, `${received} characters were received`);
  assert((command.omittedOutputBytes ?? 0) >= OUTPUT - LIMITS.output, "what is left out is stated");
  const { growth } = memory;
  await server.expectAlive(context.patience);
  return [milliseconds("100 MB of output in", turnMs), megabytes("+", growth, 64)];
}

function commandOf(turn: Turn): Item<"commandExecution"> {
  const item = turn.items.find(({ type }) => type === "commandExecution");
  assert(item !== undefined, "the turn ran a command");
  // Found by its type; an extension never has the type of a known item.
  return item as Item<"commandExecution">;
}
