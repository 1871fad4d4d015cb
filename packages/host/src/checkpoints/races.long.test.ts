import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { mintId } from "@flint/protocol";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { CheckpointFixture, type FaultPlan, faultyDisk } from "./testing/fixture.ts";

/** The ways in which programs save a file. */
const SAVES: Readonly<Record<string, (path: string, text: string) => void>> = {
  "in place": (path, text) => writeFileSync(path, text),
  "by a rename": (path, text) => {
    writeFileSync(`${path}~`, text);
    renameSync(`${path}~`, path);
  },
};

const WAYS_AND_KINDS = Object.keys(SAVES).flatMap((way) => [
  [way, "restore"] as const,
  [way, "undo"] as const,
]);

async function changedFile(plan: FaultPlan) {
  const fixture = await CheckpointFixture.make(temporaryFolder, { disk: faultyDisk(plan) });
  const path = fixture.workspace.join("one");
  writeFileSync(path, "old");
  const turnId = await fixture.command(() => writeFileSync(path, "new"));
  return { fixture, path, turnId };
}

describe("a save by another program during a revert", () => {
  test.each(WAYS_AND_KINDS)("%s, before any call of a %s, is never lost", async (way, kind) => {
    let tries = 0;
    for (let hasSaved = true; hasSaved; tries += 1) {
      const plan: FaultPlan = { calls: [] };
      const { fixture, path, turnId } = await changedFile(plan);
      const revertId = mintId();
      if (kind === "undo") await fixture.restore([turnId], revertId);
      plan.calls.length = 0;
      hasSaved = false;
      plan.fails = (_call, _path, count) => {
        if (count !== tries + 1) return undefined;
        SAVES[way]?.(path, "mine");
        hasSaved = true;
        return undefined;
      };
      const outcome = kind === "undo" ? await fixture.undo(revertId) : await fixture.restore([turnId]);
      if (hasSaved) expect(readFileSync(path, "utf8"), `saved before call ${tries + 1}`).toBe("mine");
      else expect(outcome).toMatchObject({ files: [{ path: "one" }], conflicts: [] });
    }
    expect(tries).toBeGreaterThan(40);
  });

  test("through a file it has open is not lost while the revert runs", async () => {
    const plan: FaultPlan = { calls: [] };
    const { fixture, path, turnId } = await changedFile(plan);
    const file = openSync(path, "r+");
    plan.fails = (call, given) => {
      if (call === "link" && given.includes(".flint-")) writeSync(file, "MINE", 0);
      return undefined;
    };
    expect((await fixture.restore([turnId])).conflicts).toMatchObject([
      { path: "one", reason: "changedSince" },
    ]);
    closeSync(file);
    expect(fixture.contents()).toEqual({ one: "644 MINE" });
  });

  test("into a folder that is about to be deleted keeps the folder", async () => {
    const plan: FaultPlan = { calls: [] };
    const fixture = await CheckpointFixture.make(temporaryFolder, { disk: faultyDisk(plan) });
    const turnId = await fixture.command(() => mkdirSync(fixture.workspace.join("folder")));
    plan.fails = (call) => {
      if (call === "removeFolder") writeFileSync(fixture.workspace.join("folder", "mine"), "mine");
      return undefined;
    };
    expect((await fixture.restore([turnId])).conflicts).toMatchObject([
      { path: "folder", reason: "notEmpty" },
    ]);
    expect(fixture.contents()).toMatchObject({ "folder/mine": "644 mine" });
  });
});

/** Saves the file once for each line on stdin, after the delay in it, and answers each with a line. */
const SAVER = `
const fs = require("node:fs");
const [path, way] = process.argv.slice(1);
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const until = process.hrtime.bigint() + BigInt(line);
  while (process.hrtime.bigint() < until);
  if (way === "in place") fs.writeFileSync(path, "mine");
  else { fs.writeFileSync(path + "~", "mine"); fs.renameSync(path + "~", path); }
  process.stdout.write("saved\\n");
});
`;

test.each(Object.keys(SAVES))(
  "60 saves of another process %s at random moments of a revert are never lost",
  { timeout: 120_000 },
  async (way) => {
    const { fixture, path } = await changedFile({ calls: [] });
    const saver = spawn(process.execPath, ["-e", SAVER, path, way], { stdio: ["pipe", "pipe", "inherit"] });
    try {
      await save(saver, 0);
      let nanoseconds = 0;
      for (let attempt = 0; attempt < 60; attempt += 1) {
        writeFileSync(path, "old");
        const turnId = await fixture.edit(["one"], () => writeFileSync(path, "new"));
        const saved = save(saver, Math.floor(Math.random() * (nanoseconds + 200_000)));
        const startedAt = process.hrtime.bigint();
        await fixture.restore([turnId]);
        nanoseconds = Math.min(5_000_000, Number(process.hrtime.bigint() - startedAt));
        await saved;
        expect(readFileSync(path, "utf8"), `attempt ${attempt}`).toBe("mine");
      }
    } finally {
      saver.kill();
      await once(saver, "exit");
    }
  },
);

async function save(saver: ChildProcess, nanoseconds: number): Promise<void> {
  saver.stdin?.write(`${nanoseconds}\n`);
  if (saver.stdout !== null) await once(saver.stdout, "data");
}
