import { TestClock } from "@flint/testkit";
import { expect, test } from "vitest";
import { SessionFixture } from "../testing/session-fixture.ts";

const ENTER = "\r";
const ESCAPE = "\u001b";
const DOWN = "\u001b[B";
const LEFT = "\u001b[D";
const BACKSPACE = "\u007f";
const CTRL_U = "\u0015";

/** A session with two threads; the list is open, with the second one first. */
async function withList() {
  const scripts = [[{ text: "The boiler is broken." }], [{ text: "All is well." }], [{ text: "more" }]];
  const session = await SessionFixture.open({ scripts });
  await session.keys("first", ENTER, "/new second", ENTER, "/threads", ENTER);
  const screen = () => session.terminal.screen.join("\n");
  const names = async (archived = false) =>
    (await session.client.listThreads({ archived })).data.map(({ name, preview }) => name ?? preview).sort();
  return { session, screen, names };
}

test("the thread list finds threads by words of their answers", async () => {
  const { session, screen } = await withList();
  await session.keys("/", "BOILER", ENTER);
  expect(screen()).toContain('Threads  matching "BOILER"');
  expect(screen()).toContain("first");
  expect(screen()).not.toContain("second");
  await session.keys("/", "nothing like this", ENTER);
  expect(screen()).not.toContain("first");
  await session.keys("/", ENTER);
  expect(screen()).toMatch(/second.*\n.*first/);
});

test("what is searched for is edited like a prompt, with the cursor in it", async () => {
  const { session, screen } = await withList();
  await session.keys("/", "boilxx", BACKSPACE, BACKSPACE, "r", LEFT, "e");
  expect(screen()).toContain("Search: boiler");
  expect(session.terminal.cursor).toEqual({ row: 23, column: "Search: boile".length });
  await session.keys(ENTER);
  expect(screen()).toContain('matching "boiler"');
  await session.keys("/", "abc", ESCAPE);
  expect(screen()).toContain('matching "boiler"');
  expect(screen()).not.toContain("Search:");
});

test("a thread gets a new name, and the old one can be erased", async () => {
  const { session, screen, names } = await withList();
  await session.keys("r", "boiler", ENTER);
  expect(await names()).toEqual(["boiler", "first"]);
  await session.keys("r");
  expect(screen()).toContain("New name: boiler");
  await session.keys(CTRL_U, "heating", ENTER);
  expect(await names()).toEqual(["first", "heating"]);
  expect(screen()).toContain("heating");
});

test("a thread is archived, found among the archived ones, and brought back", async () => {
  const { session, screen, names } = await withList();
  await session.keys("a");
  expect([await names(), await names(true)]).toEqual([["first"], ["second"]]);
  expect(screen()).not.toContain("second");
  await session.keys("t");
  expect(screen()).toMatch(/^Threads of tasks\n {2}There are none\.\n/);
  await session.keys("t", ".");
  expect(screen()).toContain("Archived threads");
  expect(screen()).toContain("second");
  await session.keys("a");
  expect(await names()).toEqual(["first", "second"]);
});

test("a thread is deleted by the same key twice, and by no other key in between", async () => {
  const { session, screen, names } = await withList();
  await session.keys("d");
  expect(screen()).toContain("Press d again to delete this thread and its log for good.");
  await session.keys(DOWN, "d");
  expect(await names()).toEqual(["first", "second"]);
  await session.keys("d");
  expect(await names()).toEqual(["second"]);
  expect(screen()).not.toContain("first");
});

test("a thread is forked and exported", async () => {
  const { session, screen, names } = await withList();
  await session.keys("f");
  expect(await names()).toEqual(["first", "second", "second"]);
  await session.keys("e");
  expect(screen()).toMatch(/Exported to flint-\S+\.md/);
  expect([...session.files.values()].join("\n")).toContain("All is well.");
});

test("Enter opens the selected thread, and n starts a new one", async () => {
  const { session, screen } = await withList();
  await session.keys(DOWN, ENTER);
  expect(session.terminal.isAlternate).toBe(false);
  expect(screen()).toContain("The boiler is broken.");
  await session.keys("/threads", ENTER, "n", "third", ENTER);
  expect(screen()).toContain("more");
});

test("text is found in a page, typed with the keys of the composer", async () => {
  const session = await SessionFixture.open({ rows: 8 });
  const screen = () => session.terminal.screen.join("\n");
  await session.keys("/help", ENTER, "/", "archivexx", BACKSPACE, BACKSPACE);
  expect(screen()).toContain("Find: archive");
  expect(session.terminal.cursor).toEqual({ row: 7, column: "Find: archive".length });
  await session.keys(ENTER);
  expect(session.terminal.screen[1]).toContain("Archive or unarchive the");
  await session.keys("n");
  expect(session.terminal.screen[1]).toContain("Show archived threads");
  await session.keys("N");
  expect(session.terminal.screen[1]).toContain("Archive or unarchive the");
});

test("in plain mode, the line that is found is printed", async () => {
  const session = await SessionFixture.open({ screen: "plain" });
  await session.keys("/help", ENTER, "/", "unarchive", ENTER);
  expect(session.terminal.everything).toContain("Find: unarchive");
  expect(session.terminal.everything).toMatch(/match: .*Archive or unarchive the/);
});

test("threads beyond the first two hundred are listed once the end is reached, and opened by name", async () => {
  const session = await SessionFixture.open();
  for (let number = 1; number <= 210; number += 1) {
    await session.clock.advance(1_000);
    await session.client.call("thread/start", {
      name: number === 1 ? "thread one" : `thread ${number} of one`,
    });
  }
  await session.keys("/threads", ENTER);
  for (let page = 0; page < 12; page += 1) await session.keys("\u001b[6~");
  expect(session.terminal.screen.join("\n")).toContain("thread one");
  // The names of all others have these letters in this order, too.
  await session.keys("q", "/resume thread one", ENTER, "/status", ENTER);
  expect(session.terminal.screen.join("\n")).toMatch(/Name +thread one\n/);
});

test("the list says what a thread has cost of its limit, and which usage limit it has to wait for", async () => {
  const usage = { inputTokens: 10, outputTokens: 5 };
  const limit = {
    ...{ window: "5 hours", usedPercent: 100, resetsAtMs: new TestClock().now() + 3_600_000 },
    ...({ status: "reached", source: "frame" } as const),
  };
  const session = await SessionFixture.open({
    columns: 110,
    scripts: [
      [{ usage, cost: { amount: 0.5, currency: "USD" } }, { text: "done" }],
      [
        { emit: { type: "limits", limits: [limit] } },
        { fail: { message: "Used up.", errorInfo: "UsageLimitExceeded" } },
      ],
    ],
  });
  const screen = () => session.terminal.screen.join("\n");
  const other = await session.connect();
  const paid = await other.startThread({ budget: { thread: { costUsd: 2 } } });
  await paid.run("costly");
  await (await other.startThread({})).run("late", { allowFailure: true });
  await session.keys("/threads", ENTER);
  expect(screen()).toContain("Threads  1 at a usage limit");
  expect(screen()).toMatch(/usage limit +\S+ +late/);
  expect(screen()).toMatch(/usage limit of scripted: 5 hours 100 %, reached, resets in/);
  await session.keys(DOWN);
  expect(screen()).toMatch(/\S+ +\$0\.500 of \$2\.00 +costly/);
  expect(screen()).toContain("cost $0.500 of $2.00 · limits: $2.00 per thread");
});

test("threads of tasks are in a list of their own, also for a search and for what /resume completes", async () => {
  const session = await SessionFixture.open({ scripts: [[{ text: "boiler" }], [{ text: "boiler" }]] });
  const screen = () => session.terminal.screen.join("\n");
  const task = { taskId: "task-1", portBase: 2000 };
  await (await (await session.connect()).startThread({ task, name: "work of a task" })).run("go");
  await session.keys("mine", ENTER, "/threads", ENTER);
  expect(screen()).toMatch(/^Threads\n/);
  expect(screen()).toContain("mine");
  expect(screen()).not.toContain("work of a task");
  await session.keys("/", "boiler", ENTER);
  expect(screen()).not.toContain("work of a task");
  await session.keys("t");
  expect(screen()).toContain('Threads of tasks  matching "boiler"');
  expect(screen()).toContain("work of a task");
  expect(screen()).not.toMatch(/mine/);
  await session.keys("t", "/", CTRL_U, ENTER, "q", "/new", ENTER, "/resume work");
  expect(screen()).not.toContain("work of a task");
});
