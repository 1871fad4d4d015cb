import { mkdirSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { mintId } from "@flint/protocol";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { CHANGING_CALLS, type DiskPlan, faultyDisk, Workbench } from "./testing/fixture.ts";

const NEVER = new AbortController().signal;

/** A workspace whose disk does what the plan says, with a turn that changed two files, made one and removed one. */
async function changed(plan: DiskPlan) {
  const bench = await Workbench.make(temporaryFolder, { disk: faultyDisk(plan) });
  const { workspace } = bench;
  for (const name of ["one", "two", "gone"]) writeFileSync(workspace.join(name), `old ${name}`);
  const before = bench.picture();
  const turnId = await bench.command(() => change(bench));
  return { bench, before, after: bench.picture(), turnId };
}

function change({ workspace }: Workbench): void {
  for (const name of ["one", "two"]) writeFileSync(workspace.join(name), `new ${name}`);
  mkdirSync(workspace.join("folder"));
  writeFileSync(workspace.join("folder", "made"), "made");
  unlinkSync(workspace.join("gone"));
}

describe("a server that is killed", () => {
  test("at any step of a revert leaves each file old or new, and the revert can be repeated", async () => {
    const plan: DiskPlan = { calls: [] };
    const { bench, turnId } = await changed(plan);
    plan.calls.length = 0;
    await bench.restore([turnId]);
    const steps = plan.calls.flatMap((call, at) => (CHANGING_CALLS.has(call) ? [at + 1] : []));
    expect(steps.length).toBeGreaterThan(15);
    for (const step of steps) await expectSafeAt(step);
  });

  async function expectSafeAt(step: number): Promise<void> {
    const plan: DiskPlan = { calls: [] };
    const { bench, before, after, turnId } = await changed(plan);
    plan.calls.length = 0;
    plan.fails = (_call, _path, count) => (count >= step ? "crash" : undefined);
    await bench.restore([turnId]).catch(() => undefined);
    const left = bench.picture();
    for (const [path, content] of Object.entries(left)) {
      if (/^(folder\/)?\.flint-.*\.tmp$/.test(path)) continue;
      expect([before[path], after[path]], `${path} after a crash at step ${step}`).toContain(content);
    }
    bench.restart();
    expect((await bench.restore([turnId])).conflicts).toEqual([]);
    expect(bench.picture()).toEqual(before);
  }

  test("while it saves leaves nothing that counts, and what was changed is still undone if it was saved", async () => {
    const plan: DiskPlan = { calls: [] };
    const bench = await Workbench.make(temporaryFolder, { disk: faultyDisk(plan) });
    writeFileSync(bench.workspace.join("one"), "old");
    const turnId = mintId();
    const turn = await bench.begin(turnId);
    plan.fails = (call, path) => (call === "write" || path.includes("journal") ? "crash" : undefined);
    turn.saveFiles(["one"]);
    await turn.end();
    bench.restart();
    const { files, savedTurnIds } = await bench.preview(turnId);
    expect([files, savedTurnIds]).toEqual([[], []]);
  });

  test("between the parts of a note in the journal costs only that note", async () => {
    const bench = await Workbench.make(temporaryFolder);
    for (const name of ["one", "two"]) writeFileSync(bench.workspace.join(name), "old");
    const turnId = mintId();
    const turn = await bench.begin(turnId);
    turn.saveFiles(["one"]);
    const [journal = ""] = readdirSync(bench.state.join("checkpoints", "threads", "thread"));
    const path = bench.state.join("checkpoints", "threads", "thread", journal);
    writeFileSync(path, `${readFileSync(path, "utf8")}\n{"path":"/half`, "utf8");
    turn.saveFiles(["two"]);
    for (const name of ["one", "two"]) writeFileSync(bench.workspace.join(name), "new");
    bench.restart();
    const { files } = await bench.restore([turnId]);
    expect(files.map((file) => file.path).sort()).toEqual(["one", "two"]);
  });
});

describe("a full disk", () => {
  test("while a turn is saved is reported once, and does not block the turn", async () => {
    const plan: DiskPlan = { calls: [], fails: (call) => (call === "write" ? "ENOSPC" : undefined) };
    const bench = await Workbench.make(temporaryFolder, { disk: faultyDisk(plan) });
    writeFileSync(bench.workspace.join("one"), "old");
    const turnId = mintId();
    const turn = await bench.begin(turnId);
    turn.saveFiles(["one"]);
    await turn.saveWorkspace(NEVER);
    writeFileSync(bench.workspace.join("one"), "new");
    await turn.end();
    expect(bench.failures).toHaveLength(1);
    plan.fails = undefined;
    expect((await bench.preview(turnId)).files).toEqual([]);
    const next = await bench.edit(["one"], () => writeFileSync(bench.workspace.join("one"), "newer"));
    expect((await bench.preview(next)).files).toMatchObject([{ path: "one" }]);
  });

  test("while a revert saves what is there now refuses it before any file is touched", async () => {
    const plan: DiskPlan = { calls: [] };
    const { bench, after, turnId } = await changed(plan);
    plan.fails = (call) => (call === "write" ? "ENOSPC" : undefined);
    await expect(bench.restore([turnId])).rejects.toMatchObject({
      kind: "storageFailed",
      message: expect.stringContaining("No file was touched"),
    });
    expect(bench.picture()).toEqual(after);
  });

  test("while a file is put back leaves that file as it was, and the others are put back", async () => {
    const plan: DiskPlan = { calls: [] };
    const { bench, before, after, turnId } = await changed(plan);
    let isPuttingBack = false;
    plan.fails = (call, path) => {
      if (call === "open") isPuttingBack = path.includes(".flint-");
      return call === "write" && isPuttingBack && bench.picture().one === before.one ? "ENOSPC" : undefined;
    };
    const { conflicts } = await bench.restore([turnId]);
    expect(conflicts.length).toBeGreaterThan(0);
    expect(conflicts.every(({ reason }) => reason === "failed")).toBe(true);
    for (const { path } of conflicts) expect(bench.picture()[path]).toBe(after[path]);
    expect(Object.keys(bench.picture()).filter((name) => name.includes(".flint-"))).toEqual([]);
  });
});

test("a file that somebody changes while files are put back is left alone", async () => {
  const plan: DiskPlan = { calls: [] };
  const { bench, turnId } = await changed(plan);
  plan.fails = (call, path) => {
    if (call === "rename" && path.includes(".applying")) writeFileSync(bench.workspace.join("one"), "mine");
    return undefined;
  };
  const { conflicts } = await bench.restore([turnId]);
  expect(conflicts).toMatchObject([{ path: "one", reason: "changedSince" }]);
  expect(bench.picture()).toMatchObject({ one: "644 mine", two: "644 old two" });
});

test("content that was damaged on the disk is not put back", async () => {
  const { bench, after, turnId } = await changed({ calls: [] });
  const folder = bench.state.join("checkpoints", "blobs");
  for (const prefix of readdirSync(folder)) {
    for (const name of readdirSync(`${folder}/${prefix}`))
      writeFileSync(`${folder}/${prefix}/${name}`, "damaged");
  }
  const { conflicts } = await bench.restore([turnId]);
  expect(conflicts.map(({ path, reason }) => `${path}: ${reason}`).sort()).toEqual([
    "gone: notSaved",
    "one: notSaved",
    "two: notSaved",
  ]);
  expect(bench.picture()).toMatchObject({ one: after.one, two: after.two });
});
