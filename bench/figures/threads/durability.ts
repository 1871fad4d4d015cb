import type { Bench, Figure } from "../../bench.ts";
import { WireProcess } from "../../processes/wire-process.ts";
import type { Order } from "../../programs/order.ts";
import { streamTurn } from "../../relays/stream-turn.ts";
import { interleave } from "../../report/rounds.ts";
import type { Row } from "../../report/row.ts";
import { median } from "../../report/statistics.ts";

const ORDER: Order = { deltas: 1, items: 1, perSecond: 0 };
const MS_PER_SECOND = 1000;

/** Cost of a completed turn surviving a power cut. Depends on the disk, so nothing is promised. */
export const durability: Figure = {
  name: "durability",
  async measure(bench: Bench) {
    const full = await startServer(bench, "full");
    const relaxed = await startServer(bench, "relaxed");
    const alone = await compare(bench, full, relaxed, 1, "turns a second in one thread, full durability");
    const together = await compare(bench, full, relaxed, 20, "turns a second in 20 threads, full durability");
    await Promise.all([full.end(), relaxed.end()]);
    return [alone, together];
  },
};

async function startServer(bench: Bench, kind: "full" | "relaxed"): Promise<WireProcess> {
  const server = new WireProcess(bench.server(await bench.newFolder(), kind));
  await server.initialize();
  return server;
}

async function compare(
  bench: Bench,
  full: WireProcess,
  relaxed: WireProcess,
  threads: number,
  figure: string,
): Promise<Row> {
  const turns = bench.choose(50, 10);
  const rates = await interleave(bench.choose(5, 1), {
    full: () => turnsPerSecond(full, threads, turns),
    relaxed: () => turnsPerSecond(relaxed, threads, turns),
  });
  const floor = { name: "relaxed", value: median(rates.relaxed) };
  return { figure, value: median(rates.full), unit: "/s", floor };
}

async function turnsPerSecond(server: WireProcess, threads: number, turns: number): Promise<number> {
  const threadIds = await Promise.all(Array.from({ length: threads }, () => startThread(server)));
  const start = performance.now();
  await Promise.all(threadIds.map((threadId) => streamTurns(server, threadId, turns)));
  return (threads * turns * MS_PER_SECOND) / (performance.now() - start);
}

async function startThread(server: WireProcess): Promise<string> {
  const { thread } = await server.call("thread/start", { model: "burst/inside" });
  return thread.id;
}

async function streamTurns(server: WireProcess, threadId: string, turns: number): Promise<void> {
  for (let done = 0; done < turns; done += 1) await streamTurn(server, threadId, ORDER);
}
