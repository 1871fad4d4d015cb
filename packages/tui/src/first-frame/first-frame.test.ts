import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { SessionFixture } from "../testing/session-fixture.ts";
import { XtermTerminal } from "../testing/xterm-terminal.ts";
import { drawFirstFrame, type FirstFrame } from "./first-frame.ts";

const PLACE = { cwd: "/home/me/project", home: "/home/me", branch: "main" };
const LOOK = { columns: 80, rows: 24, colour: true, unicode: true };
const CTRL_C = "\u0003";

/** The keyboard of a terminal. */
class Keyboard extends EventEmitter {
  isRaw = false;

  setRawMode(isRaw: boolean): this {
    this.isRaw = isRaw;
    return this;
  }
  pause(): this {
    return this;
  }
  resume(): this {
    return this;
  }
}

interface Drawn {
  readonly frame: FirstFrame;
  readonly keyboard: Keyboard;
  readonly exits: number[];
}

function drawOn(terminal: XtermTerminal): Drawn {
  const keyboard = new Keyboard();
  const exits: number[] = [];
  const output = { write: (text: string) => void terminal.write(text) };
  // Of a terminal's streams only these are used.
  const streams = {
    input: keyboard,
    output,
    exit: (code: number) => exits.push(code),
  } as unknown as Parameters<typeof drawFirstFrame>[0];
  return { frame: drawFirstFrame(streams, PLACE, LOOK), keyboard, exits };
}

test("shows the folder, the branch and a composer before anything is connected", async () => {
  const terminal = new XtermTerminal();
  const { keyboard } = drawOn(terminal);
  await terminal.drawn();
  expect(terminal.screen.slice(0, 3)).toEqual(["Flint · ~/project (main)", "", "› Starting…"]);
  expect(terminal.cursor).toEqual({ row: 2, column: 2 });
  expect(keyboard.isRaw).toBe(true);
});

test("becomes the session's own, with what was typed meanwhile", async () => {
  const session = new SessionFixture({
    firstFrame: (terminal) => {
      const { frame, keyboard } = drawOn(terminal);
      keyboard.emit("data", Buffer.from("early"));
      const drawn = frame.take();
      expect(keyboard.listenerCount("data")).toBe(0);
      expect(drawn.typed.map(String)).toEqual(["early"]);
      return drawn;
    },
  });
  await session.settle();
  await session.keys("!");
  expect(session.terminal.everything.split("\n")).toEqual([
    "Flint scripted · steady · permissions: ask · /code (main)",
    "",
    "› !",
    "  scripted/steady · ask · F1 for help",
  ]);
});

test("Enter that was pressed before raw mode is Enter, and Ctrl-J later is Ctrl-J", async () => {
  const { frame, keyboard } = drawOn(new XtermTerminal());
  keyboard.emit("data", Buffer.from("/status\n"));
  await new Promise((resolve) => setImmediate(resolve));
  keyboard.emit("data", Buffer.from("one\ntwo"));
  expect(frame.take().typed.map(String)).toEqual(["/status\r", "one\ntwo"]);
});

test("starts at column 0 after echoed input", async () => {
  const terminal = new XtermTerminal();
  terminal.write("early");
  drawOn(terminal);
  await terminal.drawn();
  expect(terminal.screen.slice(0, 3)).toEqual(["Flint · ~/project (main)", "", "› Starting…"]);
});

test("is removed without a trace if the command ends without a session", async () => {
  const terminal = new XtermTerminal();
  const { frame, keyboard } = drawOn(terminal);
  frame.erase();
  frame.erase();
  await terminal.drawn();
  expect(terminal.everything).toBe("");
  expect(terminal.cursor).toEqual({ row: 0, column: 0 });
  expect(keyboard.isRaw).toBe(false);
});

test("Ctrl-C ends the program and restores the terminal", async () => {
  const terminal = new XtermTerminal();
  const { keyboard, exits } = drawOn(terminal);
  keyboard.emit("data", Buffer.from(CTRL_C));
  await terminal.drawn();
  expect(terminal.everything).toBe("");
  expect(keyboard.isRaw).toBe(false);
  expect(exits).toEqual([130]);
});
