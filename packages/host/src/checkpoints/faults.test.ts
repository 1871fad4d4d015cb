import { mkdirSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { mintId } from "@flint/protocol";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { CHANGING_CALLS, CheckpointFixture, type FaultPlan, faultyDisk } from "./testing/fixture.ts";

const NEVER = new AbortController().signal;

/** A workspace on a disk with planned faults, and a turn that changed two files, created one and deleted one. */
async function changed(plan: FaultPlan) {
  const fixture = await CheckpointFixture.make(temporaryFolder, { disk: faultyDisk(plan) });
  const { workspace } = fixture;
  for (const name of ["one", "two", "gone"]) writeFileSync(workspace.join(name), `old ${name}`);
  const before = fixture.contents();
  const turnId = await fixture.command(() => change(fixture));
  return { fixture, before, after: fixture.contents(), turnId };
}

function change({ workspace }: CheckpointFixture): void {
  for (const name of ["one", "two"]) writeFileSync(workspace.join(name), `new ${name}`);
  mkdirSync(workspace.join("folder"));
  writeFileSync(workspace.join("folder", "made"), "made");
  unlinkSync(workspace.join("gone"));
}

describe("a server that is killed", () => {
  test("at any step of a revert leaves each file old or new, and the revert can be repeated", async () => {
    const plan: FaultPlan = { calls: [] };
    const { fixture, turnId } = await changed(plan);
    plan.calls.length = 0;
    await fixture.restore([turnId]);
    const steps = plan.calls.flatMap((call, at) => (CHANGING_CALLS.has(call) ? [at + 1] : []));
    expect(steps.length).toBeGreaterThan(15);
    for (const step of steps) await expectSafeAt(step);
  });

  async function expectSafeAt(step: number): Promise<void> {
    const plan: FaultPlan = { calls: [] };
    const { fixture, before, after, turnId } = await changed(plan);
    plan.calls.length = 0;
    plan.fails = (_call, _path, count) => (count >= step ? "crash" : undefined);
    await fixture.restore([turnId]).catch(() => undefined);
    const left = fixture.contents();
    for (const [path, content] of Object.entries(left)) {
      if (/^(folder\/)?\.flint-.*\.(tmp|old)$/.test(path)) continue;
      expect([before[path], after[path]], `${path} after a crash at step ${step}`).toContain(content);
    }
    fixture.restart();
    expect((await fixture.restore([turnId])).conflicts).toEqual([]);
    expect(fixture.contents()).toEqual(before);
  }

  test("while saving leaves no partial record, and changes that were saved can still be undone", async () => {
    const plan: FaultPlan = { calls: [] };
    const fixture = await CheckpointFixture.make(temporaryFolder, { disk: faultyDisk(plan) });
    writeFileSync(fixture.workspace.join("one"), "old");
    const turnId = mintId();
    const turn = await fixture.begin(turnId);
    plan.fails = (call, path) => (call === "write" || path.includes("journal") ? "crash" : undefined);
    turn.saveFiles(["one"]);
    await turn.end();
    fixture.restart();
    const { files, savedTurnIds } = await fixture.preview(turnId);
    expect([files, savedTurnIds]).toEqual([[], []]);
  });

  test("in the middle of a journal line loses only that line", async () => {
    const fixture = await CheckpointFixture.make(temporaryFolder);
    for (const name of ["one", "two"]) writeFileSync(fixture.workspace.join(name), "old");
    const turnId = mintId();
    const turn = await fixture.begin(turnId);
    turn.saveFiles(["one"]);
    const [journal = ""] = readdirSync(fixture.state.join("checkpoints", "threads", "thread"));
    const path = fixture.state.join("checkpoints", "threads", "thread", journal);
    writeFileSync(path, `${readFileSync(path, "utf8")}\n{"path":"/half`, "utf8");
    turn.saveFiles(["two"]);
    for (const name of ["one", "two"]) writeFileSync(fixture.workspace.join(name), "new");
    fixture.restart();
    const { files } = await fixture.restore([turnId]);
    expect(files.map((file) => file.path).sort()).toEqual(["one", "two"]);
  });
});

describe("a full disk", () => {
  test("while a turn is saved is reported once and does not block the turn", async () => {
    const plan: FaultPlan = { calls: [], fails: (call) => (call === "write" ? "ENOSPC" : undefined) };
    const fixture = await CheckpointFixture.make(temporaryFolder, { disk: faultyDisk(plan) });
    writeFileSync(fixture.workspace.join("one"), "old");
    const turnId = mintId();
    const turn = await fixture.begin(turnId);
    turn.saveFiles(["one"]);
    await turn.saveWorkspace(NEVER);
    writeFileSync(fixture.workspace.join("one"), "new");
    await turn.end();
    expect(fixture.failures).toHaveLength(1);
    plan.fails = undefined;
    expect((await fixture.preview(turnId)).files).toEqual([]);
    const next = await fixture.edit(["one"], () => writeFileSync(fixture.workspace.join("one"), "newer"));
    expect((await fixture.preview(next)).files).toMatchObject([{ path: "one" }]);
  });

  test("while a revert saves the current files fails it before any file is changed", async () => {
    const plan: FaultPlan = { calls: [] };
    const { fixture, after, turnId } = await changed(plan);
    plan.fails = (call) => (call === "write" ? "ENOSPC" : undefined);
    await expect(fixture.restore([turnId])).rejects.toMatchObject({
      kind: "storageFailed",
      message: expect.stringContaining("No file was touched"),
    });
    expect(fixture.contents()).toEqual(after);
  });

  test("while a file is restored leaves that file as it was and restores the others", async () => {
    const plan: FaultPlan = { calls: [] };
    const { fixture, before, after, turnId } = await changed(plan);
    let isPuttingBack = false;
    plan.fails = (call, path) => {
      if (call === "open") isPuttingBack = path.includes(".flint-");
      return call === "write" && isPuttingBack && fixture.contents().one === before.one
        ? "ENOSPC"
        : undefined;
    };
    const { conflicts } = await fixture.restore([turnId]);
    expect(conflicts.length).toBeGreaterThan(0);
    expect(conflicts.every(({ reason }) => reason === "failed")).toBe(true);
    for (const { path } of conflicts) expect(fixture.contents()[path]).toBe(after[path]);
    expect(Object.keys(fixture.contents()).filter((name) => name.includes(".flint-"))).toEqual([]);
  });
});

test("leaves a file alone that changes while files are restored", async () => {
  const plan: FaultPlan = { calls: [] };
  const { fixture, turnId } = await changed(plan);
  plan.fails = (call, path) => {
    if (call === "rename" && path.includes(".applying")) writeFileSync(fixture.workspace.join("one"), "mine");
    return undefined;
  };
  const { conflicts } = await fixture.restore([turnId]);
  expect(conflicts).toMatchObject([{ path: "one", reason: "changedSince" }]);
  expect(fixture.contents()).toMatchObject({ one: "644 mine", two: "644 old two" });
});

test("does not restore content that was damaged on the disk", async () => {
  const { fixture, after, turnId } = await changed({ calls: [] });
  const folder = fixture.state.join("checkpoints", "blobs");
  for (const prefix of readdirSync(folder)) {
    for (const name of readdirSync(`${folder}/${prefix}`))
      writeFileSync(`${folder}/${prefix}/${name}`, "damaged");
  }
  const { conflicts } = await fixture.restore([turnId]);
  expect(conflicts.map(({ path, reason }) => `${path}: ${reason}`).sort()).toEqual([
    "gone: notSaved",
    "one: notSaved",
    "two: notSaved",
  ]);
  expect(fixture.contents()).toMatchObject({ one: after.one, two: after.two });
});
