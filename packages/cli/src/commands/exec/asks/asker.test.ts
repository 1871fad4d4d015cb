import { settled, TestClock } from "@flint/testkit";
import { type Line, type LineBlock, textOf } from "@flint/tui/draw";
import { Keyboard, type KeySource } from "@flint/tui/terminal";
import { expect, test } from "vitest";
import type { PromptSurface } from "../output/turn-view.ts";
import { Approvals } from "./approvals.ts";
import { Asker } from "./asker.ts";
import { questionsFor } from "./questions.ts";

class Terminal implements KeySource, PromptSurface {
  raw = false;
  said: string[] = [];
  asked: string | undefined;
  #listeners = new Set<(chunk: Buffer) => void>();

  setRawMode(raw: boolean): void {
    this.raw = raw;
  }
  resume(): void {}
  pause(): void {}
  on(_: "data", listener: (chunk: Buffer) => void): void {
    this.#listeners.add(listener);
  }
  off(_: "data", listener: (chunk: Buffer) => void): void {
    this.#listeners.delete(listener);
  }
  put(block: LineBlock): void {
    this.said.push(...block.head.map(textOf));
  }
  prompt(line: Line | undefined): void {
    this.asked = line === undefined ? undefined : textOf(line).replaceAll("\u00a0", " ");
  }
  async type(keys: string): Promise<void> {
    for (const listener of this.#listeners) listener(Buffer.from(keys));
    await settled();
  }
}

function setUp() {
  const clock = new TestClock();
  const terminal = new Terminal();
  const interrupts: string[] = [];
  const keyboard = new Keyboard(terminal, (key) => interrupts.push(key.type));
  const asker = new Asker({ keyboard, surface: terminal, clock });
  const look = () => ({ columns: 80, rows: 20, colour: false, unicode: true });
  const approvals = new Approvals({ asker, look, cwd: "/code" });
  const controller = new AbortController();
  return { clock, terminal, asker, approvals, controller, interrupts, keyboard };
}

const command = { kind: "command", itemId: "c", command: "make", cwd: "/code" } as const;
const request = { threadId: "t", turnId: "u", approvalId: "a", action: command };
const no = { decision: "decline", message: "The user declined." };
const QUIET_MS = 250;

test.each([
  ["y", { decision: { outcome: "allow", scope: "once" } }],
  ["s", { decision: { outcome: "allow", scope: "session" } }],
  ["a", { decision: { outcome: "allow", scope: "always" } }],
  ["n", no],
  ["\r", no],
  ["\u001b", no],
])("answers the key %j with %j", async (key, answer) => {
  const { clock, terminal, approvals, controller } = setUp();
  const decided = approvals.decide(request, controller);
  await clock.advance(QUIET_MS);
  expect(terminal.asked).toMatch(/^Allow it\? {2}\[y\] once/);
  await terminal.type(key);
  expect(await decided).toEqual(answer);
  expect([terminal.raw, terminal.asked, approvals.isUnattended]).toEqual([false, undefined, false]);
});

test("ignores keys that were typed before the question or pasted", async () => {
  const { clock, terminal, approvals, controller, keyboard } = setUp();
  keyboard.hold();
  await terminal.type("y");
  const decided = approvals.decide(request, controller);
  await settled();
  await terminal.type("y");
  await clock.advance(QUIET_MS - 1);
  await terminal.type("y");
  await clock.advance(QUIET_MS - 1);
  expect(terminal.asked).toBeUndefined();
  await clock.advance(1);
  await terminal.type("yes\r");
  await terminal.type("x");
  expect(terminal.asked).toBeDefined();
  await terminal.type("n");
  expect(await decided).toEqual(no);
  expect(terminal.raw).toBe(true);
});

test("withdraws a question that was answered elsewhere", async () => {
  const { clock, terminal, approvals, controller } = setUp();
  const decided = approvals.decide(request, controller);
  await clock.advance(QUIET_MS);
  controller.abort();
  await decided;
  expect([terminal.asked, terminal.raw]).toEqual([undefined, false]);
});

test("treats Ctrl-C at a question as an interrupt", async () => {
  const { clock, terminal, approvals, controller, interrupts } = setUp();
  const decided = approvals.decide(request, controller);
  await clock.advance(QUIET_MS);
  await terminal.type("\u0003");
  expect([interrupts, terminal.asked === undefined]).toEqual([["interrupt"], false]);
  controller.abort();
  await decided;
});

test("declines with a message to the agent, and explains the keys on ?", async () => {
  const { clock, terminal, approvals, controller } = setUp();
  const decided = approvals.decide(request, controller);
  await clock.advance(QUIET_MS);
  await terminal.type("?");
  expect(terminal.said).toContain("  y  Allow it this time");
  await terminal.type("N");
  await clock.advance(QUIET_MS);
  await terminal.type("use nn\u007fpm");
  expect(terminal.asked).toBe("> use npm ");
  await terminal.type("\r");
  expect(await decided).toEqual({ decision: "decline", message: "The user declined: use npm" });
  expect(terminal.said.at(-1)).toBe("> use npm");
});

test("accepts a suggested rule", async () => {
  const { clock, terminal, approvals, controller } = setUp();
  const match = { type: "prefix", words: ["npm", "test"] } as const;
  const suggestion = {
    id: "r1",
    project: "/code",
    agent: "flint",
    tool: "command",
    match: { ...match, words: [...match.words] },
  };
  const decided = approvals.decide({ ...request, suggestions: [suggestion] }, controller);
  await clock.advance(QUIET_MS);
  expect(terminal.asked).toContain("[p] always npm test");
  await terminal.type("p");
  expect(await decided).toEqual({ decision: { outcome: "allow", scope: "always", rule: "r1" } });
});

test("asks one question after another", async () => {
  const { clock, terminal, approvals, controller } = setUp();
  const first = approvals.decide(request, controller);
  const second = approvals.decide({ ...request, action: { ...command, command: "rm x" } }, controller);
  await clock.advance(QUIET_MS);
  expect(terminal.said.join("\n")).not.toContain("rm x");
  await terminal.type("y");
  await clock.advance(QUIET_MS);
  expect(terminal.said.join("\n")).toContain("rm x");
  await terminal.type("n");
  expect([await first, await second]).toEqual([{ decision: { outcome: "allow", scope: "once" } }, no]);
});

test("declines if no user can be asked", async () => {
  const look = () => ({ columns: 80, rows: 20, colour: false, unicode: true });
  const approvals = new Approvals({ asker: undefined, look, cwd: "/" });
  expect(await approvals.decide(request, new AbortController())).toMatchObject({ decision: "decline" });
  expect(approvals.isUnattended).toBe(true);
});

const options = [{ label: "red" }, { label: "green" }, { label: "blue" }];

test("asks questions in order, and never shows a secret", async () => {
  const { clock, terminal, asker, controller } = setUp();
  const questions = [
    { id: "colour", question: "Which?", options },
    { id: "token", question: "Token?", secret: true },
    { id: "more", question: "More?" },
  ];
  const answered = questionsFor(asker)(
    { threadId: "t", turnId: "u", itemId: "i", questionId: "q", questions },
    controller,
  );
  await clock.advance(QUIET_MS);
  await terminal.type("2\r");
  await clock.advance(QUIET_MS);
  await terminal.type("hush");
  expect(terminal.asked).toBe("> (hidden) ");
  await terminal.type("\r");
  await clock.advance(QUIET_MS);
  await terminal.type("\u001b");
  expect(await answered).toEqual({ colour: ["green"], token: ["hush"] });
  expect(terminal.said.join("\n")).not.toContain("hush");
  expect(terminal.said).toContain("> (no answer)");
});

test("asks again until a yes-or-no question is answered", async () => {
  const { clock, terminal, asker, controller } = setUp();
  const questions = [{ id: "budget", question: "Go on?", options: [{ label: "Go on" }, { label: "Stop" }] }];
  const answered = questionsFor(asker)(
    { threadId: "t", turnId: "u", itemId: "i", questionId: "q", questions },
    controller,
  );
  await clock.advance(QUIET_MS);
  await terminal.type("perhaps\r");
  await clock.advance(QUIET_MS);
  expect(terminal.said.at(-1)).toContain("Please answer y, n");
  await terminal.type("y\r");
  expect(await answered).toEqual({ budget: ["Go on"] });
});

test("gives no answers without a user", async () => {
  const asked = { threadId: "t", turnId: "u", itemId: "i", questionId: "q", questions: [] };
  expect(await questionsFor(undefined)(asked, new AbortController())).toEqual({});
});
