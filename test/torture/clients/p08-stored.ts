import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Thread } from "@flint/protocol";
import type { TortureCase } from "../case.ts";
import { count, milliseconds } from "../figures.ts";
import type { TortureServer } from "../server.ts";
import { storeThreads } from "../stored-threads.ts";

const THREADS = 1_000;
const PAGE = 50;

/** Starts a server on a store that holds very many threads. */
export const manyStored: TortureCase = {
  id: "P08",
  title: "a thousand stored threads do not slow the start, and pages are complete",
  async run(context) {
    const home = join(await context.folder(), "home");
    const cwd = await context.folder();
    const stored = await storeThreads(home, THREADS, cwd);
    const startedAt = performance.now();
    const server = await context.start({ kind: "flint", home, cwd });
    const startMs = performance.now() - startedAt;
    const firstMs = await firstPageMs(server);
    const listed = await listAll(server);
    assert.deepEqual(listed.map(({ id }) => id).sort(), stored.toSorted(), "every thread once");
    const times = listed.map(({ updatedAt }) => updatedAt);
    assert.deepEqual(
      times,
      times.toSorted((left, right) => right - left),
      "newest first",
    );
    await server.stop();

    await rm(join(home, "index.jsonl"), { force: true });
    const without = await context.start({ kind: "flint", home, cwd });
    const rebuiltMs = await firstPageMs(without);
    assert.equal((await listAll(without)).length, THREADS, "every thread once, from the folders alone");
    await without.expectAlive(context.patience);
    return [
      count("threads", THREADS),
      milliseconds("start", startMs, 2_000),
      milliseconds("first page", firstMs, 300),
      milliseconds("first page without an index", rebuiltMs),
    ];
  },
};

async function firstPageMs(server: TortureServer): Promise<number> {
  const startedAt = performance.now();
  const { data } = await server.call("thread/list", { limit: PAGE });
  assert.equal(data.length, PAGE);
  return performance.now() - startedAt;
}

async function listAll(server: TortureServer): Promise<Thread[]> {
  const listed: Thread[] = [];
  let cursor: string | undefined;
  do {
    const page = await server.call(
      "thread/list",
      cursor === undefined ? { limit: PAGE } : { limit: PAGE, cursor },
    );
    listed.push(...page.data);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return listed;
}
