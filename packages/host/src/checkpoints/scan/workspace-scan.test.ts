import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { Blobs } from "../disk/blobs.ts";
import { type FaultPlan, faultyDisk } from "../testing/fixture.ts";
import type { Manifest } from "./manifest.ts";
import { DEFAULT_LIMITS, type ScanOptions, scanWorkspace } from "./workspace-scan.ts";

/** A folder with this many old files, ten in each subfolder, and a function to scan it. */
async function repository(files: number) {
  const workspace = await temporaryFolder();
  const state = await temporaryFolder();
  for (let folder = 0; folder < files / 10; folder += 1) {
    mkdirSync(workspace.join(`folder-${folder}`));
    for (let file = 0; file < 10; file += 1) {
      writeFileSync(workspace.join(`folder-${folder}`, `file-${file}`), `content ${folder % 7} ${file}`);
    }
  }
  const plan: FaultPlan = { calls: [] };
  const disk = faultyDisk(plan);
  const options: ScanOptions = {
    ...{ disk, blobs: new Blobs(disk, state.join("blobs")), limit: DEFAULT_LIMITS.file },
    ...{ limits: DEFAULT_LIMITS, roots: [workspace.path], stateFolder: state.path },
    signal: new AbortController().signal,
  };
  const look = async (previous?: Manifest) => {
    plan.calls.length = 0;
    return scanWorkspace(options, previous);
  };
  return { workspace, plan, look, options };
}

/** Waits until the timestamps of recently changed files can be relied on. */
async function settledScan(look: (previous?: Manifest) => Promise<Manifest>): Promise<Manifest> {
  let manifest = await look();
  while ([...manifest.entries.values()].some(({ entry, settled }) => entry.kind === "file" && !settled)) {
    manifest = await look(manifest);
  }
  return manifest;
}

test("finds all of 10,000 files, and a later scan reads only what changed", async () => {
  const { workspace, plan, look } = await repository(10_000);
  const first = await settledScan(look);
  expect([...first.entries.values()].filter(({ entry }) => entry.kind === "file")).toHaveLength(10_000);
  await look(first);
  expect(plan.calls.filter((call) => call === "open")).toHaveLength(0);
  writeFileSync(workspace.join("folder-3", "file-3"), "changed");
  rmSync(workspace.join("folder-4", "file-4"));
  const second = await look(first);
  expect(plan.calls.filter((call) => call === "readLink" || call === "read")).toHaveLength(1);
  expect(second.entries.get(workspace.join("folder-5", "file-5"))).toBe(
    first.entries.get(workspace.join("folder-5", "file-5")),
  );
}, 60_000);

test("a scan yields to other work", async () => {
  const { look } = await repository(3_000);
  let turns = 0;
  let isLooking = true;
  const others = (async () => {
    while (isLooking) {
      await new Promise((resolve) => setImmediate(resolve));
      turns += 1;
    }
  })();
  await look();
  isLooking = false;
  await others;
  expect(turns).toBeGreaterThan(3);
});

test("reads a file again that changed within the resolution of its timestamp", async () => {
  const { workspace, look } = await repository(10);
  const path = workspace.join("folder-0", "file-0");
  writeFileSync(path, "one");
  const first = await look();
  // The same size and, where the clock is coarse, the same time.
  writeFileSync(path, "two");
  const second = await look(first);
  expect(second.entries.get(path)?.entry).not.toEqual(first.entries.get(path)?.entry);
});

test("notices a changed file whose times were reset", async () => {
  const { workspace, look } = await repository(10);
  const path = workspace.join("folder-0", "file-0");
  utimesSync(path, 1, 1);
  const first = await settledScan(look);
  writeFileSync(path, "CONTENT 0 0");
  utimesSync(path, 1, 1);
  const second = await look(first);
  expect(second.entries.get(path)?.entry).not.toEqual(first.entries.get(path)?.entry);
});

test("applies ignore rules from the repository root down, and a changed rule at once", async () => {
  const { workspace, look, options } = await repository(20);
  mkdirSync(workspace.join(".git"));
  writeFileSync(workspace.join(".gitignore"), "file-1\n");
  writeFileSync(workspace.join("folder-1", ".gitignore"), "!file-1\nfile-2\n");
  const kind = (manifest: Manifest, ...names: string[]) =>
    manifest.entries.get(workspace.join(...names))?.entry.kind;
  const first = await look();
  expect([kind(first, "folder-0", "file-1"), kind(first, "folder-1", "file-1")]).toEqual(["unsaved", "file"]);
  expect(kind(first, "folder-1", "file-2")).toBe("unsaved");
  const below = await scanWorkspace({ ...options, roots: [workspace.join("folder-0")] }, undefined);
  expect([kind(below, "folder-0", "file-1"), kind(below, "folder-0", "file-2")]).toEqual(["unsaved", "file"]);
  writeFileSync(workspace.join(".gitignore"), "file-3\n");
  const second = await look(first);
  expect([kind(second, "folder-0", "file-1"), kind(second, "folder-0", "file-3")]).toEqual([
    "file",
    "unsaved",
  ]);
});

test("an aborted scan stops", async () => {
  const { options } = await repository(2_000);
  const stop = new AbortController();
  const looking = scanWorkspace({ ...options, signal: stop.signal }, undefined);
  stop.abort();
  await expect(looking).rejects.toThrow();
});
