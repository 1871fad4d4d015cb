import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { FlintError } from "@flint/protocol";

/** Maximum output of one command. */
const MAX_OUTPUT = 64 * 1024 * 1024;

/** The timeout of one command. */
export const TIMEOUT_MS = 120_000;

/** The outcome of a program. */
export interface GitResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Options of a run to the end. */
export interface RunOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly input?: string | Readable | undefined;
  /** Time after which it is ended; two minutes if absent. */
  readonly timeoutMs?: number | undefined;
}

/** Runs a program to its end, bounded in time and output. Rejects with a FlintError if it cannot be started. */
export function runToEnd(
  [program = "", ...args]: readonly string[],
  { cwd, env, input = "", timeoutMs = TIMEOUT_MS }: RunOptions,
): Promise<GitResult> {
  // A group of its own, because git leaves the programs behind that it has started.
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
  // It may end without reading its input.
  child.stdin.on("error", () => undefined);
  if (typeof input === "string") child.stdin.end(input);
  else input.pipe(child.stdin);
  return resultOf(child, timeoutMs);
}

function resultOf(child: ChildProcess, timeoutMs: number): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let size = 0;
    const timeout = setTimeout(() => killGroup(child), timeoutMs);
    const collect = (into: Buffer[]) => (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_OUTPUT) killGroup(child);
      else into.push(chunk);
    };
    child.stdout?.on("data", collect(stdout));
    child.stderr?.on("data", collect(stderr));
    child.on("error", (error) => {
      clearTimeout(timeout);
      reject(new FlintError("internalError", `git cannot be started: ${error.message}`));
    });
    child.on("close", (code) => {
      clearTimeout(timeout);
      const decode = (chunks: readonly Buffer[]) => Buffer.concat(chunks).toString("utf8");
      resolve({ exitCode: code ?? 137, stdout: decode(stdout), stderr: decode(stderr) });
    });
  });
}

/** Ends a program that was started in a group of its own, with everything that it has started. */
export function killGroup({ pid }: ChildProcess): void {
  // Expected: all of its processes have ended.
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {}
}
