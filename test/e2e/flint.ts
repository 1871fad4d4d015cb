import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { temporaryFolder } from "@flint/testkit";
import { FLINT } from "./server.ts";

/** The result of one run of the command. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder to run the command in, with an empty home of its own. */
export interface CommandFixture {
  readonly cwd: string;
  readonly home: string;
  /** The environment of each command. */
  readonly environment: Readonly<Record<string, string>>;
  /** Runs the command to its end, without a terminal. */
  flint(
    args: readonly string[],
    options?: { readonly stdin?: string; readonly env?: NodeJS.ProcessEnv },
  ): Promise<Ran>;
}

/**
 * Creates a project with a README and an environment independent of the machine's user. Commands in a sandbox see it in
 * an `agentFolder()` only.
 */
export async function commandFixture(
  folder: Promise<{ readonly path: string }> = temporaryFolder(),
): Promise<CommandFixture> {
  const { path } = await folder;
  const home = `${path}/home`;
  const cwd = `${path}/project`;
  await Promise.all([mkdir(home), mkdir(cwd)]);
  await writeFile(`${cwd}/README.md`, "# Sample\n");
  // Nothing listens on this address, so the result does not depend on what runs on the machine.
  const models = { FLINT_MODEL: "flint/offline", OLLAMA_HOST: "127.0.0.1:9" };
  const base = { PATH: process.env.PATH ?? "", HOME: home, LANG: "C.UTF-8", ...models };
  return {
    cwd,
    home,
    environment: base,
    flint: (args, { stdin = "", env = {} } = {}) =>
      new Promise((resolve) => {
        const options = { cwd, env: { ...base, ...env } };
        const child = execFile(process.execPath, [FLINT, ...args], options, (error, stdout, stderr) => {
          resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
        });
        child.stdin?.on("error", () => undefined);
        child.stdin?.end(stdin);
      }),
  };
}
