import { readdirSync, readFileSync } from "node:fs";

/** The environment variable by which all that a command starts is known, also what leaves its family. */
export const MARK_NAME = "FLINT_COMMAND_ID";

/** One process of the machine, as far as ending it needs to know. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
}

/** All processes that run right now; none where there is no /proc. */
export function listProcesses(): ProcessRow[] {
  return processIds()
    .map(readProcess)
    .filter((row) => row !== undefined);
}

/** The processes that descend from another one, nearest first, without itself. */
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

/** The living processes that were started with this mark in their environment, wherever they went since. */
export function processesMarked(mark: string): number[] {
  const line = `${MARK_NAME}=${mark}`;
  return processIds().filter((pid) => {
    const environment = readText(`/proc/${pid}/environ`);
    return environment?.split("\0").includes(line) === true;
  });
}

/** Signals a process, or a group if negative; one that is gone already is no failure. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  // Expected: the process ended in the meantime, or became somebody else's who may not be signalled.
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
  // The name in brackets may hold anything, also brackets and spaces; the fields come after the last one.
  const [state, parent] = text?.slice(text.lastIndexOf(")") + 2).split(" ") ?? [];
  if (parent === undefined || state === "Z" || state === "X") return undefined;
  return { pid, parent: Number(parent) };
}

function readText(file: string): string | undefined {
  // Expected: the process ended, or it belongs to somebody else.
  try {
    return readFileSync(file, "latin1");
  } catch {
    return undefined;
  }
}
