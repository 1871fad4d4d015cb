import { join } from "node:path";
import type { Bench, Figure } from "../../bench.ts";
import { runForNumber } from "../../processes/child.ts";
import { WireProcess } from "../../processes/wire-process.ts";
import { storeThreads } from "../../relays/history.ts";
import { interleave } from "../../report/rounds.ts";
import { median } from "../../report/statistics.ts";

const ITEMS_PER_TURN = 20;
const LONG = { turns: 500, itemsPerTurn: ITEMS_PER_TURN };
const SHORT = { turns: 5, itemsPerTurn: ITEMS_PER_TURN };
/** Both threads have this many, so a page of both holds the same. */
const TURNS_PER_PAGE = 4;
const READS_PER_ROUND = 5;

interface StoredThread {
  readonly root: string;
  readonly threadId: string;
}

/** Joining a long thread in a process that has just started, and reading its last page in one that is warm. */
export const attach: Figure = {
  name: "attach",
  async measure(bench: Bench) {
    const long = await storeOne(bench, LONG);
    const short = await storeOne(bench, SHORT);
    const log = join(long.root, "threads", long.threadId, "events.jsonl");
    const cold = await interleave(bench.choose(10, 2), {
      bytes: () => runForNumber([bench.program("read-file"), log]),
      attach: () => attachCold(bench, long),
      short: () => attachCold(bench, short),
    });
    const pages = await lastPages(bench, long, short);
    return [
      {
        figure: "thread/attach at 10,000 items, cold process",
        value: median(cold.attach),
        unit: "ms",
        floor: { name: "reading its bytes", value: median(cold.bytes) },
        target: { of: "ratio", most: 3 },
      },
      {
        figure: "… against a thread of 100 items",
        value: median(cold.attach),
        unit: "ms",
        floor: { name: "at 100 items", value: median(cold.short) },
      },
      {
        figure: "thread/read last page at 10,000 items, flat",
        value: median(pages.long),
        unit: "ms",
        floor: { name: "at 100 items", value: median(pages.short) },
        target: { of: "ratio", most: 1.5 },
      },
    ];
  },
};

async function storeOne(bench: Bench, length: typeof LONG): Promise<StoredThread> {
  const root = await bench.newFolder();
  const [threadId = ""] = await storeThreads(root, 1, length);
  return { root, threadId };
}

async function startServer(bench: Bench, root: string): Promise<WireProcess> {
  const server = new WireProcess(bench.flint, { environment: { FLINT_HOME: root } });
  await server.initialize();
  return server;
}

async function attachCold(bench: Bench, { root, threadId }: StoredThread): Promise<number> {
  const server = await startServer(bench, root);
  const { milliseconds } = await server.exchange("thread/attach", { threadId });
  await server.end();
  return milliseconds;
}

async function lastPages(
  bench: Bench,
  long: StoredThread,
  short: StoredThread,
): Promise<Record<"long" | "short", number[]>> {
  const servers = { long: await startServer(bench, long.root), short: await startServer(bench, short.root) };
  const read = async (server: WireProcess, { threadId }: StoredThread): Promise<number> => {
    const times: number[] = [];
    for (let done = 0; done < READS_PER_ROUND; done += 1) {
      const params = { threadId, includeTurns: true, limit: TURNS_PER_PAGE };
      times.push((await server.exchange("thread/read", params)).milliseconds);
    }
    return median(times);
  };
  const times = await interleave(bench.choose(20, 4), {
    long: () => read(servers.long, long),
    short: () => read(servers.short, short),
  });
  await Promise.all([servers.long.end(), servers.short.end()]);
  return times;
}
