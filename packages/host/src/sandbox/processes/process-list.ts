import { readdirSync, readFileSync } from "node:fs";

/** The environment variable that marks all processes of a command, even those that leave its process group. */
export const MARK_NAME = "FLINT_COMMAND_ID";

/** A running process. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
}

/** All running processes; none on a system without /proc. */
export function listProcesses(): ProcessRow[] {
  return processIds()
    .map(readProcess)
    .filter((row) => row !== undefined);
}

/** The descendants of a process, nearest first. */
export function descendantsOf(pid: number, rows: readonly ProcessRow[]): ProcessRow[] {
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
export function processesWithMark(mark: string): number[] {
  const line = `${MARK_NAME}=${mark}`;
  return processIds().filter((pid) => {
    const environment = readText(`/proc/${pid}/environ`);
    return environment?.split("\0").includes(line) === true;
  });
}

/** Signals a process, or a group if negative. Ignores one that is gone. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
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
