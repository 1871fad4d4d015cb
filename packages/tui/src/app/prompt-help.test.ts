import { writeFile } from "node:fs/promises";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { SessionFixture } from "../testing/session-fixture.ts";

const ENTER = "\r";
const UP = "\u001b[A";
const TAB = "\t";
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

test("the arrow keys recall earlier prompts, also in a later session", async () => {
  const { path: notesFolder } = await temporaryFolder();
  const first = await SessionFixture.open({ notesFolder, scripts: [[{ text: "ok" }]] });
  await first.keys("remember me", ENTER);
  const second = await SessionFixture.open({ notesFolder });
  await second.keys(UP);
  expect(second.terminal.screen.join("\n")).toContain("› remember me");
});

test("a draft is there again when the session is opened the next time", async () => {
  const { path: notesFolder } = await temporaryFolder();
  const first = await SessionFixture.open({ notesFolder });
  await first.keys("half a thou");
  first.app.close(0);
  const second = await SessionFixture.open({ notesFolder });
  expect(second.terminal.screen.join("\n")).toContain("› half a thou");
  await second.keys(CTRL_D);
});

test("a draft is there again after the terminal was killed", async () => {
  const { path: notesFolder } = await temporaryFolder();
  const killed = await SessionFixture.open({ notesFolder });
  await killed.keys("half a thou");
  await killed.settle(1_000);
  expect(killed.timers).toBe(0);
  const next = await SessionFixture.open({ notesFolder });
  expect(next.terminal.screen.join("\n")).toContain("› half a thou");
});

test("a draft that was sent is not there again", async () => {
  const { path: notesFolder } = await temporaryFolder();
  const session = await SessionFixture.open({ notesFolder, scripts: [[{ text: "ok" }]] });
  await session.keys("a whole thought");
  await session.settle(1_000);
  await session.keys(ENTER);
  await session.settle(1_000);
  const next = await SessionFixture.open({ notesFolder });
  expect(next.terminal.screen.join("\n")).not.toContain("a whole thought");
});

test("commands are completed while they are typed", async () => {
  const session = await SessionFixture.open();
  await session.keys("/perm");
  expect(session.terminal.screen.join("\n")).toContain("permissions");
  await session.keys(TAB);
  expect(session.terminal.screen.join("\n")).toContain("› /permissions");
});

test("Enter on the argument of a command carries the command out", async () => {
  const session = await SessionFixture.open();
  await session.keys("/permissions pl", ENTER);
  expect(session.terminal.screen.join("\n")).toContain("Permissions: plan");
});

test("files are completed after @", async () => {
  const { path: folder } = await temporaryFolder();
  await writeFile(`${folder}/needle.ts`, "");
  const session = await SessionFixture.open({ folder });
  await session.keys("@need");
  const screen = async () => {
    // The folder is read in real time, and drawn in the test's.
    await session.settle(100);
    return session.terminal.screen.join("\n");
  };
  await expect.poll(screen, { timeout: 20_000 }).toContain("needle.ts");
  await session.keys(TAB);
  expect(session.terminal.screen.join("\n")).toContain("› @needle.ts");
});

test("files after @ are those of the thread's folder, also when that is not the session's", async () => {
  const { path: folder } = await temporaryFolder();
  const { path: elsewhere } = await temporaryFolder();
  await writeFile(`${folder}/needle-here.ts`, "");
  await writeFile(`${elsewhere}/needle-there.ts`, "");
  const session = await SessionFixture.open({ folder, scripts: [[{ text: "ok" }]] });
  const screen = async () => {
    await session.settle(100);
    return session.terminal.screen.join("\n");
  };
  await session.keys("@need");
  await expect.poll(screen, { timeout: 20_000 }).toContain("needle-here.ts");
  await session.keys(CTRL_C, CTRL_C);
  const other = await session.connect();
  const { id } = await other.startThread({ cwd: elsewhere });
  await session.keys(`/resume ${id}`, ENTER, "@need");
  await expect.poll(screen, { timeout: 20_000 }).toContain("needle-there.ts");
  expect(await screen()).not.toContain("needle-here.ts");
});

test("Ctrl-R finds an earlier prompt by some of its letters", async () => {
  const { path } = await temporaryFolder();
  const scripts = [[{ text: "A" }], [{ text: "B" }]];
  const session = await SessionFixture.open({ notesFolder: path, scripts });
  await session.keys("fix the build", ENTER, "run the tests", ENTER, "\u0012", "buil", ENTER);
  expect(session.terminal.screen.join("\n")).toMatch(/› fix the build\n {2}scripted/);
});
