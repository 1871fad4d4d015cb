import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Processes of a tree that are looked at; a larger one counts as holding its output. */
const MAX_PROCESSES = 1_000;

/**
 * Reports whether a program that runs below wrappers can still write to its stdout. Wrappers keep the stream
 * open for as long as they run, so its end does not show. `isWrapper` recognises the command line of a
 * wrapper. True if it cannot be determined: without /proc, or for processes of another user.
 */
export function isOutputOpen(pid: number, isWrapper: (commandLine: string) => boolean): boolean {
  try {
    const output = readlinkSync(`/proc/${pid}/fd/1`);
    const programs = programsOf(pid, isWrapper);
    return programs === undefined || programs.some((program) => hasOpen(program, output));
  } catch {
    // Expected: a process ended while it was looked at. Its end is noticed anyway.
    return true;
  }
}

/** All processes of a tree but its wrappers; undefined if there are none yet, or too many. */
function programsOf(pid: number, isWrapper: (commandLine: string) => boolean): number[] | undefined {
  const tree = [pid];
  for (let at = 0; at < tree.length; at += 1) {
    tree.push(...childrenOf(tree[at] ?? pid));
    if (tree.length > MAX_PROCESSES) return undefined;
  }
  const programs = tree.filter((each) => !isWrapper(readFileSync(`/proc/${each}/cmdline`, "latin1")));
  return programs.length === 0 ? undefined : programs;
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1").split(" ").filter(Boolean).map(Number),
  );
}

function hasOpen(pid: number, output: string): boolean {
  return readdirSync(`/proc/${pid}/fd`).some((file) => readlinkSync(`/proc/${pid}/fd/${file}`) === output);
}
