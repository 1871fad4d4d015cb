import { expect, test } from "vitest";
import { SessionFixture, type SessionFixtureOptions } from "../testing/session-fixture.ts";

const ENTER = "\r";
const PAGE_UP = "\u001b[5~";
const PAGE_DOWN = "\u001b[6~";
const READ_FIRST = "Read it to its end before you allow it";

const LONG = Array.from({ length: 60 }, (_, index) => `echo line ${index + 1}`).join("\n");

/** A session that is asked about a command. */
async function asked(command: string, options: SessionFixtureOptions = {}) {
  const session = await SessionFixture.open({ screen: "full", scripts: [[{ command }]], ...options });
  await session.keys("go", ENTER);
  const decisions = () => session.engine.driver.sessions[0]?.turns[0]?.decisions ?? [];
  return { session, decisions, screen: () => session.terminal.screen.join("\n") };
}

test("on the full screen, what is longer than its room is allowed once its end was read", async () => {
  const { session, screen, decisions } = await asked(LONG);
  expect(screen()).toContain("echo line 60");
  expect(screen()).not.toContain("echo line 20\n");
  expect(screen().replace(/\s+/g, " ")).toContain(`${READ_FIRST}. v shows it on the whole screen`);
  await session.keys("y", "\u001b[B", ENTER);
  expect(decisions()).toEqual([]);
  await session.keys("v");
  expect(screen()).toContain("echo line 1\n");
  await session.keys("q", "y");
  expect(decisions()).toEqual([]);
  await session.keys("v", PAGE_DOWN, PAGE_DOWN, PAGE_DOWN);
  expect(screen()).toContain("echo line 60");
  await session.keys("q");
  expect(screen()).not.toContain(READ_FIRST);
  await session.keys("y");
  expect(decisions()).toHaveLength(1);
});

test("on the full screen, what is longer than its room is declined without reading it", async () => {
  const { session, decisions } = await asked(LONG);
  await session.keys("n");
  expect(decisions()).toHaveLength(1);
});

test("on the full screen, what fits is allowed at once, and shown again when the window has another size", async () => {
  const { session, screen, decisions } = await asked("make all");
  session.terminal.resize(60, 20);
  await session.settle();
  expect(screen()).toContain("$ make all\n");
  expect(screen()).not.toContain(READ_FIRST);
  await session.keys("y");
  expect(decisions()).toHaveLength(1);
});

test("on the full screen, no character of a command is cut off at the edge", async () => {
  const command = Array.from({ length: 60 }, (_, index) => String(index).padStart(4, "0")).join("");
  const { session } = await asked(command, { columns: 40 });
  expect(session.terminal.screen.map((row) => row.trim()).join("")).toContain(command);
});

test("inline, what is longer than the screen says how to see it as a whole, and is above to scroll to", async () => {
  const { session, screen, decisions } = await asked(LONG, { screen: "inline" });
  expect(screen()).toContain("v shows it on the whole screen");
  await session.keys("y");
  expect(decisions()).toHaveLength(1);
});

test.each(["inline", "full"] as const)("Page Up opens the transcript (%s)", async (screen) => {
  const scripts = [[{ text: "Hello" }], [{ command: "make" }]];
  const session = await SessionFixture.open({ screen, scripts });
  await session.keys("hi", ENTER, PAGE_UP);
  expect(session.terminal.screen.at(-1)).toContain("q close");
  await session.keys("q", "again", ENTER, PAGE_UP);
  expect(session.terminal.screen.at(-1)).toContain("q close");
});
