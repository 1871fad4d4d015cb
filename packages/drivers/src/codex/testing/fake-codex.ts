import { PassThrough } from "node:stream";
import type {
  LaunchResult,
  LaunchSpec,
  ProcessSpec,
  RunningProcess,
  Sandbox,
  SessionSpec,
} from "@flint/core/ports";
import type { ThreadSettings } from "@flint/protocol";
import { CodexDriver } from "../driver.ts";
import type { CodexTiming } from "../process/server.ts";

/** A message on the wire. */
export type WireMessage = Readonly<Record<string, unknown>>;

const THREAD = { id: "thread-1", preview: "", cwd: "/workspace", turns: [] };
const TURN = { id: "turn-1", status: "inProgress", items: [] };

/** What it answers to a request; requests without an entry are never answered. */
const ANSWERS: Readonly<Record<string, object>> = {
  initialize: { userAgent: "flint/0.166.0 (test)" },
  "thread/start": { thread: THREAD, model: "model-1" },
  "thread/resume": { thread: THREAD, model: "model-1" },
  "turn/start": { turn: TURN },
  "turn/steer": { turnId: TURN.id },
  "thread/backgroundTerminals/clean": {},
  "thread/unsubscribe": {},
  "model/list": { data: [], nextCursor: null },
};

/** A program on the other end of the wire that does what a test says, started through the sandbox like the real one. */
export class FakeCodex implements Sandbox {
  /** What it was told, in order. */
  readonly lines: string[] = [];
  /** What it was started with, each time. */
  readonly starts: ProcessSpec[] = [];
  readonly answers = new Map(Object.entries(ANSWERS));
  #stdout = new PassThrough();
  #stderr = new PassThrough();
  #exit: (exitCode: number) => void = () => {};
  readonly #waiting = new Set<{
    holds(message: WireMessage): boolean;
    resolve(message: WireMessage): void;
  }>();

  async state() {
    return { available: true, mechanism: "none" };
  }

  /** What it does when it is to run to its end. */
  launch = async (_spec: LaunchSpec): Promise<LaunchResult> => {
    throw new Error("Nothing is to be run to its end here.");
  };

  async start(spec: ProcessSpec): Promise<RunningProcess> {
    this.starts.push(spec);
    const stdin = new PassThrough();
    this.#stdout = new PassThrough();
    this.#stderr = new PassThrough();
    const exited = new Promise<{ exitCode: number }>((resolve) => {
      this.#exit = (exitCode) => resolve({ exitCode });
    });
    let rest = "";
    stdin.setEncoding("utf8");
    stdin.on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#onLine(line);
    });
    return { stdin, stdout: this.#stdout, stderr: this.#stderr, exited, stop: async () => this.die(143, "") };
  }

  /** All that it was told, read. */
  get messages(): WireMessage[] {
    return this.lines.map((line): WireMessage => JSON.parse(line));
  }

  /** The first message for which this holds, told already or still to come. */
  told(holds: (message: WireMessage) => boolean): Promise<WireMessage> {
    const found = this.messages.find(holds);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve) => this.#waiting.add({ holds, resolve }));
  }

  /** Says something. */
  say(...messages: readonly (WireMessage | string)[]): void {
    const lines = messages.map((message) =>
      typeof message === "string" ? message : JSON.stringify(message),
    );
    this.#stdout.write(lines.map((line) => `${line}\n`).join(""));
  }

  /** Tells the end of the turn. */
  endTurn(status = "completed"): void {
    this.say({ method: "turn/completed", params: { threadId: THREAD.id, turn: { ...TURN, status } } });
  }

  /** Ends, with these last words. */
  die(exitCode: number, words: string): void {
    this.#stderr.end(words);
    this.#stdout.end();
    this.#exit(exitCode);
  }

  #onLine(line: string): void {
    this.lines.push(line);
    const message: WireMessage = JSON.parse(line);
    const answer = this.answers.get(String(message.method));
    if (message.id !== undefined && answer !== undefined) this.say({ id: message.id, result: answer });
    if (message.method === "thread/unsubscribe")
      this.say({ method: "thread/closed", params: { threadId: THREAD.id } });
    for (const waiter of this.#waiting) {
      if (!waiter.holds(message)) continue;
      this.#waiting.delete(waiter);
      waiter.resolve(message);
    }
  }
}

/** A thread without a sandbox of which everything is asked. */
export const SETTINGS: ThreadSettings = {
  model: "codex/default",
  cwd: "/workspace",
  approvalPolicy: "always",
  sandboxPolicy: { type: "dangerFullAccess" },
  config: {},
};

/** Where the turn of a fake program is. */
export const PLACE = { threadId: "thread-1", turnId: "turn-1" };

/** How a session differs from a first one. */
export interface FakeSessionWishes {
  readonly spec?: Partial<SessionSpec>;
  readonly timing?: Partial<CodexTiming>;
}

/** What a first session is opened with. */
export function specOf(fake: FakeCodex): SessionSpec {
  return {
    ...{ threadId: "flint-thread", settings: SETTINGS, nativeId: undefined, sandbox: fake, mcpServers: [] },
    ...{ history: async () => [], handoffSummary: async () => "" },
  };
}

/** A session that talks to a fake program, for the running test: `fakeSession(fake, onTestFinished)`. */
export async function fakeSession(
  fake: FakeCodex,
  atEnd: (cleanUp: () => Promise<void>) => void,
  { spec = {}, timing = { stop: 100 } }: FakeSessionWishes = {},
) {
  const program = async () => ({ command: ["codex"], environment: {} });
  const driver = new CodexDriver({ program, version: "1.2.3", sandbox: fake }, timing);
  const opened = await driver.open({ ...specOf(fake), ...spec });
  atEnd(async () => {
    await opened.close();
    await driver.close();
  });
  return { opened, driver };
}
