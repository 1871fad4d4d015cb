import { Gate } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { FakeTasks } from "../testing/fake-tasks.ts";
import { SessionFixture } from "../testing/session-fixture.ts";

const ENTER = "\r";
const F2 = "\u001bOQ";
const F5 = "\u001b[15~";
const F6 = "\u001b[17~";
const F9 = "\u001b[20~";

function screenOf(session: SessionFixture): string {
  return session.terminal.screen.join("\n");
}

describe("keys of the configuration are what hints name", () => {
  test("while a turn runs", async () => {
    const gate = new Gate();
    const keys = { interruptTurn: ["f9"], queueInput: ["f6"], editQueue: ["f5"] };
    const session = await SessionFixture.open({ keys, scripts: [[{ wait: gate }]] });
    await session.keys("hi", ENTER);
    expect(screenOf(session)).toContain("F9 to interrupt");
    expect(screenOf(session)).toContain("Enter steers, F6 queues");
    await session.keys("later", F6);
    expect(screenOf(session)).toContain("Queued. F5 edits the queue.");
    await session.keys(F5);
    expect(screenOf(session)).toContain("Queued inputs");
    // Nothing interrupts the turn with Escape any more, so that closes the menu.
    expect(screenOf(session)).toContain("Esc to close");
    await session.keys(F9);
    expect(session.terminal.everything).toContain("Interrupted");
  });

  test("in the composer and in menus", async () => {
    const keys = { clearInput: ["f9"], menuAccept: ["f5"], menuCancel: ["f6"], rewindThread: ["f2 f2"] };
    const session = await SessionFixture.open({ keys, scripts: [[{ text: "A" }]] });
    await session.keys("hi", ENTER, F2);
    expect(screenOf(session)).toContain("Press F2 again to go back to an earlier prompt");
    await session.keys("\u001bm");
    expect(screenOf(session)).toMatch(/F5 to choose .* F6 to close/);
    await session.keys(F6, F9);
    expect(screenOf(session)).toContain("Press F9 again to quit.");
  });

  test("in lists and pages", async () => {
    const keys = { listOpen: ["f5"], listSearch: ["f6"], listClose: ["x"], find: ["f5"], closePager: ["x"] };
    const session = await SessionFixture.open({ keys, scripts: [[{ text: "A" }]], tasks: new FakeTasks() });
    await session.keys("hi", ENTER, "/threads", ENTER);
    expect(screenOf(session).replaceAll("\u00a0", " ")).toMatch(/F5 open · F6 search · .*x close/s);
    await session.keys("x", "/tasks", ENTER);
    expect(screenOf(session)).toContain("F5 open · x close");
    await session.keys("x", "/inbox", ENTER);
    expect(screenOf(session).replaceAll("\u00a0", " ")).toContain(
      "F5 open its thread · the keys above answer · x close",
    );
    await session.keys("x", "/transcript", ENTER);
    expect(screenOf(session)).toMatch(/F5 find .* x close/);
    await session.keys("x", "/help", ENTER);
    expect(screenOf(session)).toMatch(/F5 find .* x close/);
  });

  test("at an approval", async () => {
    const keys = { askDeclineWithMessage: ["f5"], interruptOrClose: ["f6"] };
    const session = await SessionFixture.open({ keys, scripts: [[{ command: "make" }]] });
    await session.keys("hi", ENTER);
    expect(screenOf(session)).toContain("[F5] no, with reason");
    await session.keys(F5);
    expect(screenOf(session)).toContain("Enter declines with this message, F6 goes back");
    await session.keys(F6);
    expect(screenOf(session)).toContain("Allow it?");
  });

  test("and what has no key is not named", async () => {
    const gate = new Gate();
    const keys = { interruptTurn: [], queueInput: [] };
    const session = await SessionFixture.open({ keys, scripts: [[{ wait: gate }]] });
    await session.keys("hi", ENTER);
    expect(screenOf(session)).not.toContain("interrupt");
    expect(screenOf(session)).toContain("› Enter steers");
    gate.open();
  });
});
