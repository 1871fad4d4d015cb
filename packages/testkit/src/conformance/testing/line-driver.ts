import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import type { Driver, DriverSession, TurnContext, TurnOutcome } from "@flint/core/ports";
import { mintId } from "@flint/protocol";
import type { TestClock } from "../../clock.ts";

/** One thing that a line driver does wrong. */
export type LineFault =
  | "waitsForEver"
  | "keepsAllWords"
  | "hidesWords"
  | "ignoresInterrupt"
  | "talksOn"
  | "asksLate";

const STARTS_WITHIN_MS = 30_000;
const LONGEST_LINE = 1024 * 1024;
const KEPT_WORDS = 1024;

/** A driver for agents that speak a made-up wire of JSON lines; proof that the suite of bad agents can be passed. */
export function lineDriver(command: readonly string[], clock: TestClock, fault?: LineFault): Driver {
  return {
    id: "line",
    models: async () => [{ id: "line/one", displayName: "One", isDefault: true }],
    options: async () => [],
    open: async () => new LineSession(command, clock, fault),
  };
}

/** The steps of the agent up to the middle of the first turn. */
export const MID_TURN = [
  { expect: { method: "hello" } },
  { send: { method: "hello" } },
  { expect: { method: "turn" } },
  { send: { method: "say", text: "Well, " } },
] as const;

/** An agent that asks after its turn, and does another one once that was refused. */
export const ASKS_LATE = {
  refused: [
    ...MID_TURN,
    { send: { method: "done" } },
    { send: { method: "may" } },
    { expect: { method: "no" } },
  ],
  next: [{ expect: { method: "turn" } }, { send: { method: "done" } }],
} as const;

class LineSession implements DriverSession {
  readonly #agent: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #fault: LineFault | undefined;
  readonly #clock: TestClock;
  readonly #exited: Promise<unknown>;
  #words = "";
  #rest = "";
  #running: { readonly turn: TurnContext; end(outcome: TurnOutcome): void } | undefined;
  #latest: TurnContext | undefined;
  #isTooLong = false;
  #greet: () => void = () => {};
  readonly #greeted = new Promise<void>((resolve) => {
    this.#greet = resolve;
  });

  constructor([program = "", ...rest]: readonly string[], clock: TestClock, fault: LineFault | undefined) {
    this.#fault = fault;
    this.#clock = clock;
    this.#agent = spawn(program, rest, { stdio: "pipe" });
    this.#exited = once(this.#agent, "close").then(() => this.#fail("The agent ended."));
    this.#agent.stdin.on("error", () => undefined);
    this.#agent.stdout.setEncoding("utf8").on("data", (text: string) => this.#read(text));
    this.#agent.stderr.setEncoding("utf8").on("data", (text: string) => this.#onStderr(text));
    this.#send("hello");
  }

  run(turn: TurnContext): Promise<TurnOutcome> {
    return new Promise((resolve) => {
      this.#latest = turn;
      this.#running = { turn, end: resolve };
      const limit = this.#fault === "waitsForEver" ? Number.POSITIVE_INFINITY : STARTS_WITHIN_MS;
      const cancel = this.#clock.after(limit, () => this.#fail("The agent does not answer."));
      if (this.#fault !== "ignoresInterrupt")
        turn.signal.addEventListener("abort", () => this.#end({ status: "interrupted" }));
      void this.#greeted.then(() => {
        cancel();
        this.#send("turn");
      });
    });
  }

  async close(): Promise<void> {
    this.#agent.kill("SIGKILL");
    await this.#exited;
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    if (this.#rest.length > LONGEST_LINE) {
      this.#rest = "";
      this.#isTooLong = true;
    }
    for (const line of lines) {
      if (!this.#isTooLong) this.#take(line);
      this.#isTooLong = false;
    }
  }

  #take(line: string): void {
    const method = methodOf(line);
    if (method === "hello") this.#greet();
    if (method === "say") this.#say(this.#running?.turn);
    if (method === "done") this.#end({ status: "completed" });
    if (method === "may") void this.#ask();
  }

  #say(turn: TurnContext | undefined): void {
    const item = { type: "agentMessage" as const, id: mintId(), text: "Well, " };
    turn?.emit({ type: "item/started", item });
    turn?.emit({ type: "item/completed", item });
  }

  async #ask(): Promise<void> {
    const action = { kind: "tool" as const, itemId: mintId(), tool: "lamp" };
    const turn = this.#fault === "asksLate" ? this.#latest : this.#running?.turn;
    const decision = await turn?.approve(action);
    this.#send(decision?.outcome === "allow" ? "yes" : "no");
  }

  #onStderr(text: string): void {
    const words = this.#words + text;
    this.#words = this.#fault === "keepsAllWords" ? words : words.slice(-KEPT_WORDS);
  }

  #fail(reason: string): void {
    const words = this.#fault === "hidesWords" ? "" : this.#words;
    this.#end({ status: "failed", error: { message: `${reason} ${words}` } });
  }

  #end(outcome: TurnOutcome): void {
    const running = this.#running;
    this.#running = undefined;
    running?.end(outcome);
    if (this.#fault === "talksOn") setImmediate(() => this.#say(running?.turn));
  }

  #send(method: string): void {
    this.#agent.stdin.write(`${JSON.stringify({ method })}\n`);
  }
}

function methodOf(line: string): unknown {
  // Expected: lines that are not JSON.
  try {
    return Object(JSON.parse(line)).method;
  } catch {
    return undefined;
  }
}
