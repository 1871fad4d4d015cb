import { Gate } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { SessionFixture, type SessionFixtureOptions } from "../testing/session-fixture.ts";

const CTRL_L = "\u000c";
const ENTER = "\r";
const BLURRED = "\u001b[O";

test("in full-screen mode the composer is at the bottom, and the main screen is restored afterwards", async () => {
  const session = await SessionFixture.open({ screen: "full", rows: 10, scripts: [[{ text: "Hello" }]] });
  expect(session.terminal.isAlternate).toBe(true);
  await session.keys("hi", ENTER);
  expect(session.terminal.screen.join("\n")).toContain("Hello");
  expect(session.terminal.screen.at(-1)).toContain("F1 for help");
  await session.keys("\u0004");
  expect(session.terminal.isAlternate).toBe(false);
  expect(session.terminal.everything).toBe("");
});

test("in full-screen mode turns that a rewind removes are not shown, until it is undone", async () => {
  const session = await SessionFixture.open({ screen: "full", scripts: [[{ text: "A" }], [{ text: "B" }]] });
  const screen = () => session.terminal.screen.join("\n");
  await session.keys("one", ENTER, "two", ENTER, "/rewind #2", ENTER, ENTER, "\u0003");
  expect(screen()).toMatch(/^Flint [^\n]+\n\n› one\n\nA\n\n! 1 turn removed, files kept\. [^\n]+\n\n+› Ask/);
  await session.keys("/undo", ENTER);
  expect(screen()).toMatch(/› two\n\nB\n\n! Rewind undone/);
});

test("plain lines have no escape sequences at all", async () => {
  const session = await SessionFixture.open({
    screen: "plain",
    scripts: [[{ text: "Hello" }, { command: "make" }]],
  });
  await session.keys("h", "i", ENTER, "y");
  expect(session.terminal.writes.join("")).not.toContain("\u001b");
  expect(session.terminal.everything).toContain("Hello");
  expect(session.terminal.everything).toContain("[y] once");
});

test("notifies a terminal without focus when something waits", async () => {
  const session = await SessionFixture.open({ scripts: [[{ command: "make" }]] });
  await session.keys("build it", ENTER);
  expect(session.terminal.writes.join("")).not.toContain("\u0007");
  await session.keys("n", BLURRED);
  const later = await SessionFixture.open({ scripts: [[{ command: "make" }]] });
  await later.keys("build it", BLURRED + ENTER);
  expect(later.terminal.writes.join("")).toContain("\u0007\u001b]9;Flint is waiting for you: build it\u0007");
});

test.each(["/help", "/transcript", "/threads"])("notifies it while %s is open, too", async (page) => {
  const gate = new Gate();
  const session = await SessionFixture.open({ scripts: [[{ wait: gate }, { command: "make" }]] });
  await session.keys("build it", ENTER, page, ENTER, BLURRED);
  expect(session.terminal.isAlternate).toBe(true);
  gate.open();
  await session.settle();
  expect(session.terminal.writes.join("")).toContain("\u001b]9;Flint is waiting for you: build it\u0007");
});

test("notifies it once for each other thread that begins to wait", async () => {
  const scripts = [[{ text: "ok" }], [{ command: "make" }], [{ command: "make" }]];
  const session = await SessionFixture.open({ scripts });
  await session.keys("hi", ENTER, BLURRED);
  const other = await session.connect({ onApproval: () => new Promise(() => {}) });
  const notices = () =>
    session.terminal.writes.join("").split("]9;Flint is waiting for you in another thread").length - 1;
  for (const expected of [1, 2]) {
    const thread = await other.startThread();
    void thread.run("build it");
    await session.settle();
    expect(notices()).toBe(expected);
  }
});

describe("links", () => {
  const changes = [{ path: "/code/a.ts", kind: "modify" as const, diff: "@@ -1,1 +1,1 @@\n-a\n+b\n" }];
  const scripts = [
    [{ text: "See [the docs](https://example.com/docs)." }, { fileChange: changes, asks: false }],
  ];
  const written = async (options: SessionFixtureOptions) => {
    const session = await SessionFixture.open({ scripts, ...options });
    await session.keys("hi", ENTER);
    return session.terminal.writes.join("");
  };

  test("of answers and to changed files can be followed in a terminal that is known to do so", async () => {
    const output = await written({ environment: { TERM_PROGRAM: "WezTerm" } });
    expect(output).toContain("\u001b]8;;https://example.com/docs\u001b\\");
    expect(output).toContain("\u001b]8;;file://here/code/a.ts\u001b\\");
  });

  test.each<SessionFixtureOptions>([
    { environment: { TERM_PROGRAM: "Apple_Terminal" } },
    { environment: { TERM_PROGRAM: "WezTerm" }, screen: "plain" },
    { environment: { TERM_PROGRAM: "WezTerm", NO_COLOR: "1" } },
  ])("are only text with %j", async (options) => {
    expect(await written(options)).not.toContain("\u001b]8;");
  });
});

test("a resize leaves one composer and nothing twice", async () => {
  const gate = new Gate();
  const session = await SessionFixture.open({
    scripts: [[{ text: "a ".repeat(60).trim() }, { wait: gate }]],
  });
  await session.keys("hi", ENTER);
  for (const columns of [60, 40, 100, 30, 80]) {
    session.terminal.resize(columns, 24);
    await session.settle();
  }
  expect(session.terminal.everything.split("Esc to interrupt").length - 1).toBe(1);
  expect(session.terminal.everything.split("a a a").length - 1).toBeGreaterThan(0);
  gate.open();
});

test("a resize of the full screen keeps what is asked on it, until it is answered", async () => {
  const session = await SessionFixture.open({ screen: "full", scripts: [[{ command: "make it" }]] });
  await session.keys("go", ENTER);
  const subjects = () => session.terminal.screen.filter((row) => row === "  $ make it");
  for (const columns of [60, 100]) {
    session.terminal.resize(columns, 24);
    await session.settle();
    expect(subjects()).toHaveLength(1);
  }
  await session.keys("y");
  session.terminal.resize(80, 24);
  await session.settle();
  expect(subjects()).toEqual([]);
});

test("at 40 columns, without colour and Unicode, every row fits and is ASCII", async () => {
  const environment = { LANG: "C", NO_COLOR: "1" };
  const session = await SessionFixture.open({
    columns: 40,
    environment,
    scripts: [[{ command: "make all the things that there are" }]],
  });
  await session.keys("build everything there is to build here", ENTER);
  const written = session.terminal.writes.join("");
  expect([...written].filter((character) => character > "~")).toEqual([]);
  expect(written).not.toMatch(/\[\d+m/);
});

test("Ctrl-L draws the screen again, and pressed twice prints the thread at the width of the terminal", async () => {
  const text = "word ".repeat(30).trim();
  const session = await SessionFixture.open({ columns: 100, rows: 60, scripts: [[{ text }]] });
  await session.keys("hi", ENTER);
  session.terminal.resize(60, 60);
  await session.settle();
  await session.keys(CTRL_L);
  expect(session.terminal.everything.split("› hi")).toHaveLength(2);
  expect(session.terminal.screen.join("\n")).toContain(
    "Press Ctrl+L again to print the thread at this width.",
  );
  await session.keys("x", "\u007f", CTRL_L);
  expect(session.terminal.everything.split("› hi")).toHaveLength(2);
  await session.keys(CTRL_L);
  expect(session.terminal.everything.split("› hi")).toHaveLength(3);
  expect(session.terminal.everything.split("permissions: ask")).toHaveLength(3);
  await session.keys(CTRL_L, "again", ENTER);
  expect(session.terminal.everything.split("› hi")).toHaveLength(3);
});

test("on the full screen Ctrl-L only draws it again", async () => {
  const session = await SessionFixture.open({ screen: "full", scripts: [[{ text: "A" }]] });
  await session.keys("hi", ENTER, CTRL_L, CTRL_L);
  expect(session.terminal.screen.filter((row) => row === "› hi")).toHaveLength(1);
  expect(session.terminal.screen.join("\n")).not.toContain("again to print");
});

test("Ctrl-Z restores the terminal, and resuming the session redraws it", async () => {
  const session = await SessionFixture.open();
  await session.keys("\u001a");
  expect([session.terminal.suspended, session.terminal.modes.bracketedPasteMode]).toEqual([1, false]);
  expect(session.terminal.screen.join("\n")).not.toContain("Ask for something");
  session.terminal.continue();
  await session.settle();
  expect(session.terminal.modes.bracketedPasteMode).toBe(true);
  expect(session.terminal.screen.join("\n")).toContain("› Ask for something");
});

test("a session cleans up after one that was killed on the same terminal", async () => {
  const notes = new Map<string, string>();
  const killed = await SessionFixture.open({ notes });
  await killed.keys("/help", ENTER);
  expect(notes.get("open-test")).toBe("alternate");
  const next = await SessionFixture.open({ notes });
  expect(next.terminal.writes[0]).toMatch(/^.\[\?1049l/);
  expect(notes.get("open-test")).toBe("main");
  next.app.close(0);
  expect(notes.get("open-test")).toBe("");
});

test("uses light colours if the terminal reports a light background, and does not wait for an answer", async () => {
  const session = await SessionFixture.open({ scripts: [[{ command: "make" }]] });
  expect(session.terminal.writes[0]).toContain("\u001b]11;?");
  await session.keys("\u001b]11;rgb:ffff/ffff/f0f0\u001b\\");
  const before = session.terminal.writes.length;
  await session.keys("build it", ENTER);
  const written = session.terminal.writes.slice(before).join("");
  expect(written).toContain("\u001b[35m▸");
  expect(written).not.toContain("\u001b[33m");
  await session.keys("n", "/theme dark", ENTER);
  session.app.close(0);
  expect(session.terminal.everything).not.toContain("rgb:");
});

test("on a small screen an approval shows the keys alone, and what the selected answer allows", async () => {
  const session = await SessionFixture.open({
    columns: 40,
    scripts: [[{ command: "make all the things that there are" }]],
  });
  await session.keys("build it", ENTER);
  const screen = () => session.terminal.screen.join("\n");
  expect(screen()).toContain("$ make all the things that there are");
  expect(screen()).toMatch(/Allow it\?\n {2}\[y\] once {2}\[s\] this thread\n/);
  expect(screen()).toContain("↑ and ↓ show what each answer allows.");
  await session.keys("\u001b[B");
  expect(screen()).toContain("  Allow it this time");
  expect(screen()).toContain("▸ [y] once");
  await session.keys(ENTER);
  expect(session.terminal.everything).toContain("→ allowed once");
});

test("at 40 columns a menu says how to close it", async () => {
  const session = await SessionFixture.open({ columns: 40 });
  await session.keys("/theme", ENTER);
  expect(session.terminal.screen).toContain("1 of 4 · Enter to choose · Esc to close");
});
