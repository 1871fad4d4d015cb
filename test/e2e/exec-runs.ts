import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { agentFolder, agentProgram } from "@flint/testkit";
import { plainEnvironment } from "../server/plain-environment.ts";
import { FLINT } from "./server.ts";

/** The end of a run of `flint exec`, and everything that it wrote. */
export interface ExecRun {
  readonly code: number;
  readonly output: string;
}

/** The set-up shared by runs of `flint exec`. */
export interface ExecSetUp {
  readonly folder: string;
  readonly cwd: string;
  run(args: readonly string[]): Promise<ExecRun>;
}

/**
 * A folder with a configuration and the real agents, in which `flint exec` runs without approvals. The offline model
 * plays the script, if there is one.
 */
export async function setUpExec(config = "", script?: readonly unknown[]): Promise<ExecSetUp> {
  const { path: folder } = await agentFolder();
  const cwd = join(folder, "workspace");
  await mkdir(cwd);
  await mkdir(join(folder, "state"));
  await writeFile(join(folder, "state/config.toml"), config);
  const scriptFile = join(folder, "script.json");
  if (script !== undefined) await writeFile(scriptFile, JSON.stringify(script));
  const env = {
    ...plainEnvironment(join(folder, "state")),
    PATH: process.env.PATH,
    HOME: folder,
    CLAUDE_CODE_EXECUTABLE: agentProgram("claude") ?? "",
    CODEX_EXECUTABLE: agentProgram("codex") ?? "",
    ...(script === undefined ? {} : { FLINT_OFFLINE_SCRIPT: scriptFile }),
  };
  const run = (args: readonly string[]) =>
    new Promise<ExecRun>((resolve) => {
      const all = [FLINT, "exec", "--approval", "never", ...args];
      execFile(process.execPath, all, { cwd, env }, (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === "number" ? error.code : 0, output: stdout + stderr }),
      ).stdin?.end();
    });
  return { folder, cwd, run };
}
