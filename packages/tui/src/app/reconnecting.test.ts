import { Gate, ScriptedDriver } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { SessionFixture } from "../testing/session-fixture.ts";

const ENTER = "\r";

describe("a thread that was deleted while the server could not be reached", () => {
  async function deleted(...keys: readonly string[]) {
    const scripts = [[{ text: "A" }], [{ text: "B" }]];
    const session = await SessionFixture.open({ scripts });
    await session.keys("one", ENTER);
    const other = await session.connect();
    const [thread] = (await other.listThreads()).data;
    await session.cut();
    await other.call("thread/delete", { threadId: thread?.id ?? "" });
    for (const key of keys) session.terminal.type(key);
    await session.settle(5_000);
    const threads = async () => (await other.listThreads()).data.length;
    return { session, threads, screen: () => session.terminal.screen.join("\n") };
  }

  test("is said, and the next prompt starts a new one", async () => {
    const { session, threads, screen } = await deleted();
    expect(session.terminal.everything).toMatch(
      /! There is no thread [^!]+ Your next prompt\s+starts a new one\./,
    );
    await session.keys("two", ENTER);
    expect(screen()).toContain("› two\n\nB\n");
    expect(await threads()).toBe(1);
    await session.keys("/status", ENTER);
    expect(screen()).toMatch(/Turns +1/);
  });

  test("is left without a warning by /new", async () => {
    const { session, screen } = await deleted();
    await session.keys("/new", ENTER, "two", ENTER);
    expect(screen()).toContain("› two\n\nB\n");
    expect(session.terminal.everything).not.toContain("was not answered");
  });

  test("gets no prompt that was meant for it sent to another one", async () => {
    const { session, threads, screen } = await deleted("for that thread", ENTER);
    expect([screen().includes("› for that thread\n"), await threads()]).toEqual([true, 0]);
    await session.keys(ENTER);
    expect(screen()).toContain("› for that thread\n\nB\n");
  });
});

test("a session whose settings cannot be read says so, and works", async () => {
  const selectors = () => [{ id: "effort", name: "Effort", type: "select", value: 5, options: [] }] as never;
  const driver = new ScriptedDriver({ scripts: [[{ text: "A" }]], selectors });
  const session = await SessionFixture.open({ driver });
  expect(session.terminal.everything).toMatch(/^! .*config\/read/m);
  await session.keys("one", ENTER);
  expect(session.terminal.everything).toContain("› one\n\nA\n");
});

describe("a server that cannot be reached at first", () => {
  const failures = [new Error("The configuration is not valid: line 3."), new Error("Nothing listens.")];

  test("is tried again with Enter, which sends the prompt then", async () => {
    const session = await SessionFixture.open({ failures, scripts: [[{ text: "A" }]] });
    const screen = () => session.terminal.screen.join("\n");
    expect(screen()).toContain("! The configuration is not valid: line 3. Enter tries again.");
    await session.keys("one", ENTER);
    expect(screen()).toContain("! Nothing listens. Enter tries again.");
    expect(screen()).toContain("› one");
    await session.keys(ENTER);
    expect(screen()).toContain("› one\n\nA\n");
  });

  test("is tried again with Enter alone too", async () => {
    const session = await SessionFixture.open({ failures: failures.slice(1) });
    await session.keys(ENTER);
    expect(session.terminal.everything).toContain(
      "Flint scripted · steady · permissions: ask · /code (main)",
    );
    expect(session.terminal.screen.join("\n")).toContain("scripted/steady · ask · F1 for help");
  });

  test("is no reason to forget the thread that was asked for", async () => {
    const first = await SessionFixture.open({ scripts: [[{ text: "A" }]] });
    await first.keys("one", ENTER);
    const { engine } = first;
    const [thread] = (await first.client.listThreads()).data;
    const start = { findThread: async () => thread?.id ?? "" };
    const session = await SessionFixture.open({ engine, start, failures: failures.slice(1) });
    await session.keys(ENTER);
    expect(session.terminal.everything).toContain("› one\n\nA\n");
  });
});

test("a thread that is not found at the start is not looked for again after a lost connection", async () => {
  let searches = 0;
  const findThread = async () => {
    searches += 1;
    throw new Error("There is no such thread.");
  };
  const session = await SessionFixture.open({ start: { findThread }, scripts: [[{ text: "A" }]] });
  expect(session.terminal.everything).toContain("! There is no such thread.");
  await session.keys("one", ENTER);
  await session.cut();
  await session.settle(5_000);
  expect([searches, session.terminal.everything.includes("Connected again.")]).toEqual([1, true]);
});

test("a session without a thread says that it is connected again", async () => {
  const session = await SessionFixture.open();
  expect(session.terminal.everything).not.toContain("Connected again.");
  await session.cut();
  await session.settle(5_000);
  expect(session.terminal.everything).toMatch(/Connecting again\.\n! Connected again\./);
});

test("a turn whose server cannot be reached shows no work, and does not move", async () => {
  const session = await SessionFixture.open({ scripts: [[{ wait: new Gate() }]] });
  await session.keys("go", ENTER);
  const screen = () => session.terminal.screen.join("\n");
  expect(screen()).toContain("Esc to interrupt");
  session.failures.push(...Array.from({ length: 9 }, () => new Error("Nothing listens.")));
  await session.cut();
  await session.settle(4_000);
  expect(screen()).toContain("Not connected");
  expect(screen()).not.toContain("Esc to interrupt");
  const before = screen();
  await session.settle(4_000);
  expect(screen()).toBe(before);
  expect(session.timers).toBe(1);
  await session.settle(60_000);
  expect(screen()).toContain("Esc to interrupt");
});
