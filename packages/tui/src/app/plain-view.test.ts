import { Gate } from "@flint/testkit";
import { expect, test } from "vitest";
import { SessionFixture, type SessionFixtureOptions } from "../testing/session-fixture.ts";

const ENTER = "\r";
const DOWN = "\u001b[B";
const DIFF = "@@ -1,1 +1,1 @@\n-before\n+after\n";
const CHANGES = [{ path: "/code/a.ts", kind: "modify" as const, diff: DIFF }];

const open = (options: SessionFixtureOptions = {}) => SessionFixture.open({ screen: "plain", ...options });

/** Returns the text that keys print. */
async function printed(session: SessionFixture, ...keys: readonly string[]): Promise<string> {
  const before = session.terminal.writes.length;
  await session.keys(...keys);
  return session.terminal.writes.slice(before).join("").replaceAll("\r\n", "\n");
}

test("a turn is labelled lines: the prompt once, the answer, commands and changes by name", async () => {
  const table = "| file | lines |\n|---|---|\n| a.ts | 2 |";
  const session = await open({
    scripts: [
      [{ text: "Hello" }, { command: "make" }, { fileChange: CHANGES, asks: false }, { text: table }],
    ],
  });
  const asked = await printed(session, "h", "i", ENTER);
  expect(asked).toContain("Approval: The agent wants to run a command\n  in /code\n  $ make\n");
  expect(asked).toContain("  [y] once  Allow it this time\n");
  expect(await printed(session, "y")).toBe(
    [
      "",
      "",
      "Note: allowed once",
      "Command: make",
      "",
      "File: Changed a.ts +1 −1",
      "    @@ -1,1 +1,1 @@",
      "  1 -before",
      "  1 +after",
      "",
      "Agent: file: a.ts",
      "lines: 2",
      "You: ",
    ].join("\n"),
  );
  expect(session.terminal.everything.split("You: hi").length - 1).toBe(1);
});

test("what failed or was declined says so in words", async () => {
  const session = await open({
    scripts: [[{ command: "make", exitCode: 2, asks: false }, { command: "rm a" }]],
  });
  await session.keys("go", ENTER, "n");
  expect(session.terminal.everything).toContain("Command failed: make  exit 2");
  expect(session.terminal.everything).toContain("Command declined: rm a");
});

test("the rows of a menu have numbers, and a number and Enter choose one", async () => {
  const session = await open();
  expect(await printed(session, "/permissions", ENTER)).toContain(
    "Permissions\nSelected: 1. ask (current)  ask first\n  2. plan  read only\n",
  );
  expect(await printed(session, "2")).toBe("\nSelected: 2. plan  read only\nChoose: 2");
  expect(await printed(session, ENTER)).toContain("Note: Permissions: plan");
});

test("a longer menu takes numbers of two digits, and letters filter it", async () => {
  const session = await open();
  await session.keys("\u0010");
  expect(await printed(session, "1", "2")).toMatch(/Selected: 12\. .*\nChoose: 12$/);
  expect(await printed(session, "m", "c", "p")).toMatch(/Selected: 1\. .*MCP servers/);
});

test("moving in a list prints the row that is selected now, and nothing else", async () => {
  const session = await open({ scripts: [[{ text: "one" }], [{ text: "two" }]] });
  await session.keys("first", ENTER, "/new second", ENTER, "/threads", ENTER);
  expect(await printed(session, DOWN)).toMatch(/^Selected: .*first.*\n$/);
  expect(await printed(session, "1")).toMatch(/^Selected: .*second.*\n$/);
  expect(await printed(session, "q")).toBe("You: ");
});

test("what happens behind a page is printed once the page is closed", async () => {
  const gate = new Gate();
  const session = await open({ scripts: [[{ wait: gate }, { text: "finished" }]] });
  await session.keys("hi", ENTER, "/status", ENTER);
  gate.open();
  expect(await printed(session)).not.toContain("finished");
  expect(await printed(session, "q")).toContain("Agent: finished");
});

test("completions do not change what Enter sends; Tab takes the only one, or names several", async () => {
  const session = await open({ scripts: [[{ text: "done" }]] });
  expect(await printed(session, "/sta", "\t")).toContain("Note: Completions: status, statusline");
  expect(await printed(session, "tus", ENTER)).toContain("Permissions      ask");
  expect(await printed(session, "q", "/doc", "\t")).toContain("/doctor ");
});

test("a question and its options are lines, and what is typed is echoed", async () => {
  const options = [{ label: "red" }, { label: "blue" }];
  const session = await open({
    scripts: [[{ ask: [{ id: "colour", question: "Which colour?", options }] }]],
  });
  expect(await printed(session, "hi", ENTER)).toContain("Question: Which colour?\n  1 red\n  2 blue\n");
  expect(await printed(session, "2")).toContain("Selected: 2 blue\n");
});

test("a running turn is not cut up by prompts, and what is typed meanwhile is echoed", async () => {
  const gate = new Gate();
  const session = await open({ scripts: [[{ text: "One." }, { wait: gate }, { text: "Two." }]] });
  expect(await printed(session, "go", ENTER)).toBe("go\nYou: \n\nAgent: One.\n");
  expect(await printed(session, "a", "b")).toBe("You: ab");
  gate.open();
  expect(await printed(session, "c")).toMatch(/^c\n+Agent: Two\.\n(.*\n)*You: abc$/);
});

test("the first line of an answer fits the terminal with its label", async () => {
  const session = await open({ columns: 40, scripts: [[{ text: "word ".repeat(30).trim() }]] });
  await session.keys("go", ENTER);
  const lines = session.terminal.writes.join("").split("\r\n");
  expect(Math.max(...lines.filter((line) => line.includes("word")).map((line) => line.length))).toBeLessThan(
    41,
  );
});
