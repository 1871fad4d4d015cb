import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { leavesNoProcess, temporaryFolder } from "@flint/testkit";
import { plainEnvironment } from "../server/plain-environment.ts";
import { FLINT } from "./server.ts";

/** The outcome of a run of `flint conformance`. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Some servers take minutes. */
export const LONG = 240_000;
export const PORT = "ws://127.0.0.1:{port}";

/** The path of recorded answers. */
export function recorded(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
}

/** Runs the command in a test, which may leave no process. */
export function conformance(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  leavesNoProcess();
  return run(args, env);
}

/** Runs the command to its end, with nothing of the user's own in reach. */
export async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const { path, remove } = await temporaryFolder();
  const options = {
    cwd: path,
    env: { ...process.env, ...plainEnvironment(path), HOME: path, OLLAMA_HOST: "127.0.0.1:9", ...env },
    maxBuffer: 64 * 1024 * 1024,
  };
  return new Promise<Ran>((resolve) => {
    const child = execFile(
      process.execPath,
      [FLINT, "conformance", ...args],
      options,
      (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
    );
    child.stdin?.end();
  }).finally(remove);
}

/** The checks of a JSON report that did not pass, with why. */
export function notPassed({ stdout }: Ran): string[] {
  const { checks } = JSON.parse(stdout) as { checks: { name: string; outcome: string; reason?: string }[] };
  return checks
    .filter(({ outcome }) => outcome !== "passed")
    .map(({ name, outcome, reason }) => `${outcome}: ${name}: ${reason}`);
}
