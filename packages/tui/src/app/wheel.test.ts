import { describe, expect, test } from "vitest";
import { SessionFixture } from "../testing/session-fixture.ts";

const ENTER = "\r";
/** The keys that terminals send for a turn of the wheel on the alternate screen. */
const WHEEL_UP = "\u001b[A".repeat(3);
const WHEEL_DOWN = "\u001b[B".repeat(3);
/** The answer of a terminal whose wheel presses arrow keys there. */
const IS_ON = "\u001b[?1007;1$y";
const TURN_OFF = "\u001b[?1007l";
const TURN_ON = "\u001b[?1007h";
const LINES = Array.from({ length: 60 }, (_, index) => `line ${index + 1}  `).join("\n");

async function reading(screen: "full" | "inline") {
  const session = await SessionFixture.open({
    screen,
    rows: 20,
    scripts: [[{ text: LINES }], [{ text: "B" }]],
  });
  await session.keys("one", ENTER);
  return { session, shown: () => session.terminal.screen.join("\n") };
}

describe("the wheel of the mouse on the full screen", () => {
  test("scrolls the thread and leaves the prompt as it is, in terminals that send arrow keys for it", async () => {
    const { session, shown } = await reading("full");
    await session.keys("half a prompt", WHEEL_DOWN);
    expect(shown()).toContain("› half a prompt");
    const firstLine = () => Number(/line (\d+)/.exec(shown())?.[1]);
    await session.keys(WHEEL_UP);
    expect(shown()).not.toContain("half a prompt");
    const before = firstLine();
    await session.keys(WHEEL_UP);
    expect(firstLine()).toBe(before - 3);
    await session.keys(WHEEL_DOWN, WHEEL_DOWN, "q");
    expect(shown()).toContain("› half a prompt");
  });

  test("is turned off below the thread, on for a page, and as it was at the end", async () => {
    const { session } = await reading("full");
    expect(session.terminal.writes.join("")).not.toContain(TURN_OFF);
    await session.keys(IS_ON);
    expect(session.terminal.writes.at(-1)).toBeDefined();
    const turns = () => session.terminal.writes.filter((text) => text === TURN_OFF || text === TURN_ON);
    expect(turns()).toEqual([TURN_OFF]);
    await session.keys("/help", ENTER);
    expect(turns()).toEqual([TURN_OFF, TURN_ON]);
    await session.keys("q");
    expect(session.notes.get("open-test")).toBe("alternate without wheel");
    session.app.close(0);
    expect(turns()).toEqual([TURN_OFF, TURN_ON, TURN_OFF, TURN_ON]);
  });

  test("is turned on again after a session that was killed", async () => {
    const notes = new Map([["open-test", "alternate without wheel"]]);
    const session = await SessionFixture.open({ notes });
    expect(session.terminal.writes[0]).toMatch(/^.\[\?1007h.\[\?1049l/);
  });

  test("selects no answer of an approval", async () => {
    const session = await SessionFixture.open({ screen: "full", scripts: [[{ command: "make" }]] });
    await session.keys("go", ENTER, WHEEL_DOWN);
    expect(session.terminal.screen.join("\n")).not.toContain("▸ [");
  });

  test("scrolls what is selected in the inbox", async () => {
    const command = Array.from({ length: 40 }, (_, index) => `echo part-${index + 1}`).join("\n");
    const session = await SessionFixture.open({ rows: 20, scripts: [[{ command }]] });
    await session.keys("go", ENTER, "\u001bi");
    const shown = () => session.terminal.screen.join("\n");
    expect(shown()).toContain("part-1\n");
    await session.keys(WHEEL_DOWN.repeat(2));
    expect(shown()).not.toContain("part-1\n");
    await session.keys(WHEEL_UP.repeat(2));
    expect(shown()).toContain("part-1\n");
  });
});

test("inline, arrow keys that arrive together are keys: the wheel is the terminal's own", async () => {
  const { session, shown } = await reading("inline");
  await session.keys(IS_ON, "a", "\n", "b", "\n", "\u001b[A\u001b[A", "X");
  expect(shown()).toContain("› Xa\n");
  expect(session.terminal.writes.join("")).not.toContain(TURN_OFF);
});

test("the mouse is never captured", async () => {
  const { session } = await reading("full");
  await session.keys(IS_ON, "/threads", ENTER, "q");
  expect(session.terminal.writes.join("")).not.toMatch(/\?(?:9|100[0-3])h/);
});
