import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { PassThrough, Readable, type Stream } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { Clock } from "@flint/core/ports";
import { mintId } from "@flint/protocol";

/** The environment variable that marks all processes of a command, even those that leave its process group. */
export const MARK_NAME = "FLINT_COMMAND_ID";

/** The time to wait for what the kernel does at once: ending a killed process, closing a pipe. */
export const KERNEL_MS = 1000;

/** Each round lists all processes, so this many take longer than any process needs to die. */
const SWEEP_ROUNDS = 500;

/** The limit of a wrapper's output from before the command starts. */
const MAX_WRAPPER_CHARACTERS = 65_536;

/** The specification of a program to start. */
export interface RunSpec {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly containment: "namespace" | "group";
  /** A file that the wrapper reads as descriptor 5. */
  readonly filterFile?: string | undefined;
  readonly clock: Clock;
}

/** The outcome of a program, or why it could not be started. */
export interface TreeEnd {
  readonly exitCode: number;
  readonly failure?: Error;
}

/** A program with all processes it starts, until none of them is left. */
export class ProcessTree {
  readonly child: ChildProcess;
  /** Resolves when none of its processes is left; unread output may remain. Never rejects. */
  readonly ended: Promise<TreeEnd>;
  /**
   * Resolves to true if the sandbox was set up and the command itself started, at the latest when the program
   * ends.
   */
  readonly started: Promise<boolean>;
  /** The stderr of the command; of the wrapper if the command did not start, unless it was stopped. */
  readonly stderr: Readable | null;
  readonly #spec: RunSpec;
  readonly #mark = mintId();
  readonly #timers: (() => void)[] = [];
  #stopped = false;
  #killed = false;
  /** True if processes may be left after the started one has ended. */
  #mustSweep: boolean;

  /** Throws for arguments that cannot be passed to a program, such as too long ones or ones with a NUL. */
  constructor(spec: RunSpec, stdin: "ignore" | "pipe") {
    this.#spec = spec;
    this.#mustSweep = spec.containment === "group";
    this.child = start(spec, stdin, this.#mark);
    // First of all, because an unhandled "error" event would end the whole server.
    this.ended = this.#watch();
    this.started = spec.containment === "group" ? Promise.resolve(true) : hasOutput(pipesOf(this.child)[3]);
    this.stderr = this.#commandStderr();
  }

  /** Terminates all processes, and kills those that are left after `graceMs`. */
  stop(graceMs: number): void {
    const { pid } = this.child;
    if (pid === undefined || this.hasExited) return;
    this.#stopped = true;
    if (this.#spec.containment === "group") signalProcess(-pid, "SIGTERM");
    for (const { pid: descendant } of descendantsOf(pid, listProcesses()))
      signalProcess(descendant, "SIGTERM");
    this.#later(graceMs, () => this.#kill(pid));
  }

  get hasExited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Reports whether it was killed. */
  get wasKilled(): boolean {
    return this.#killed;
  }

  /** Reports whether a process may be left that the sweep did not find, because it dropped its mark. */
  get wasSearchedFor(): boolean {
    return this.#mustSweep;
  }

  /** Stops reading pipes whose other end may stay open for ever. */
  closePipes(): void {
    this.child.stdout?.destroy();
    this.stderr?.destroy();
  }

  #commandStderr(): Readable | null {
    const [, , wrapper, , command] = pipesOf(this.child);
    if (!(wrapper instanceof Readable && command instanceof Readable)) return this.child.stderr ?? null;
    const text = textFrom(wrapper);
    const stderr = new PassThrough();
    command.on("error", () => command.destroy());
    command.once("close", async () => {
      if (!(await this.started) && !this.#stopped) stderr.write(await text);
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
    // In a namespace this pipe closes on its own, and may still have to be read.
    if (this.#mustSweep) pipesOf(this.child)[3]?.destroy();
    for (const cancel of this.#timers) cancel();
    // Wrappers report a kill in different ways.
    return this.#killed ? { exitCode: exitCodeOf("SIGKILL") } : end;
  }

  /**
   * In a namespace the descendants are killed first; then the started program exits after the kernel has emptied the
   * namespace. If it has no descendants yet, or does not exit, it is killed itself.
   */
  #kill(pid: number): void {
    if (this.hasExited) return;
    this.#killed = true;
    const descendants = descendantsOf(pid, listProcesses());
    for (const { pid: descendant } of descendants) signalProcess(descendant, "SIGKILL");
    if (this.#spec.containment === "namespace" && descendants.length > 0) {
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

  /** Kills everything that has the mark, and resolves when nothing is left. */
  async #sweep(): Promise<void> {
    for (let round = 0; round < SWEEP_ROUNDS; round += 1) {
      const left = processesWithMark(this.#mark);
      if (left.length === 0) return;
      for (const pid of left) signalProcess(pid, "SIGKILL");
      await setImmediate();
    }
  }

  #later(milliseconds: number, action: () => void): void {
    this.#timers.push(this.#spec.clock.after(milliseconds, action));
  }
}

/** Starts a program in a session of its own, so that a command that signals its group does not reach the server. */
function start(spec: RunSpec, stdin: "ignore" | "pipe", mark: string): ChildProcess {
  const [program = "", ...rest] = spec.argv;
  const filter = spec.filterFile === undefined ? undefined : openSync(spec.filterFile, "r");
  // Expected: arguments that cannot be passed. Nothing stays open then either.
  try {
    return spawn(program, rest, {
      ...{ cwd: spec.cwd, env: { ...spec.environment, [MARK_NAME]: mark }, detached: true },
      // The fourth notifies the watcher of a group when this process ends, and us when a command in a namespace starts.
      // The fifth is the stderr of a command in a namespace, separate from that of its wrapper.
      stdio: [
        ...[stdin, "pipe" as const, "pipe" as const, "pipe" as const],
        ...(spec.containment === "group" ? [] : ["pipe" as const]),
        ...(filter === undefined ? [] : [filter]),
      ],
    });
  } finally {
    if (filter !== undefined) closeSync(filter);
  }
}

/** The pipes of a started program. Node omits them when descriptors run out, despite its types. */
export function pipesOf(child: ChildProcess): Partial<ChildProcess["stdio"]> | readonly [] {
  const stdio: ChildProcess["stdio"] | undefined = child.stdio;
  return stdio ?? [];
}

/** Reports whether the stream had any data before it ended. */
function hasOutput(stream: Stream | null | undefined): Promise<boolean> {
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

/** The beginning of a stream as text. Never rejects. */
function textFrom(stream: Readable): Promise<string> {
  let start = "";
  stream.setEncoding("utf8").on("data", (text: string) => {
    start = (start + text).slice(0, MAX_WRAPPER_CHARACTERS);
  });
  stream.once("error", () => stream.destroy());
  return new Promise((resolve) => stream.once("close", () => resolve(start)));
}

function exitCodeOf(signal: NodeJS.Signals | null): number {
  return 128 + (signal === null ? 0 : constants.signals[signal]);
}

/** A running process. */
interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
}

/** All running processes; none on a system without /proc. */
function listProcesses(): ProcessRow[] {
  return processIds()
    .map(readProcess)
    .filter((row) => row !== undefined);
}

/** The descendants of a process, nearest first. */
function descendantsOf(pid: number, rows: readonly ProcessRow[]): ProcessRow[] {
  const found: ProcessRow[] = [];
  let parents = new Set([pid]);
  while (parents.size > 0) {
    const children = rows.filter((row) => parents.has(row.parent));
    found.push(...children);
    parents = new Set(children.map((child) => child.pid));
  }
  return found;
}

/** The processes with this mark in their environment. */
function processesWithMark(mark: string): number[] {
  const line = `${MARK_NAME}=${mark}`;
  return processIds().filter((pid) => {
    const environment = readText(`/proc/${pid}/environ`);
    return environment?.split("\0").includes(line) === true;
  });
}

/** Signals a process, or a group if negative. Ignores one that is gone. */
function signalProcess(pid: number, signal: NodeJS.Signals): void {
  // Expected: the process has ended, or belongs to another user by now.
  try {
    process.kill(pid, signal);
  } catch {}
}

function processIds(): number[] {
  // Expected: no /proc on this system.
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function readProcess(pid: number): ProcessRow | undefined {
  const text = readText(`/proc/${pid}/stat`);
  // The name in parentheses may contain anything, including parentheses and spaces.
  const [state, parent] = text?.slice(text.lastIndexOf(")") + 2).split(" ") ?? [];
  if (parent === undefined || state === "Z" || state === "X") return undefined;
  return { pid, parent: Number(parent) };
}

function readText(file: string): string | undefined {
  // Expected: the process has ended, or belongs to another user.
  try {
    return readFileSync(file, "latin1");
  } catch {
    return undefined;
  }
}
