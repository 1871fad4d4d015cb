import assert from "node:assert/strict";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { scriptText } from "../server/script-text.ts";
import type { TortureCase } from "./case.ts";
import { count, megabytes, milliseconds, none, quantile } from "./figures.ts";
import { MemoryWatch } from "./memory.ts";
import { ReceivedText } from "./received-text.ts";
import type { TortureServer } from "./server.ts";

const ITEMS = 4;
const DELTAS = 50_000;
const SIZE = 25;
const PROBE_MS = 25;

/** Stops reading while 200,000 deltas come, as a client that hangs does. */
export const stalledClient: TortureCase = {
  id: "P09",
  title: "a client that stops reading costs bounded memory and disturbs nobody",
  async run(context) {
    const socketPath = join(await context.folder(), "socket");
    const server = await context.start({ kind: "scripted", env: { FLINT_TEST_SOCKET: socketPath } });
    const other = await context.join(socketPath);
    await server.expectAlive(context.patience);
    const threadId = await server.startThread();
    const memory = new MemoryWatch(server.pid);
    const flood = Array.from({ length: ITEMS }, () => ({ deltas: DELTAS, size: SIZE }));
    const turnId = await server.startTurn(threadId, scriptText(...flood));
    await server.during(turnId, "item/agentMessage/delta");
    server.wire.pause();
    const probes = await probeUntilIdle(other, threadId, context.choose(30_000, 2_000));
    const growth = memory.growth;
    const seen = ReceivedText.of(server.wire.messages);
    server.wire.resume();
    const turn = await server.turnCompleted(turnId);
    assert.equal(turn.status, "completed", turn.error?.message);
    const stalledAt = (await server.lastTurn(threadId)).items.reduce(
      (sum, { id }) => sum + seen.lengthOf(id),
      0,
    );
    assert(stalledAt < (ITEMS * DELTAS * SIZE) / 2, "the client stood still for most of the flood");
    return [
      count("deltas", ITEMS * DELTAS),
      megabytes("memory +", growth, 64),
      milliseconds("others p95", quantile(probes, 0.95), 200),
      none("characters lost", await charactersLost(server, threadId)),
    ];
  },
};

/** How long each request of another client takes, from now until the thread is idle and the time is over. */
async function probeUntilIdle(other: TortureServer, threadId: string, forMs: number): Promise<number[]> {
  const endsAt = performance.now() + forMs;
  const probes: number[] = [];
  let idle = false;
  while (!idle || performance.now() < endsAt) {
    const startedAt = performance.now();
    const { thread } = await other.call("thread/read", { threadId });
    probes.push(performance.now() - startedAt);
    idle = thread.status.type === "idle";
    await pause(PROBE_MS);
  }
  return probes;
}

/** Compares what the client put together with what is in the log. */
async function charactersLost(server: TortureServer, threadId: string): Promise<number> {
  const received = ReceivedText.of(server.wire.messages);
  assert.equal(received.holes, 0, "holes in the streamed text");
  const { items } = await server.lastTurn(threadId);
  const answers = items.filter((item) => item.type === "agentMessage");
  assert.equal(answers.length, ITEMS);
  return answers.reduce((lost, item) => {
    assert("text" in item && typeof item.text === "string" && item.text.length === DELTAS * SIZE);
    return lost + item.text.length - received.lengthOf(item.id);
  }, 0);
}
