import { join } from "node:path";
import type { Bench, Figure } from "../../bench.ts";
import { runForNumber } from "../../processes/child.ts";
import { WireProcess } from "../../processes/wire-process.ts";
import { storeThreads } from "../../relays/history.ts";
import { interleave } from "../../report/rounds.ts";
import { lowest, median } from "../../report/statistics.ts";

const MANY = 10_000;
const FEWER = 1_000;
/** A round asks so often, because one answer is too short to be measured well. */
const ASKED_PER_ROUND = 10;

/** The first page of the list of threads: warm, and the first time after a start. */
export const threadList: Figure = {
  name: "thread-list",
  async measure(bench: Bench) {
    const many = await storeRoot(bench, MANY);
    const fewer = await storeRoot(bench, FEWER);
    const none = await bench.newFolder();
    const first = await interleave(bench.choose(7, 2), {
      many: () => firstList(bench, many),
      none: () => firstList(bench, none),
      index: () => runForNumber([bench.program("parse-lines"), join(many, "index.jsonl")]),
    });
    const warm = await warmLists(bench, many, fewer);
    return [
      {
        figure: "thread/list first page at 10,000 threads, warm",
        value: median(warm.many),
        unit: "ms",
        target: { of: "value", most: 5 },
      },
      {
        figure: "… and flat",
        value: median(warm.many),
        unit: "ms",
        floor: { name: "at 1,000", value: median(warm.fewer) },
        target: { of: "ratio", most: 1.5 },
      },
      {
        figure: "added to the first thread/list after a start by 10,000 threads",
        value: lowest(first.many) - lowest(first.none),
        unit: "ms",
        floor: { name: "parsing their index", value: lowest(first.index) },
        target: { of: "value", most: 50 },
      },
    ];
  },
};

async function storeRoot(bench: Bench, threads: number): Promise<string> {
  const root = await bench.newFolder();
  await storeThreads(root, threads, { turns: 1, itemsPerTurn: 2 });
  return root;
}

async function startServer(bench: Bench, root: string): Promise<WireProcess> {
  const server = new WireProcess(bench.flint, { environment: { FLINT_HOME: root } });
  await server.initialize();
  return server;
}

async function listOnce(server: WireProcess): Promise<number> {
  return (await server.exchange("thread/list", {})).milliseconds;
}

async function firstList(bench: Bench, root: string): Promise<number> {
  const server = await startServer(bench, root);
  const took = await listOnce(server);
  await server.end();
  return took;
}

async function warmLists(
  bench: Bench,
  many: string,
  fewer: string,
): Promise<Record<"many" | "fewer", number[]>> {
  const servers = { many: await startServer(bench, many), fewer: await startServer(bench, fewer) };
  const often = async (server: WireProcess): Promise<number> => {
    const times: number[] = [];
    for (let asked = 0; asked < ASKED_PER_ROUND; asked += 1) times.push(await listOnce(server));
    return median(times);
  };
  const times = await interleave(bench.choose(20, 4), {
    many: () => often(servers.many),
    fewer: () => often(servers.fewer),
  });
  await Promise.all([servers.many.end(), servers.fewer.end()]);
  return times;
}
