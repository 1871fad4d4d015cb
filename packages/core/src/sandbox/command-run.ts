import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { setImmediate } from "node:timers/promises";
import { mintId } from "@flint/protocol";
import type { Clock } from "../ports/clock.ts";
import type { LaunchResult, LaunchSpec } from "../ports/sandbox.ts";
import { descendantsOf, listProcesses, MARK_NAME, processesMarked, signalProcess } from "./processes.ts";

/** How long a command may take to end by itself after it was asked to. */
export const GRACE_MS = 200;

/** How long to wait for what the kernel does at once: the end of a killed process, the end of a closed pipe. */
const KERNEL_MS = 1000;

/** Each round looks at all processes, so this many take longer than any process needs to die. */
const SWEEP_ROUNDS = 500;

/** What is started for a command, and how. */
export interface RunSpec {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly leash: "namespace" | "group";
  readonly clock: Clock;
}

type Wish = Pick<LaunchSpec, "output" | "timeoutMs" | "signal">;

/** One command from its start to the moment when nothing of it is left. */
export class CommandRun {
  readonly #spec: RunSpec;
  readonly #wish: Wish;
  readonly #mark = mintId();
  #child: ChildProcess | undefined;
  #ended: LaunchResult["ended"] = "exited";
  #killed = false;
  /** Whether processes may be left that the end of the started one does not end. */
  #mustSweep: boolean;
  readonly #timers: (() => void)[] = [];

  constructor(spec: RunSpec, wish: Wish) {
    this.#spec = spec;
    this.#wish = wish;
    this.#mustSweep = spec.leash === "group";
  }

  /** Runs it. Never rejects: what cannot be started ends like a command that failed. */
  async result(): Promise<LaunchResult> {
    const startedAt = this.#spec.clock.now();
    const exitCode = await this.#run();
    return { exitCode, durationMs: this.#spec.clock.now() - startedAt, ended: this.#ended };
  }

  async #run(): Promise<number> {
    // Expected: arguments that no program can be given, such as too long ones or ones with a NUL.
    try {
      this.#child = this.#start();
    } catch (thrown) {
      return this.#couldNotStart(thrown);
    }
    const abort = () => this.#stop("aborted");
    this.#wish.signal?.addEventListener("abort", abort, { once: true });
    if (this.#wish.timeoutMs !== undefined) this.#later(this.#wish.timeoutMs, () => this.#stop("timedOut"));
    try {
      return await this.#watch(this.#child);
    } finally {
      this.#wish.signal?.removeEventListener("abort", abort);
      for (const cancel of this.#timers) cancel();
    }
  }

  #start(): ChildProcess {
    const [program = "", ...rest] = this.#spec.argv;
    return spawn(program, rest, {
      cwd: this.#spec.cwd,
      env: { ...this.#spec.environment, [MARK_NAME]: this.#mark },
      // A session of its own: a command that signals its group must not reach the server.
      detached: true,
      // The last one tells the guard of a group when this process ends.
      stdio: ["ignore", "pipe", "pipe", ...(this.#spec.leash === "group" ? ["pipe" as const] : [])],
    });
  }

  async #watch(child: ChildProcess): Promise<number> {
    const closed = Promise.all([this.#follow(child.stdout, "stdout"), this.#follow(child.stderr, "stderr")]);
    const exitCode = await new Promise<number>((resolve) => {
      child.once("exit", (code, signal) => resolve(code ?? exitCodeOf(signal)));
      child.once("error", (error) => resolve(this.#couldNotStart(error)));
    });
    if (this.#mustSweep) {
      await this.#sweep();
      child.stdio[3]?.destroy();
      // Somebody who shed the mark may still hold the pipes; the output of the command itself is in by now.
      this.#later(KERNEL_MS, () => closePipes(child));
    }
    await closed;
    // What a wrapper makes of a kill that came from here differs from one to the other.
    return this.#killed ? exitCodeOf("SIGKILL") : exitCode;
  }

  #follow(stream: Readable | null, name: "stdout" | "stderr"): Promise<void> {
    const decoder = new StringDecoder("utf8");
    const tell = (text: string) => {
      if (text !== "") this.#wish.output(text, name);
    };
    stream?.on("data", (chunk: Buffer) => tell(decoder.write(chunk)));
    return new Promise((resolve) => {
      if (stream === null) return resolve();
      stream.once("error", () => stream.destroy());
      stream.once("close", () => {
        tell(decoder.end());
        resolve();
      });
    });
  }

  #couldNotStart(thrown: unknown): number {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    this.#wish.output(`flint: the command could not be started: ${reason}\n`, "stderr");
    return 126;
  }

  /** Asks everything to end, and ends it a moment later. */
  #stop(why: "timedOut" | "aborted"): void {
    const pid = this.#child?.pid;
    if (this.#ended !== "exited" || pid === undefined || this.#hasExited()) return;
    this.#ended = why;
    if (this.#spec.leash === "group") signalProcess(-pid, "SIGTERM");
    for (const { pid: descendant } of descendantsOf(pid, listProcesses()))
      signalProcess(descendant, "SIGTERM");
    this.#later(GRACE_MS, () => this.#kill(pid));
  }

  /**
   * In a namespace the descendants go first: the program that was started then ends by itself, after the kernel has
   * emptied the namespace. If it has none yet, or does not end, it is killed itself.
   */
  #kill(pid: number): void {
    this.#killed = true;
    const descendants = descendantsOf(pid, listProcesses());
    for (const { pid: descendant } of descendants) signalProcess(descendant, "SIGKILL");
    if (this.#spec.leash === "namespace" && descendants.length > 0) {
      this.#later(KERNEL_MS, () => this.#killStarted(pid));
    } else {
      this.#killStarted(pid);
    }
  }

  #killStarted(pid: number): void {
    if (this.#hasExited()) return;
    this.#mustSweep = true;
    signalProcess(-pid, "SIGKILL");
  }

  /** Ends whatever carries the mark, and resolves when there is nothing of it. */
  async #sweep(): Promise<void> {
    for (let round = 0; round < SWEEP_ROUNDS; round += 1) {
      const left = processesMarked(this.#mark);
      if (left.length === 0) return;
      for (const pid of left) signalProcess(pid, "SIGKILL");
      await setImmediate();
    }
  }

  #hasExited(): boolean {
    return this.#child?.exitCode !== null || this.#child.signalCode !== null;
  }

  #later(milliseconds: number, action: () => void): void {
    this.#timers.push(this.#spec.clock.after(milliseconds, action));
  }
}

function closePipes(child: ChildProcess): void {
  child.stdout?.destroy();
  child.stderr?.destroy();
}

function exitCodeOf(signal: NodeJS.Signals | null): number {
  return 128 + (signal === null ? 0 : constants.signals[signal]);
}
