import { readFileSync, writeFileSync } from "node:fs";
import { FileCheckpoints } from "@flint/host/checkpoints";
import { Gate, temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { SessionFixture } from "../testing/session-fixture.ts";

const ENTER = "\r";
const ESCAPE = "\u001b";
const DOWN = "\u001b[B";

test("a rewind shows the diff of the files before it restores them, and is undone with turns and files", async () => {
  const folder = await temporaryFolder();
  const state = await temporaryFolder();
  const gate = new Gate();
  const file = folder.join("a.txt");
  writeFileSync(file, "before\n");
  const changes = [{ path: file, kind: "modify" as const, diff: "@@ -1,1 +1,1 @@\n-before\n+after\n" }];
  const session = await SessionFixture.open({
    ...{ folder: folder.path, cwd: folder.path, rows: 40, approvalPolicy: "never" },
    checkpoints: new FileCheckpoints({ root: state.path, graceMs: 0 }),
    scripts: [[{ text: "ok" }], [{ fileChange: changes }, { wait: gate }, { text: "changed" }]],
  });
  const screen = async () => {
    // The folder is read in real time, and drawn in the test's.
    await session.settle(100);
    return session.terminal.screen.join("\n");
  };
  const shows = (text: string | RegExp) => expect.poll(screen, { timeout: 20_000 }).toMatch(text);
  await session.keys("first", ENTER, "second", ENTER);
  await gate.reached;
  writeFileSync(file, "after\n");
  gate.open();
  await shows(/changed[\s\S]*Ask for something/);

  await session.keys(ESCAPE, ESCAPE, ENTER);
  await shows("Restore 1 file  a.txt");
  await session.keys(DOWN, DOWN, ENTER);
  expect(session.terminal.isAlternate).toBe(true);
  expect(await screen()).toMatch(/Change a\.txt \+1 −1[\s\S]*-after\n\+before/);
  expect(readFileSync(file, "utf8")).toBe("after\n");
  await session.keys("q");
  await shows("Remove the turns since then and edit the prompt");
  await session.keys("\u001b[A", ENTER);
  await shows("1 turn removed, files restored. Undo with /undo.");
  expect(readFileSync(file, "utf8")).toBe("before\n");
  expect(await screen()).toContain("› second");

  await session.keys("\u0003", "/undo", ENTER);
  await shows("Rewind undone; turns restored: 1.");
  expect(readFileSync(file, "utf8")).toBe("after\n");
  await session.keys("/transcript", ENTER);
  expect(await screen()).toContain("changed");
});
