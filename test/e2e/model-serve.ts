import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, onTestFinished } from "vitest";
import { FLINT } from "./server.ts";

/** The outcome of a program, and what it printed. */
export interface Ran {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program without input. */
export function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(program, [...args], { cwd, env, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
    child.stdin?.end();
  });
}

/** Starts `flint model serve` and gives where it listens, and what ends it. */
export async function serve(...args: string[]) {
  const child = spawn(process.execPath, [FLINT, "model", "serve", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  expect(line).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+$/);
  return { url: String(line).slice("listening on ".length), child, ended };
}
