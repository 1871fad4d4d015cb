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
import { sessionSpec, testSettings } from "../../testing/session-spec.ts";
import { CodexDriver } from "../driver.ts";
import type { CodexTiming } from "../process/server.ts";

/** A message on the wire. */
export type WireMessage = Readonly<Record<string, unknown>>;

const THREAD = { id: "thread-1", preview: "", cwd: "/workspace", turns: [] };
const TURN = { id: "turn-1", status: "inProgress", items: [] };

/** Answers to requests; a request without an entry is never answered. */
const ANSWERS: Readonly<Record<string, object>> = {
  initialize: { userAgent: "flint/0.166.0 (test)" },
  "thread/start": { thread: THREAD, model: "model-1" },
  "thread/resume": { thread: THREAD, model: "model-1" },
  "turn/start": { turn: TURN },
  "turn/steer": { turnId: TURN.id },
  "thread/backgroundTerminals/clean": {},
  "thread/backgroundTerminals/list": { data: [], nextCursor: null },
  "thread/unsubscribe": {},
  "model/list": { data: [], nextCursor: null },
};

/** A scripted `codex app-server`, started through the sandbox like the real one. */
export class FakeCodex implements Sandbox {
  /** The lines that it received, in order. */
  readonly lines: string[] = [];
  /** The specification of each start. */
  readonly starts: ProcessSpec[] = [];
  readonly answers = new Map(Object.entries(ANSWERS));
  #stdout = new PassThrough();
  #stderr = new PassThrough();
  #exit: (exitCode: number) => void = () => {};
  readonly #waiting = new Set<{
    matches(message: WireMessage): boolean;
    resolve(message: WireMessage): void;
  }>();

  async state() {
    return { available: true, mechanism: "none" };
  }

  /** Runs a command to its end; a test may replace it. */
  launch = async (_spec: LaunchSpec): Promise<LaunchResult> => {
    throw new Error("This fake runs no commands.");
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
    return {
      stdin,
      stdout: this.#stdout,
      stderr: this.#stderr,
      exited,
      stop: async () => this.exit(143, ""),
    };
  }

  /** The messages that it received. */
  get messages(): WireMessage[] {
    return this.lines.map((line): WireMessage => JSON.parse(line));
  }

  /** Resolves with the first message that matches, received already or later. */
  received(matches: (message: WireMessage) => boolean): Promise<WireMessage> {
    const found = this.messages.find(matches);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve) => this.#waiting.add({ matches, resolve }));
  }

  /** Sends messages; a string is sent as it is. */
  send(...messages: readonly (WireMessage | string)[]): void {
    const lines = messages.map((message) =>
      typeof message === "string" ? message : JSON.stringify(message),
    );
    this.#stdout.write(lines.map((line) => `${line}\n`).join(""));
  }

  /** Sends the end of the turn. */
  endTurn(status = "completed"): void {
    this.send({ method: "turn/completed", params: { threadId: THREAD.id, turn: { ...TURN, status } } });
  }

  /** Exits, with this output on stderr. */
  exit(exitCode: number, stderr: string): void {
    this.#stderr.end(stderr);
    this.#stdout.end();
    this.#exit(exitCode);
  }

  #onLine(line: string): void {
    this.lines.push(line);
    const message: WireMessage = JSON.parse(line);
    const answer = this.answers.get(String(message.method));
    if (message.id !== undefined && answer !== undefined) this.send({ id: message.id, result: answer });
    if (message.method === "thread/unsubscribe")
      this.send({ method: "thread/closed", params: { threadId: THREAD.id } });
    for (const waiter of this.#waiting) {
      if (!waiter.matches(message)) continue;
      this.#waiting.delete(waiter);
      waiter.resolve(message);
    }
  }
}

/** The settings of a thread without a sandbox, in which everything needs approval. */
export const SETTINGS: ThreadSettings = testSettings("codex/default", "/workspace", {
  sandboxPolicy: { type: "dangerFullAccess" },
});

/** The thread and the turn of a fake program. */
export const TURN_IDS = { threadId: "thread-1", turnId: "turn-1" };

/** Differences of a session from the default one. */
export interface FakeSessionOptions {
  readonly spec?: Partial<SessionSpec>;
  readonly timing?: Partial<CodexTiming>;
}

/** A session with a fake program, for the running test: `fakeSession(fake, onTestFinished)`. */
export async function fakeSession(
  fake: FakeCodex,
  atEnd: (cleanUp: () => Promise<void>) => void,
  { spec = {}, timing = { stop: 100 } }: FakeSessionOptions = {},
) {
  const program = async () => ({ command: ["codex"], environment: {} });
  const driver = new CodexDriver({ program, version: "1.2.3", sandbox: fake }, timing);
  const opened = await driver.open(sessionSpec(SETTINGS, fake, spec));
  atEnd(async () => {
    await opened.close();
    await driver.close();
  });
  return { opened, driver };
}
