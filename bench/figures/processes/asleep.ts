import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import type { Bench, Figure } from "../../bench.ts";
import { residentMegabytes, runningChildren } from "../../processes/process-usage.ts";
import { WireProcess } from "../../processes/wire-process.ts";
import { HELD_FILE } from "../../programs/servers/memory-file.ts";
import { streamTurn } from "../../relays/stream-turn.ts";
import { median } from "../../report/statistics.ts";

const THREADS = 10;
/** Loads and compiles what is there once for all threads. */
const FIRST_THREADS = 6;
const IDLE_MS = 400;
const SLEEP_LIMIT_MS = 30_000;
const LOOK_MS = 50;
/** A collection of everything twice: the first one may only find out what is still used. */
const COLLECTIONS = 2;
const COLLECTION_MS = 300;
const BYTES_PER_MEGABYTE = 1024 * 1024;
const ORDER = { deltas: 500, items: 1, perSecond: 0 };

/** Cost of an idle thread of Claude while a client is subscribed: no process, and some memory. */
export const asleep: Figure = {
  name: "asleep",
  async measure(bench: Bench) {
    const servers: Asleep[] = [];
    for (let round = 0; round < bench.choose(3, 1); round += 1) servers.push(await measureOnce(bench));
    return [
      {
        figure: `agent processes of ${THREADS} idle threads of Claude`,
        value: Math.max(...servers.map(({ processes }) => processes)),
        unit: "",
        target: { of: "value", most: 0 },
      },
      {
        figure: "memory per idle thread of Claude",
        value: median(servers.map(({ held }) => held)),
        unit: "MB",
        target: { of: "value", most: 1 },
      },
      {
        figure: "… with what was used and is free again",
        value: median(servers.map(({ resident }) => resident)),
        unit: "MB",
      },
    ];
  },
};

interface Asleep {
  readonly processes: number;
  /** Memory that is held and cannot be collected. */
  readonly held: number;
  /** Memory that the system has given, including what was collected since. */
  readonly resident: number;
}

interface Size {
  readonly held: number;
  readonly resident: number;
}

async function measureOnce(bench: Bench): Promise<Asleep> {
  const root = await bench.newFolder();
  const program = [bench.program("claude-server"), root, bench.program("fake-claude")];
  const server = new WireProcess(["--expose-gc", ...program, String(IDLE_MS)]);
  await server.initialize();
  await startThreads(bench, server, FIRST_THREADS);
  await untilAsleep(server);
  const before = await settledSize(server, root);
  const started = await startThreads(bench, server, THREADS);
  const processes = await untilAsleep(server);
  const after = await settledSize(server, root);
  // A thread that does not resume was not idle.
  for (const threadId of started) await streamTurn(server, threadId, ORDER);
  await server.end();
  const perThread = (of: keyof Size) => (after[of] - before[of]) / THREADS;
  return { processes, held: perThread("held"), resident: perThread("resident") };
}

/** Threads that have each completed a turn, with the client subscribed. */
async function startThreads(bench: Bench, server: WireProcess, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let started = 0; started < count; started += 1) {
    const cwd = await bench.newFolder();
    const { thread } = await server.call("thread/start", { model: "claude/default", cwd });
    await streamTurn(server, thread.id, ORDER);
    ids.push(thread.id);
  }
  return ids;
}

/** Waits until the agents have ended, or for long enough, and gives how many are left. */
async function untilAsleep({ pid }: WireProcess): Promise<number> {
  const limit = performance.now() + SLEEP_LIMIT_MS;
  while (runningChildren(pid) > 0 && performance.now() < limit) await pass(LOOK_MS);
  return runningChildren(pid);
}

async function settledSize({ pid }: WireProcess, root: string): Promise<Size> {
  for (let done = 0; done < COLLECTIONS; done += 1) {
    process.kill(pid, "SIGUSR2");
    await pass(COLLECTION_MS);
  }
  const held = Number(await readFile(join(root, HELD_FILE), "utf8")) / BYTES_PER_MEGABYTE;
  return { held, resident: residentMegabytes(pid) };
}
