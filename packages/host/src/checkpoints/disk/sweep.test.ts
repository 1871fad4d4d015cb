import { existsSync, writeFileSync } from "node:fs";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { FileCheckpoints } from "../file-checkpoints.ts";
import { CheckpointFixture, type FaultPlan, faultyDisk } from "../testing/fixture.ts";

test("deletes the checkpoints of a deleted thread, and contents that no other thread uses", async () => {
  const fixture = await CheckpointFixture.make(temporaryFolder, { graceMs: 0 });
  const path = fixture.workspace.join("one");
  writeFileSync(path, "old");
  await fixture.edit(["one"], () => writeFileSync(path, "new"));
  const other = await fixture.begin("other-turn", "other-thread");
  other.saveFiles(["one"]);
  writeFileSync(path, "newest");
  await other.end();
  expect(fixture.stored("blobs")).toHaveLength(2);
  await fixture.checkpoints.remove("thread");
  await fixture.checkpoints.settled();
  expect(fixture.stored("blobs")).toHaveLength(1);
  expect(existsSync(fixture.state.join("checkpoints", "threads", "thread"))).toBe(false);
  const cwd = fixture.workspace.path;
  const { files } = await fixture.checkpoints.restore(
    { threadId: "other-thread", turnIds: ["other-turn"], cwd },
    "revert",
  );
  expect(files).toMatchObject([{ path: "one", action: "restore" }]);
  expect(fixture.contents()).toEqual({ one: "644 new" });
});

test("does not sweep what another server is about to record", async () => {
  const fixture = await CheckpointFixture.make(temporaryFolder);
  writeFileSync(fixture.workspace.join("one"), "old");
  const turn = await fixture.begin("turn");
  turn.saveFiles(["one"]);
  const sweeper = new FileCheckpoints({ root: fixture.state.path });
  await sweeper.remove("some-thread");
  await sweeper.settled();
  expect(fixture.stored("blobs")).toHaveLength(1);
  await turn.end();
});

test("saves contents again that were swept while the server was running", async () => {
  const plan: FaultPlan = { calls: [] };
  const fixture = await CheckpointFixture.make(temporaryFolder, { graceMs: 0, disk: faultyDisk(plan) });
  const path = fixture.workspace.join("one");
  writeFileSync(path, "old");
  await fixture.command(() => writeFileSync(path, "of a thread that is deleted"));
  // Until the file is old enough that it is not read again.
  do {
    plan.calls.length = 0;
    await (await fixture.begin()).saveWorkspace(new AbortController().signal);
  } while (plan.calls.includes("read"));
  await fixture.checkpoints.remove("thread");
  await fixture.checkpoints.settled();
  expect(fixture.stored("blobs")).toHaveLength(1);
  const turnId = await fixture.command(() => writeFileSync(path, "new"));
  await fixture.restore([turnId]);
  expect(fixture.contents()).toEqual({ one: "644 of a thread that is deleted" });
});

test("deletes the checkpoints of an ephemeral thread when the server stops", async () => {
  const fixture = await CheckpointFixture.make(temporaryFolder);
  const path = fixture.workspace.join("one");
  writeFileSync(path, "old");
  const turn = await fixture.checkpoints.begin({
    ...{ threadId: "fleeting", turnId: "turn", roots: [fixture.workspace.path], ephemeral: true },
    onError: () => undefined,
  });
  turn.saveFiles(["one"]);
  writeFileSync(path, "new");
  await turn.end();
  const cwd = fixture.workspace.path;
  const requested = { threadId: "fleeting", turnIds: ["turn"], cwd };
  expect((await fixture.checkpoints.preview(requested)).files).toHaveLength(1);
  expect(fixture.stored("ephemeral")).toHaveLength(1);
  await fixture.checkpoints.close();
  expect(fixture.stored("ephemeral")).toEqual([]);
});
