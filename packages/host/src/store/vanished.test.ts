import { copyFileSync, renameSync, rmSync, unlinkSync } from "node:fs";
import { BareDriver, Gate, sampleStart, temporaryFolder, testEngine } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { JsonlStore } from "./jsonl-store.ts";

async function storeWithThread() {
  const folder = await temporaryFolder();
  const root = folder.join("state");
  const store = new JsonlStore({ root, durability: "full" });
  onTestFinished(() => store.close().catch(() => undefined));
  const writer = await store.create("t1");
  writer.append([sampleStart("t1")], 1);
  await writer.sync();
  return { folder, root, store, writer, log: `${root}/threads/t1/events.jsonl` };
}

type Setup = Awaited<ReturnType<typeof storeWithThread>>;

const LOSSES: Readonly<Record<string, (setup: Setup) => void>> = {
  "deleted log": ({ log }) => unlinkSync(log),
  "replaced log": ({ log }) => {
    copyFileSync(log, `${log}.copy`);
    renameSync(`${log}.copy`, log);
  },
  "deleted state folder": ({ root }) => rmSync(root, { recursive: true }),
  "moved state folder": ({ root }) => renameSync(root, `${root}-moved`),
};

describe.each(Object.keys(LOSSES))("a %s", (loss) => {
  test("is noticed at the next write, which names the path and what is stored", async () => {
    const setup = await storeWithThread();
    LOSSES[loss]?.(setup);
    const write = () => setup.writer.append([sampleStart("t1")], 2);
    const { log } = setup;
    expect(write).toThrow(expect.objectContaining({ kind: "storageFailed" }));
    expect(write).toThrow(log);
    expect(write).toThrow("Up to event 1");
  });

  test("does not prevent new threads", async () => {
    const setup = await storeWithThread();
    LOSSES[loss]?.(setup);
    const writer = await setup.store.create("t2");
    expect(writer.append([sampleStart("t2")], 1)).toHaveLength(1);
    await writer.close();
    expect((await setup.store.peek("t2")).state.seq).toBe(1);
  });
});

test("a log that is restored is written again, without a gap", async () => {
  const { log, writer, store } = await storeWithThread();
  renameSync(log, `${log}.away`);
  expect(() => writer.append([sampleStart("t1")], 2)).toThrow("deleted or replaced");
  renameSync(`${log}.away`, log);
  expect(writer.append([sampleStart("t1")], 3)).toMatchObject([{ seq: 2 }]);
  await writer.close();
  expect((await store.peek("t1")).damage).toEqual({ records: 0, missing: 0 });
});

describe("a state folder that is deleted while the server runs", () => {
  async function server(gate: Gate) {
    const folder = await temporaryFolder();
    const root = folder.join("state");
    const run = async () => {
      await gate.wait();
      return { status: "completed" } as const;
    };
    const store = new JsonlStore({ root, durability: "full" });
    const client = testEngine({ store, driver: new BareDriver({ run }) }).connect();
    return { root, client, threadId: await client.startThread() };
  }

  test("refuses the next turn instead of running one that is lost", async () => {
    const { root, client, threadId } = await server(new Gate());
    rmSync(root, { recursive: true });
    await expect(client.startTurn(threadId, "go")).rejects.toThrow(/deleted or replaced/);
    const other = await client.startThread();
    expect(other).not.toBe(threadId);
  });

  test("fails the running turn once, with the path", async () => {
    const gate = new Gate();
    const { root, client, threadId } = await server(gate);
    await client.startTurn(threadId, "go");
    rmSync(root, { recursive: true });
    gate.open();
    await client.waitFor("turn/completed");
    expect(client.eventsOf("turn/completed").map(({ data }) => data.turn)).toMatchObject([
      { status: "failed", error: { message: expect.stringContaining(root) } },
    ]);
  });
});
