import { Gate } from "@flint/testkit";
import { expect, test } from "vitest";
import { SessionFixture } from "../testing/session-fixture.ts";

const ENTER = "\r";
const ESCAPE = "\u001b";
const CTRL_C = "\u0003";
const UP = "\u001b[A";

test("opens with a header and a composer that has the cursor", async () => {
  const { terminal } = await SessionFixture.open();
  expect(terminal.screen.slice(0, 4)).toEqual([
    "Flint scripted · steady · permissions: ask · /code (main)",
    "",
    "› Ask for something, / for commands",
    "  scripted/steady · ask · F1 for help",
  ]);
  expect(terminal.cursor).toEqual({ row: 2, column: 2 });
  expect(terminal.modes).toMatchObject({
    bracketedPasteMode: true,
    sendFocusMode: true,
    mouseTrackingMode: "none",
  });
});

test("sends a prompt and prints the answer above the composer", async () => {
  const session = await SessionFixture.open({ scripts: [[{ text: "Hello\nthere", pieces: 5 }]] });
  await session.keys("hi", ENTER);
  expect(session.terminal.everything).toContain("› hi\n\nHello\nthere\n\n› Ask for something");
});

test("reports the thread of a closed session and whether its turn continues", async () => {
  const session = await SessionFixture.open({ scripts: [[{ text: "ok" }], [{ wait: new Gate() }]] });
  expect(session.app.thread).toBeUndefined();
  await session.keys("hi", ENTER);
  expect(session.app.thread).toMatchObject({ continues: false });
  await session.keys("work", ENTER);
  expect(session.app.thread).toMatchObject({ continues: true });
  expect((await session.client.listThreads({})).data.map(({ id }) => id)).toEqual([session.app.thread?.id]);
});

test("Escape interrupts the running turn", async () => {
  const session = await SessionFixture.open({ scripts: [[{ wait: new Gate() }]] });
  await session.keys("work", ENTER);
  expect(session.terminal.everything).toContain("Esc to interrupt");
  await session.keys(ESCAPE);
  expect(session.terminal.everything).toContain("Interrupted");
});

test("an approval is shown in full and answered with its key", async () => {
  const session = await SessionFixture.open({ scripts: [[{ command: "make", output: ["built\n"] }]] });
  await session.keys("build it", ENTER);
  expect(session.terminal.everything).toContain("$ make");
  expect(session.terminal.everything).toMatch(/\[y\] once +Allow it this time/);
  await session.keys("y");
  expect(session.terminal.everything).toContain("✓ $ make");
  expect(session.terminal.everything).toContain("→ allowed once");
});

test("the answers of an approval are selected with the arrow keys; Enter alone and Tab answer nothing", async () => {
  const session = await SessionFixture.open({ scripts: [[{ command: "make" }]] });
  await session.keys("build it", ENTER, ENTER, UP, "\t");
  expect(session.engine.driver.sessions[0]?.turns[0]?.decisions).toEqual([]);
  expect(session.terminal.screen.join("\n")).toMatch(/▸ \[n\] no/);
  await session.keys(ENTER);
  expect(session.engine.driver.sessions[0]?.turns[0]?.decisions).toMatchObject([{ outcome: "deny" }]);
});

test("an approval is declined with the user's words", async () => {
  const session = await SessionFixture.open({ scripts: [[{ command: "make" }]] });
  await session.keys("build it", ENTER, "m", "use npm", ENTER);
  expect(session.engine.driver.sessions[0]?.turns[0]?.decisions).toMatchObject([
    { outcome: "deny", message: "The user declined: use npm" },
  ]);
});

test("the words for a decline are dropped when another client answers it, and do not answer what comes next", async () => {
  const session = await SessionFixture.open({ scripts: [[{ command: "one" }, { command: "two" }]] });
  await session.keys("build it", ENTER, "m", "use npm");
  const other = await session.connect({ onApproval: () => new Promise<never>(() => undefined) });
  const [thread] = (await other.call("thread/list", {})).data;
  const threadId = thread?.id ?? "";
  const { approvals } = await other.call("thread/attach", { threadId, turns: 0 });
  const decision = { outcome: "allow", scope: "once" } as const;
  await other.call("approval/respond", { threadId, approvalId: approvals[0]?.id ?? "", decision });
  await session.settle();
  expect(session.terminal.everything).toContain("$ two");
  await session.keys(ENTER);
  const decisions = session.engine.driver.sessions[0]?.turns[0]?.decisions;
  expect(decisions).toMatchObject([{ outcome: "allow" }]);
});

test("Ctrl-C twice quits and restores the terminal", async () => {
  const session = await SessionFixture.open();
  await session.keys(CTRL_C);
  expect(session.terminal.screen.join("\n")).toContain("Press Ctrl+C again to quit.");
  await session.keys(CTRL_C);
  expect(await session.exit).toBe(0);
  expect(session.terminal.isRaw).toBe(false);
  expect(session.terminal.modes).toMatchObject({ bracketedPasteMode: false, sendFocusMode: false });
  expect(session.terminal.everything).toBe("Flint scripted · steady · permissions: ask · /code (main)");
});

test("has no timer while nothing happens", async () => {
  const session = await SessionFixture.open();
  expect(session.timers).toBe(0);
});

test("every frame is one synchronised write, and none erases the scrollback", async () => {
  const session = await SessionFixture.open({ scripts: [[{ text: "one\ntwo\nthree", pieces: 9 }]] });
  await session.keys("hi", ENTER);
  const frames = session.terminal.writes.slice(1);
  expect(
    frames.filter((frame) => !frame.startsWith("\u001b[?2026h") || !frame.endsWith("\u001b[?2026l")),
  ).toEqual([]);
  const written = session.terminal.writes.join("");
  expect(["\u001b[2J", "\u001b[3J"].filter((erase) => written.includes(erase))).toEqual([]);
});

test("a lost server is said, and after it is back the missed events are shown", async () => {
  const gate = new Gate();
  const scripts = [[{ text: "first half" }, { wait: gate }, { text: "second half" }], [{ text: "next" }]];
  const session = await SessionFixture.open({ scripts });
  await session.keys("one", ENTER);
  session.failures.push(new Error("Nothing listens there."), new Error("Nothing listens there."));
  await session.cut();
  expect(session.terminal.everything).toContain("Connecting again");
  gate.open();
  await session.settle(0);
  expect(session.terminal.everything).not.toContain("second half");
  await session.settle(5_000);
  const { everything } = session.terminal;
  expect(everything).toMatch(/Connected again\. \d+ missed events are shown now\./);
  expect(everything.split("first half").length - 1).toBe(1);
  expect(everything.split("second half").length - 1).toBe(1);
  await session.keys("two", ENTER);
  expect(session.terminal.everything).toContain("next");
});
