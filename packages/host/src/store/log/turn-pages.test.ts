import { readFile } from "node:fs/promises";
import { type EventBody, mintId } from "@flint/protocol";
import { readAll, temporaryFolder, WrittenThread } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { JsonlStore } from "../jsonl-store.ts";
import { type FaultPlan, faultyFiles } from "../testing/faulty-files.ts";

const ITEMS_PER_TURN = 20;

function longTurn(threadId: string): EventBody[] {
  const turnId = mintId();
  const bodies: EventBody[] = [
    { type: "turn/started", data: { threadId, turn: { id: turnId, status: "inProgress", items: [] } } },
  ];
  for (let index = 0; index < ITEMS_PER_TURN; index += 1) {
    const item = { type: "agentMessage" as const, id: mintId(), text: "" };
    const delta = "some words of an answer ".repeat(10);
    bodies.push(
      { type: "item/started", data: { threadId, turnId, item } },
      { type: "item/agentMessage/delta", data: { threadId, turnId, itemId: item.id, delta, offset: 0 } },
      { type: "item/completed", data: { threadId, turnId, item: { ...item, text: delta } } },
    );
  }
  const turn = { id: turnId, status: "completed" as const, items: [], itemsView: "notLoaded" as const };
  return [...bodies, { type: "turn/completed", data: { threadId, turn } }];
}

async function writeLong(items: number) {
  const folder = await temporaryFolder();
  const plan: FaultPlan = { calls: [] };
  const store = new JsonlStore({ root: folder.path, durability: "relaxed", files: faultyFiles(plan) });
  onTestFinished(() => store.close());
  const thread = await WrittenThread.create(store, {}, "t1");
  for (let turn = 0; turn < items / ITEMS_PER_TURN; turn += 1) thread.append(longTurn("t1"));
  const { state } = await store.peek("t1");
  thread.writer.checkpoint(state);
  await thread.writer.close();
  return { store, plan, thread, log: folder.join("threads/t1/events.jsonl") };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

/** The ratio of the shortest times of two functions. Other work only ever adds time. */
async function ratio(
  work: () => Promise<unknown>,
  floor: () => Promise<unknown>,
  enough: number,
): Promise<number> {
  let [shortest, floorShortest] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < 60; round += 1) {
    floorShortest = Math.min(floorShortest, await timed(floor));
    shortest = Math.min(shortest, await timed(work));
    if (round > 10 && shortest < enough * floorShortest) break;
  }
  return shortest / floorShortest;
}

describe("a long thread", () => {
  test("opens and returns its last page in less than three times the time of reading its bytes", async () => {
    const { store, log } = await writeLong(10_000);
    const attach = async (): Promise<void> => {
      const { writer } = await store.open("t1");
      const { data } = await store.turns("t1", { limit: 10, cursor: undefined });
      expect(data).toHaveLength(10);
      await writer.close();
    };
    expect(await ratio(attach, () => readFile(log), 3)).toBeLessThan(3);
  });

  test("reads no more for its last page or its last events than a short thread", async () => {
    const reads: number[][] = [];
    for (const items of [2000, 6000]) {
      const { store, plan, thread } = await writeLong(items);
      plan.calls.length = 0;
      await store.turns("t1", { limit: 10, cursor: undefined });
      const forPage = plan.calls.filter((call) => call === "read").length;
      plan.calls.length = 0;
      const last = await readAll(store, "t1", thread.events.length - 10);
      expect(last).toEqual(thread.events.slice(-10));
      reads.push([forPage, plan.calls.filter((call) => call === "read").length]);
    }
    expect(reads[1]).toEqual(reads[0]);
  });

  test("asks once for the size of its log when it returns its last page", async () => {
    const { store, plan } = await writeLong(100);
    plan.calls.length = 0;
    await store.turns("t1", { limit: 10, cursor: undefined });
    expect(plan.calls.filter((call) => call === "fstatSync")).toHaveLength(1);
  });
});
