import { METHODS } from "@flint/protocol";
import type { Bench, Figure } from "../../bench.ts";
import { peakMegabytes, residentMegabytes } from "../../processes/process-usage.ts";
import { type WireNotification, WireProcess } from "../../processes/wire-process.ts";
import { type Order, PIECE } from "../../programs/order.ts";
import { deltaOf, orderParams, threadOf, turnStatusOf } from "../../relays/stream-turn.ts";
import { interleave } from "../../report/rounds.ts";
import { lowest, quantile } from "../../report/statistics.ts";

const THREADS = 100;
const ORDER: Order = { deltas: 50, items: 1, perSecond: 0 };
const EXPECTED_TEXT = PIECE.repeat(ORDER.deltas);

/** Many threads that all have a turn at the same time. Fails if any text is incomplete or out of order. */
export const concurrency: Figure = {
  name: "concurrency",
  async measure(bench: Bench) {
    const { server: crowds } = await interleave(bench.choose(4, 1), { server: () => measureCrowd(bench) });
    const best = (of: keyof Crowd): number => lowest(crowds.map((crowd) => crowd[of]));
    return [
      {
        figure: "100 turns of 50 deltas at once: peak memory",
        value: best("peak"),
        unit: "MB",
        target: { of: "value", most: 400 },
      },
      {
        figure: "memory per thread after its turn",
        value: best("perThread"),
        unit: "MB",
        target: { of: "value", most: 1 },
      },
      {
        figure: "thread/start p95, 100 at once",
        value: best("startP95"),
        unit: "ms",
        target: { of: "value", most: 100 },
      },
    ];
  },
};

/** Cost of many threads at once for a server: memory in MB, time in milliseconds. */
interface Crowd {
  readonly peak: number;
  readonly perThread: number;
  readonly startP95: number;
}

async function measureCrowd(bench: Bench): Promise<Crowd> {
  const server = new WireProcess(bench.server(await bench.newFolder()));
  await server.initialize();
  const before = residentMegabytes(server.pid);
  const { threadIds, times } = await startThreads(server);
  await streamAll(server, threadIds);
  const perThread = (residentMegabytes(server.pid) - before) / THREADS;
  const peak = peakMegabytes(server.pid);
  await server.end();
  return { peak, perThread, startP95: quantile(times, 0.95) };
}

async function startThreads(server: WireProcess): Promise<{ threadIds: string[]; times: number[] }> {
  const started = await Promise.all(
    Array.from({ length: THREADS }, async () => {
      const { result, milliseconds } = await server.exchange("thread/start", { model: "burst/inside" });
      return { threadId: METHODS["thread/start"].result.parse(result).thread.id, milliseconds };
    }),
  );
  return {
    threadIds: started.map(({ threadId }) => threadId),
    times: started.map(({ milliseconds }) => milliseconds),
  };
}

/** Runs a turn in all threads at once. Rejects if any text is incomplete or out of order. */
async function streamAll(server: WireProcess, threadIds: readonly string[]): Promise<void> {
  const received = new Promise<void>((resolve, reject) => {
    const check = new OrderCheck(threadIds, resolve, reject);
    server.onDelta = (line) => check.onDelta(line);
    server.onNotification = (notification) => check.onNotification(notification);
  });
  const started = threadIds.map((threadId) => server.exchange("turn/start", orderParams(threadId, ORDER)));
  await Promise.all([...started, received]);
}

/** Checks events as they arrive: each thread its own text, piece by piece, then its end. */
class OrderCheck {
  readonly #texts: Map<string, string>;
  readonly #ended = new Set<string>();
  readonly #allEnded: () => void;
  readonly #failed: (error: Error) => void;

  constructor(threadIds: readonly string[], allEnded: () => void, failed: (error: Error) => void) {
    this.#texts = new Map(threadIds.map((threadId) => [threadId, ""]));
    this.#allEnded = allEnded;
    this.#failed = failed;
  }

  onDelta(line: string): void {
    const { threadId, delta, offset } = deltaOf(line);
    const text = this.#texts.get(threadId);
    if (this.#ended.has(threadId)) this.#failed(new Error(`Thread ${threadId} went on after its end.`));
    else if (text?.length !== offset) this.#failed(new Error(`Thread ${threadId} is out of order.`));
    else this.#texts.set(threadId, text + delta);
  }

  onNotification(notification: WireNotification): void {
    if (notification.method !== "turn/completed") return;
    const threadId = String(threadOf(notification));
    const isWhole = this.#texts.get(threadId) === EXPECTED_TEXT && turnStatusOf(notification) === "completed";
    if (!isWhole || this.#ended.has(threadId)) this.#failed(new Error(`Thread ${threadId} ended badly.`));
    this.#ended.add(threadId);
    if (this.#ended.size === this.#texts.size) this.#allEnded();
  }
}
