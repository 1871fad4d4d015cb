import assert from "node:assert/strict";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Turn } from "@flint/protocol";
import { scriptText } from "../../server/script-text.ts";
import type { TortureCase } from "../case.ts";
import { count, megabytes, milliseconds, none, quantile } from "../figures.ts";
import { MemoryWatch } from "../memory.ts";
import { ReceivedText } from "../received-text.ts";
import type { TortureServer } from "../server.ts";

// What a busy server takes anyway is not what the stalled client costs.
const WARM_UP_TURNS = 10;
const TURNS = 40;
const DELTAS = 5_000;
// Together far more than a server may hold back for one client.
const SIZE = 200;
const PROBE_MS = 25;

/** Stops reading while 200,000 deltas come, as a client that hangs does. */
export const stalledClient: TortureCase = {
  id: "P09",
  title: "a client that stops reading costs bounded memory and does not disturb other clients",
  async run(context) {
    const socketPath = join(await context.folder(), "socket");
    const stalled = await context.start({ kind: "scripted", env: { FLINT_TEST_SOCKET: socketPath } });
    await stalled.expectAlive(context.patience);
    const worker = await context.join(socketPath);
    const watcher = await context.join(socketPath);
    const threadId = await stalled.startThread();
    const reading = new MemoryWatch(stalled.pid);
    const warmUp = await runTurns(worker, threadId, WARM_UP_TURNS);
    for (const turnId of warmUp) await stalled.turnCompleted(turnId);
    const usualPeak = reading.peak;
    const standing = new MemoryWatch(stalled.pid);
    stalled.wire.pause();
    const before = stalled.wire.mark;
    const working = runTurns(worker, threadId, TURNS);
    const probes = await probeWhile(watcher, working, context.choose(30_000, 1_000));
    const cost = standing.peak - usualPeak;
    assert.equal(stalled.wire.mark, before, "the client stood still");
    stalled.wire.resume();
    const turnIds = await working;
    for (const turnId of turnIds) await stalled.turnCompleted(turnId);
    return [
      count("deltas", TURNS * DELTAS),
      megabytes("memory +", cost, 64),
      milliseconds("others p95", quantile(probes, 0.95), 200),
      none("characters lost", await charactersLost(stalled, threadId, [...warmUp, ...turnIds])),
    ];
  },
};

async function runTurns(worker: TortureServer, threadId: string, amount: number): Promise<string[]> {
  const turnIds: string[] = [];
  for (let turn = 0; turn < amount; turn += 1) {
    const { id, status } = await worker.runTurn(threadId, scriptText({ deltas: DELTAS, size: SIZE }));
    assert.equal(status, "completed");
    turnIds.push(id);
  }
  return turnIds;
}

/** Returns the duration of each request of another client, until the work is done and the time is over. */
async function probeWhile(
  watcher: TortureServer,
  working: Promise<unknown>,
  forMs: number,
): Promise<number[]> {
  const endsAt = performance.now() + forMs;
  const probes: number[] = [];
  let done = false;
  // A failure of the work rejects the promise of its result.
  working
    .catch(() => undefined)
    .finally(() => {
      done = true;
    });
  while (!done || performance.now() < endsAt) {
    const startedAt = performance.now();
    await watcher.call("model/list", {});
    probes.push(performance.now() - startedAt);
    await pause(PROBE_MS);
  }
  return probes;
}

/** Compares what the client put together with what is in the log. */
async function charactersLost(
  client: TortureServer,
  threadId: string,
  turnIds: readonly string[],
): Promise<number> {
  const received = ReceivedText.of(client.wire.messages);
  assert.equal(received.holes, 0, "holes in the streamed text");
  let lost = 0;
  let cursor: string | undefined;
  const read: Turn[] = [];
  do {
    const place = cursor === undefined ? {} : { cursor };
    const page = await client.call("thread/read", { threadId, includeTurns: true, limit: 10, ...place });
    read.unshift(...(page.turns ?? []));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  assert.deepEqual(
    read.map(({ id }) => id),
    turnIds,
    "the log has every turn in order",
  );
  for (const item of read.flatMap(({ items }) => items)) {
    if (item.type === "agentMessage") lost += DELTAS * SIZE - received.lengthOf(item.id);
  }
  return lost;
}
