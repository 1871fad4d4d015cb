import assert from "node:assert/strict";
import { join } from "node:path";
import { LIMITS } from "@flint/protocol";
import { scriptText, wordsText } from "../../server/script-text.ts";
import type { TortureCase } from "../case.ts";
import type { Context } from "../context.ts";
import { count, megabytes, milliseconds, none } from "../figures.ts";
import { LeanClient } from "../lean-client.ts";
import { MemoryWatch } from "../memory.ts";

const WORDS = 100;
const DELTAS = 60_000;
const SIZE = 100;

/** Subscribes many clients to one thread; one of them stalls until the turn is over. */
export const subscribers: TortureCase = {
  id: "P10",
  title: "fifty subscribers see one order of events; a stalled one catches up without a gap",
  async run(context) {
    const socketPath = join(await context.folder(), "socket");
    const server = await context.start({ kind: "scripted", env: { FLINT_TEST_SOCKET: socketPath } });
    await server.expectAlive(context.patience);
    const threadId = await server.startThread();
    const clients = await subscribe(context, socketPath, threadId, context.choose(50, 10));
    const [stalled, ...others] = clients;
    assert(stalled !== undefined);
    assert(DELTAS * SIZE * 2 > LIMITS.clientQueue, "the turn is longer than what may wait for one client");
    const memory = new MemoryWatch(server.pid);
    const finished = others.map((client) => client.received("turn/completed"));
    const caughtUp = stalled.received("turn/completed");
    stalled.pause();
    const startedAt = performance.now();
    const script = scriptText({ words: WORDS, everyMs: 1 }, { deltas: DELTAS, size: SIZE });
    const turn = await server.runTurn(threadId, script);
    assert.equal(turn.status, "completed", turn.error?.message);
    await Promise.all(finished);
    const turnMs = performance.now() - startedAt;
    const growth = memory.growth;
    assert.equal(stalled.events.length, 0, "the stalled one has read nothing");
    stalled.resume();
    await caughtUp;
    const { items } = await server.lastTurn(threadId);
    const texts = items.filter((item) => item.type === "agentMessage").map(({ id }) => id);
    return [
      count("subscribers", clients.length),
      none("out of order", clients.filter((client) => !sameEvents(client, others)).length),
      none("with lost text", clients.filter((client) => !hasAllText(client, texts)).length),
      milliseconds("turn", turnMs),
      megabytes("memory +", growth),
    ];
  },
};

async function subscribe(
  context: Context,
  socketPath: string,
  threadId: string,
  amount: number,
): Promise<LeanClient[]> {
  const clients = Array.from({ length: amount }, () => new LeanClient(socketPath));
  context.atEnd(async () => {
    for (const client of clients) client.close();
  });
  for (const client of clients) {
    await client.request("initialize", { clientInfo: { name: "subscriber", version: "1" } });
    await client.request("thread/attach", { threadId });
  }
  return clients;
}

function sameEvents(client: LeanClient, [first]: readonly LeanClient[]): boolean {
  return client.events.length > 0 && client.events.join() === first?.events.join();
}

function hasAllText({ text }: LeanClient, [words = "", flood = ""]: readonly string[]): boolean {
  return (
    text.holes === 0 && text.textOf(words) === wordsText(WORDS) && text.lengthOf(flood) === DELTAS * SIZE
  );
}
