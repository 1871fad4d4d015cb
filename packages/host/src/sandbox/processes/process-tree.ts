import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { PassThrough, Readable, type Stream } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { Clock } from "@flint/core/ports";
import { mintId } from "@flint/protocol";
import { descendantsOf, listProcesses, MARK_NAME, processesMarked, signalProcess } from "./process-list.ts";

/** How long to wait for what the kernel does at once: the end of a killed process, the end of a closed pipe. */
export const KERNEL_MS = 1000;

/** Each round looks at all processes, so this many take longer than any process needs to die. */
const SWEEP_ROUNDS = 500;

/** How much is kept of what a wrapper says before the command begins. */
const MOST_WRAPPER_CHARACTERS = 65_536;

/** What is started, and how. */
export interface RunSpec {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly leash: "namespace" | "group";
  readonly clock: Clock;
}

/** How a program ended, or why it never began. */
export interface TreeEnd {
  readonly exitCode: number;
  readonly failure?: Error;
}

/** A started program with all that it starts, up to the moment when nothing of it is left. */
export class ProcessTree {
  readonly child: ChildProcess;
  /** Settles when nothing of it is left; never rejects. Output may still wait to be read then. */
  readonly gone: Promise<TreeEnd>;
  /** Whether the command itself began: its namespace was arranged. Settles by the end of what was started. */
  readonly begun: Promise<boolean>;
  /** The stderr of the command; of the wrapper if the command never began, unless that is because it was stopped. */
  readonly stderr: Readable | null;
  readonly #spec: RunSpec;
  readonly #mark = mintId();
  readonly #timers: (() => void)[] = [];
  #stopped = false;
  #killed = false;
  /** Whether processes may be left that the end of the started one does not end. */
  #mustSweep: boolean;

  /** Throws for arguments that no program can be given, such as too long ones or ones with a NUL. */
  constructor(spec: RunSpec, stdin: "ignore" | "pipe") {
    const [program = "", ...rest] = spec.argv;
    this.#spec = spec;
    this.#mustSweep = spec.leash === "group";
    this.child = spawn(program, rest, {
      cwd: spec.cwd,
      env: { ...spec.environment, [MARK_NAME]: this.#mark },
      // A session of its own: a command that signals its group must not reach the server.
      detached: true,
      // The fourth tells the guard of a group when this process ends, and us when a command in a namespace begins;
      // the fifth is the stderr of a command in a namespace, apart from that of its wrapper.
      stdio: [stdin, "pipe", "pipe", "pipe", ...(spec.leash === "group" ? [] : ["pipe" as const])],
    });
    // First of all: a failure that nobody listens for would end the whole server.
    this.gone = this.#watch();
    this.begun = spec.leash === "group" ? Promise.resolve(true) : hasSpoken(pipesOf(this.child)[3]);
    this.stderr = this.#commandStderr();
  }

  /** Asks everything to end, and ends what is left after the grace. */
  stop(graceMs: number): void {
    const { pid } = this.child;
    if (pid === undefined || this.hasExited) return;
    this.#stopped = true;
    if (this.#spec.leash === "group") signalProcess(-pid, "SIGTERM");
    for (const { pid: descendant } of descendantsOf(pid, listProcesses()))
      signalProcess(descendant, "SIGTERM");
    this.#later(graceMs, () => this.#kill(pid));
  }

  get hasExited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Whether it was ended from here. */
  get wasKilled(): boolean {
    return this.#killed;
  }

  /** Whether somebody may be left that the search did not find, because a process can shed its mark. */
  get wasSearchedFor(): boolean {
    return this.#mustSweep;
  }

  /** Stops reading where somebody still holds the other end of the pipes: for ever, maybe. */
  closePipes(): void {
    this.child.stdout?.destroy();
    this.stderr?.destroy();
  }

  #commandStderr(): Readable | null {
    const [, , wrapper, , command] = pipesOf(this.child);
    if (!(wrapper instanceof Readable && command instanceof Readable)) return this.child.stderr ?? null;
    const words = wordsFrom(wrapper);
    const stderr = new PassThrough();
    command.on("error", () => command.destroy());
    command.once("close", async () => {
      if (!(await this.begun) && !this.#stopped) stderr.write(await words);
      stderr.end();
    });
    stderr.once("close", () => command.destroy());
    command.pipe(stderr, { end: false });
    return stderr;
  }

  async #watch(): Promise<TreeEnd> {
    const end = await new Promise<TreeEnd>((resolve) => {
      this.child.once("exit", (code, signal) => resolve({ exitCode: code ?? exitCodeOf(signal) }));
      this.child.once("error", (failure) => resolve({ exitCode: 126, failure }));
    });
    if (this.#mustSweep) await this.#sweep();
    // The sign of a namespace ends by itself; what is on its way there must still be read.
    if (this.#mustSweep) pipesOf(this.child)[3]?.destroy();
    for (const cancel of this.#timers) cancel();
    // What a wrapper makes of a kill that came from here differs from one to the other.
    return this.#killed ? { exitCode: exitCodeOf("SIGKILL") } : end;
  }

  /**
   * In a namespace the descendants go first: the program that was started then ends by itself, after the kernel has
   * emptied the namespace. If it has none yet, or does not end, it is killed itself.
   */
  #kill(pid: number): void {
    if (this.hasExited) return;
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
    if (this.hasExited) return;
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

  #later(milliseconds: number, action: () => void): void {
    this.#timers.push(this.#spec.clock.after(milliseconds, action));
  }
}

/** The pipes of a started program. Node leaves them out where descriptors ran out, although its types say otherwise. */
export function pipesOf(child: ChildProcess): Partial<ChildProcess["stdio"]> | readonly [] {
  const stdio: ChildProcess["stdio"] | undefined = child.stdio;
  return stdio ?? [];
}

/** Whether anything came before the stream ended. */
function hasSpoken(stream: Stream | null | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    if (!(stream instanceof Readable)) return resolve(false);
    stream.once("data", () => {
      resolve(true);
      stream.destroy();
    });
    stream.once("error", () => stream.destroy());
    stream.once("close", () => resolve(false));
  });
}

/** The beginning of what comes out of a stream; never rejects. */
function wordsFrom(stream: Readable): Promise<string> {
  let words = "";
  stream.setEncoding("utf8").on("data", (text: string) => {
    words = (words + text).slice(0, MOST_WRAPPER_CHARACTERS);
  });
  stream.once("error", () => stream.destroy());
  return new Promise((resolve) => stream.once("close", () => resolve(words)));
}

function exitCodeOf(signal: NodeJS.Signals | null): number {
  return 128 + (signal === null ? 0 : constants.signals[signal]);
}
