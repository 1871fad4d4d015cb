import { isRecord } from "@flint/protocol";
import type { CoreCalls } from "../../shared/core-calls.ts";

/** How long Dots may take to list its tasks. */
const TIMEOUT_MS = 5_000;

const COMMAND = ["dot", "ls", "--json"];

const CLOSED: ReadonlySet<unknown> = new Set(["closed", "done", "completed", "cancelled"]);

/**
 * How many tasks of a workspace Dots reports as open. None if it is not installed, or the program of that name is
 * another one, such as that of Graphviz. It runs in a sandbox in which it can change nothing.
 */
export async function countOpenDotsTasks(core: CoreCalls, cwd: string): Promise<number> {
  const sandboxPolicy = { type: "readOnly" } as const;
  const listing = { command: COMMAND, cwd, sandboxPolicy, timeoutMs: TIMEOUT_MS };
  // Expected: no such program, no sandbox, or output that is not JSON.
  try {
    const { exitCode, stdout } = await core.call("command/exec", listing);
    const tasks: unknown = exitCode === 0 ? JSON.parse(stdout) : [];
    return Array.isArray(tasks) ? tasks.filter(isOpen).length : 0;
  } catch {
    return 0;
  }
}

function isOpen(task: unknown): boolean {
  return isRecord(task) && !CLOSED.has(task.status);
}
