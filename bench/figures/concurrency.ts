import type { Bench, Figure } from "../bench.ts";
import { peakMegabytes, residentMegabytes } from "../process-usage.ts";
import { type Order, PIECE } from "../programs/order.ts";
import { quantile } from "../statistics.ts";
import { deltaOf, expectCompleted, orderParams, threadOf } from "../stream-turn.ts";
import { WireProcess } from "../wire-process.ts";

const THREADS = 100;
const ORDER: Order = { deltas: 50, items: 1, perSecond: 0 };
const EXPECTED_TEXT = PIECE.repeat(ORDER.deltas);

/** Many threads that all have a turn at the same time. Fails if any of them is not told whole and in order. */
export const concurrency: Figure = {
  name: "concurrency",
  async measure(bench: Bench) {
    const server = new WireProcess(bench.server(await bench.newFolder()));
    await server.initialize();
    const before = residentMegabytes(server.pid);
    const { threadIds, times } = await startThreads(server);
    await streamAll(server, threadIds);
    const after = residentMegabytes(server.pid);
    const peak = peakMegabytes(server.pid);
    await server.end();
    return [
      {
        figure: "100 turns of 50 deltas at once: peak memory",
        value: peak,
        unit: "MB",
        target: { of: "value", most: 400 },
      },
      {
        figure: "memory per thread after its turn",
        value: (after - before) / THREADS,
        unit: "MB",
        target: { of: "value", most: 1 },
      },
      {
        figure: "thread/start p95, 100 at once",
        value: quantile(times, 0.95),
        unit: "ms",
        target: { of: "value", most: 100 },
      },
    ];
  },
};

async function startThreads(server: WireProcess): Promise<{ threadIds: string[]; times: number[] }> {
  const started = await Promise.all(
    Array.from({ length: THREADS }, async () => {
      const start = performance.now();
      const { thread } = await server.call("thread/start", { model: "burst/inside" });
      return { threadId: thread.id, took: performance.now() - start };
    }),
  );
  return { threadIds: started.map(({ threadId }) => threadId), times: started.map(({ took }) => took) };
}

/** Runs a turn in all threads and checks what comes of it, in the order in which it comes. */
async function streamAll(server: WireProcess, threadIds: readonly string[]): Promise<void> {
  const texts = new Map(threadIds.map((threadId) => [threadId, ""]));
  const ended = new Set<string>();
  server.onDelta = (line) => {
    const { threadId, delta, offset } = deltaOf(line);
    const text = texts.get(threadId);
    if (ended.has(threadId) || text?.length !== offset)
      throw new Error(`Thread ${threadId} is out of order.`);
    texts.set(threadId, text + delta);
  };
  const allEnded = new Promise<void>((resolve, reject) => {
    server.onNotification = (notification) => {
      if (notification.method !== "turn/completed") return;
      const threadId = String(threadOf(notification));
      if (ended.has(threadId) || texts.get(threadId) !== EXPECTED_TEXT)
        reject(new Error(`Thread ${threadId} is not whole.`));
      expectCompleted(notification);
      ended.add(threadId);
      if (ended.size === threadIds.length) resolve();
    };
  });
  await Promise.all(threadIds.map((threadId) => server.exchange("turn/start", orderParams(threadId, ORDER))));
  await allEnded;
}
