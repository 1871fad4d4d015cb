import { existsSync, writeFileSync } from "node:fs";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { FileCheckpoints } from "../file-checkpoints.ts";
import { type DiskPlan, faultyDisk, Workbench } from "../testing/fixture.ts";

test("deleting a thread deletes its checkpoints, and contents that no other thread uses", async () => {
  const bench = await Workbench.make(temporaryFolder, { graceMs: 0 });
  const path = bench.workspace.join("one");
  writeFileSync(path, "old");
  await bench.edit(["one"], () => writeFileSync(path, "new"));
  const other = await bench.begin("other-turn", "other-thread");
  other.saveFiles(["one"]);
  writeFileSync(path, "newest");
  await other.end();
  expect(bench.stored("blobs")).toHaveLength(2);
  await bench.checkpoints.remove("thread");
  await bench.checkpoints.settled();
  expect(bench.stored("blobs")).toHaveLength(1);
  expect(existsSync(bench.state.join("checkpoints", "threads", "thread"))).toBe(false);
  const cwd = bench.workspace.path;
  const { files } = await bench.checkpoints.restore(
    { threadId: "other-thread", turnIds: ["other-turn"], cwd },
    "revert",
  );
  expect(files).toMatchObject([{ path: "one", action: "restore" }]);
  expect(bench.picture()).toEqual({ one: "644 new" });
});

test("what another server is about to write down is not collected", async () => {
  const bench = await Workbench.make(temporaryFolder);
  writeFileSync(bench.workspace.join("one"), "old");
  const turn = await bench.begin("turn");
  turn.saveFiles(["one"]);
  const sweeper = new FileCheckpoints({ root: bench.state.path });
  await sweeper.remove("some-thread");
  await sweeper.settled();
  expect(bench.stored("blobs")).toHaveLength(1);
  await turn.end();
});

test("contents that were collected under a running server are saved again when they are needed", async () => {
  const plan: DiskPlan = { calls: [] };
  const bench = await Workbench.make(temporaryFolder, { graceMs: 0, disk: faultyDisk(plan) });
  const path = bench.workspace.join("one");
  writeFileSync(path, "old");
  await bench.command(() => writeFileSync(path, "of a thread that is deleted"));
  // Until the file has not changed for so long that nobody reads it again.
  do {
    plan.calls.length = 0;
    await (await bench.begin()).saveWorkspace(new AbortController().signal);
  } while (plan.calls.includes("read"));
  await bench.checkpoints.remove("thread");
  await bench.checkpoints.settled();
  expect(bench.stored("blobs")).toHaveLength(1);
  const turnId = await bench.command(() => writeFileSync(path, "new"));
  await bench.restore([turnId]);
  expect(bench.picture()).toEqual({ one: "644 of a thread that is deleted" });
});

test("a thread that leaves nothing behind keeps its checkpoints until the server stops", async () => {
  const bench = await Workbench.make(temporaryFolder);
  const path = bench.workspace.join("one");
  writeFileSync(path, "old");
  const turn = await bench.checkpoints.begin({
    ...{ threadId: "fleeting", turnId: "turn", roots: [bench.workspace.path], ephemeral: true },
    onError: () => undefined,
  });
  turn.saveFiles(["one"]);
  writeFileSync(path, "new");
  await turn.end();
  const cwd = bench.workspace.path;
  const wanted = { threadId: "fleeting", turnIds: ["turn"], cwd };
  expect((await bench.checkpoints.preview(wanted)).files).toHaveLength(1);
  expect(bench.stored("ephemeral")).toHaveLength(1);
  await bench.checkpoints.close();
  expect(bench.stored("ephemeral")).toEqual([]);
});
