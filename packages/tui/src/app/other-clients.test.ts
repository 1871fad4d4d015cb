import { Gate } from "@flint/testkit";
import { expect, test } from "vitest";
import { SessionFixture } from "../testing/session-fixture.ts";

const ENTER = "\r";
const ESCAPE = "\u001b";
const clientInfo = { name: "zed", title: "Zed", version: "1" };
const ANSWERS = [[{ text: "A" }], [{ text: "B" }], [{ text: "C" }]];

/** A session after two prompts, and Zed, which has the same thread. */
async function withZed() {
  const session = await SessionFixture.open({ scripts: ANSWERS, rows: 40 });
  await session.keys("one", ENTER, "two", ENTER);
  const zed = await session.connect({ clientInfo });
  const threadId = (await zed.listThreads()).data[0]?.id ?? "";
  const thread = await zed.attachThread(threadId);
  const shown = async () => {
    await session.settle();
    return session.terminal.everything;
  };
  return { session, zed, thread, threadId, shown };
}

test("what another client changes in the thread is shown with who did it", async () => {
  const { zed, thread, threadId, shown } = await withZed();
  const beforeTurnId = thread.state.turns[1]?.id ?? "";
  const { revertId = "" } = await zed.call("thread/revert", { threadId, beforeTurnId, files: "keep" });
  expect(await shown()).toContain("! 1 turn removed by Zed, files kept.\n");
  await zed.call("thread/revert/undo", { threadId, revertId });
  expect(await shown()).toContain("! Rewind undone by Zed; turns restored: 1.\n");
  await zed.call("thread/settings/update", { threadId, sandbox: { type: "readOnly" } });
  expect(await shown()).toContain("! Settings changed by Zed: scripted/steady, permissions: plan.\n");
  await zed.call("thread/goal/set", { threadId, objective: "world peace" });
  await zed.call("thread/goal/clear", { threadId });
  expect(await shown()).toContain("! Goal set by Zed: world peace\n! Goal cleared by Zed.\n");
  await zed.call("thread/name/set", { threadId, name: "peace" });
  await zed.call("thread/archive", { threadId });
  await zed.call("thread/unarchive", { threadId });
  expect(await shown()).toContain(
    '! Thread named "peace" by Zed.\n! Thread archived by Zed.\n! Thread unarchived by Zed.\n',
  );
});

test("who interrupted a turn is shown, unless it was the user", async () => {
  const waits = () => [{ wait: new Gate() }];
  const session = await SessionFixture.open({ scripts: [waits(), waits()] });
  await session.keys("one", ENTER);
  const zed = await session.connect({ clientInfo });
  const threadId = (await zed.listThreads()).data[0]?.id ?? "";
  await zed.call("turn/interrupt", { threadId });
  await session.settle();
  expect(session.terminal.everything).toContain("Interrupted by Zed.");
  await session.keys("two", ENTER, ESCAPE);
  await session.settle();
  expect(session.terminal.everything.split(" by ")).toHaveLength(2);
});

test("what the user changes is not said to be someone's", async () => {
  const { session, shown } = await withZed();
  await session.keys("/permissions plan", ENTER, "/goal ship it", ENTER, "/goal clear", ENTER);
  await session.keys("/rename better", ENTER, "/rewind #2", ENTER, ENTER, "\u0003", "/undo", ENTER);
  await session.keys("/threads", ENTER, "a", ".", "a", "q");
  expect(await shown()).toContain("Rewind undone; turns restored: ");
  expect(await shown()).not.toMatch(/ by \w/);
});

test("a change by another client right after one of the user is shown", async () => {
  const { session, zed, threadId, shown } = await withZed();
  await session.keys("/permissions plan", ENTER);
  await zed.call("thread/settings/update", { threadId, model: "scripted/swift" });
  expect(await shown()).toContain("Settings changed by Zed: scripted/swift, permissions: plan.");
});

test("a thread that another client deletes is left for a new one", async () => {
  const { session, zed, threadId, shown } = await withZed();
  await session.keys("wri");
  await zed.call("thread/delete", { threadId });
  expect(await shown()).toContain(
    "! This thread was deleted by Zed. Your next prompt starts a new one.\n\nFlint scripted",
  );
  await session.keys("te on", ENTER);
  expect(await shown()).toContain("› write on\n\nC\n");
  expect(await shown()).not.toContain("There is no thread");
  expect(session.app.thread?.id).not.toBe(threadId);
});

test("a thread that the user deletes from the list is left for a new one", async () => {
  const { session, shown } = await withZed();
  await session.keys("/threads", ENTER, "d", "d", "q");
  expect(await shown()).toContain("! This thread was deleted. Your next prompt starts a new one.");
  await session.keys("/back", ENTER);
  expect(session.terminal.screen.join("\n")).toContain("No thread was open before.");
});

test("what another client does to the queue is shown with who did it, what the user does is not", async () => {
  const gate = new Gate();
  const session = await SessionFixture.open({ rows: 40, scripts: [[{ wait: gate }], [{ text: "A" }]] });
  await session.keys("work", ENTER);
  const zed = await session.connect({ clientInfo });
  const threadId = (await zed.listThreads()).data[0]?.id ?? "";
  const queue = async (text: string) => {
    const input = [{ type: "text", text } as const];
    const { queuedInput } = await zed.call("turn/start", { threadId, input, delivery: "queue" });
    return queuedInput?.id ?? "";
  };
  const shown = async () => {
    await session.settle();
    return session.terminal.everything;
  };
  const [one, two] = [await queue("one"), await queue("two")];
  expect(await shown()).toContain("! Queued by Zed: one\n! Queued by Zed: two\n");
  expect(await shown()).toContain("○ queued by Zed: one");
  await zed.call("thread/queue/reorder", { threadId, queuedInputIds: [two, one] });
  expect(await shown()).toContain("! Queue reordered by Zed.");
  const input = [{ type: "text", text: "uno" } as const];
  await zed.call("thread/queue/update", { threadId, queuedInputId: one, input });
  expect(await shown()).toContain("! Queued prompt edited by Zed: uno");
  await zed.call("thread/queue/delete", { threadId, queuedInputId: one });
  expect(await shown()).toContain("! Taken from the queue by Zed: uno");
  await zed.call("thread/queue/promote", { threadId, queuedInputId: two });
  expect(await shown()).toContain("! Taken from the queue by Zed: two");
  const before = (await shown()).split("! ").length;
  await session.keys("three", "\t", "four", "\t", "/queue", ENTER, "d", "x", ENTER, "\u0015");
  expect((await shown()).split("! ")).toHaveLength(before);
  gate.open();
  expect((await shown()).split("! ")).toHaveLength(before);
});
