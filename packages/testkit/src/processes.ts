import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { onTestFinished } from "vitest";

/** A process on this machine. The start time distinguishes it from a later one with the same number. Linux only. */
export interface RunningProcess {
  readonly pid: number;
  readonly parentPid: number;
  /** In clock ticks since the machine started. */
  readonly startTime: number;
  /** Read when it is asked for, because that waits for a process that is just being started; empty once it has ended. */
  readonly command: string;
}

const POLL_MS = 20;
const GUARD_MS = 5000;
const GUARD_VARIABLE = "FLINT_TEST_GUARD";
// The numbers of these fields in /proc/PID/stat, counted from the one behind the name in brackets.
const STATE = 0;
const PARENT = 1;
const START_TIME = 19;

/** All processes below one, children of children included. Those whose parent died first are no longer below it. */
export function descendantsOf(pid: number): RunningProcess[] {
  return descendantsAmong(runningProcesses(), pid);
}

function descendantsAmong(running: readonly RunningProcess[], pid: number): RunningProcess[] {
  const found: RunningProcess[] = [];
  const parents = [pid];
  for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
    const children = running.filter((process) => process.parentPid === parent);
    found.push(...children);
    parents.push(...children.map((child) => child.pid));
  }
  return found;
}

/** Reports whether this very process runs. One that ended and was not collected yet does not count. */
export function isAlive(process: number | Pick<RunningProcess, "pid" | "startTime">): boolean {
  if (typeof process === "number") return readProcess(process) !== undefined;
  return readProcess(process.pid)?.startTime === process.startTime;
}

/** Resolves when none of them runs any more; rejects at the deadline and names those that still do. */
export async function waitForExit(
  processes: readonly (number | RunningProcess)[],
  withinMs: number = GUARD_MS,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const left = processes.filter((process) => isAlive(process));
    if (left.length === 0) return;
    if (performance.now() > deadline) {
      throw new Error(`Still running after ${withinMs} ms: ${left.map(describe).join("; ")}`);
    }
    // Only a parent is notified of the end of a process, and these are not our children.
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/**
 * Finds the processes that were started since it was made: those below this process, and by a mark in the environment
 * that they inherit also those that lost their parent. Where there is no /proc it finds nothing.
 */
export class ProcessGuard {
  readonly #before: ReadonlySet<string>;
  /** The start of the youngest process that was there before: none that was started since is older. */
  readonly #since: number;
  readonly #mark = randomUUID();
  readonly #outer = process.env[GUARD_VARIABLE];

  constructor() {
    const running = runningProcesses();
    this.#before = new Set(running.map(identity));
    this.#since = running.reduce((latest, { startTime }) => Math.max(latest, startTime), 0);
    process.env[GUARD_VARIABLE] = this.#mark;
  }

  /** Rejects if one of them is left at the deadline, and ends it. */
  async release(withinMs: number = GUARD_MS): Promise<void> {
    if (this.#outer === undefined) delete process.env[GUARD_VARIABLE];
    else process.env[GUARD_VARIABLE] = this.#outer;
    const started = this.#started();
    await waitForExit(started, withinMs).catch((error: unknown) => {
      for (const left of started.filter(isAlive)) endNow(left.pid);
      throw error;
    });
  }

  #started(): RunningProcess[] {
    const mark = `${GUARD_VARIABLE}=${this.#mark}`;
    const running = runningProcesses();
    const below = new Set(descendantsAmong(running, process.pid));
    return running
      .filter((one) => one.startTime >= this.#since && !this.#before.has(identity(one)))
      .filter((one) => below.has(one) || hasMark(one.pid, mark));
  }
}

/**
 * Fails the running test if a process that was started during it is left at its end, and ends that process. Call it
 * first in a test: what is registered later is cleaned up before it looks.
 */
export function leavesNoProcess(withinMs: number = GUARD_MS): void {
  const guard = new ProcessGuard();
  onTestFinished(() => guard.release(withinMs));
}

function hasMark(pid: number, mark: string): boolean {
  return readQuietly(`/proc/${pid}/environ`)?.split("\0").includes(mark) ?? false;
}

function endNow(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended in the meantime.
  }
}

/** Every process on this machine. */
export function runningProcesses(): RunningProcess[] {
  if (!existsSync("/proc/self/stat")) return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? []);
}

function readProcess(pid: number): RunningProcess | undefined {
  const stat = readQuietly(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name in brackets may itself hold spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const state = fields[STATE] ?? "X";
  if (state === "Z" || state === "X") return undefined;
  return {
    pid,
    parentPid: Number(fields[PARENT]),
    startTime: Number(fields[START_TIME]),
    get command() {
      return readQuietly(`/proc/${pid}/cmdline`)?.replaceAll("\0", " ").trim() ?? "";
    },
  };
}

function readQuietly(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // A process may end at any moment, and not every one lets itself be read.
    return undefined;
  }
}

function identity(process: RunningProcess): string {
  return `${process.pid}@${process.startTime}`;
}

function describe(process: number | RunningProcess): string {
  return typeof process === "number" ? `${process}` : `${process.pid} ${process.command.slice(0, 200)}`;
}
