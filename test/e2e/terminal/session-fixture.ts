import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { agentFolder, leavesNoProcess } from "@flint/testkit";
import { expect } from "vitest";
import { plainEnvironment } from "../../server/plain-environment.ts";
import { FLINT } from "../server.ts";
import { Terminal } from "./tmux.ts";

/** A project, its state folder, and how a session is opened in it. */
export interface SessionFixture {
  readonly workspace: string;
  readonly state: string;
  open(args: readonly string[]): Promise<Terminal>;
}

/** Makes a project in a folder of its own; the offline model plays the script if there is one. */
export async function place(configuration = "", script?: readonly unknown[]): Promise<SessionFixture> {
  const { path } = await agentFolder();
  leavesNoProcess(5_000);
  const [workspace, home, state] = [join(path, "workspace"), join(path, "home"), join(path, "state")];
  await Promise.all([workspace, home, state].map((folder) => mkdir(folder)));
  await writeFile(join(state, "config.toml"), configuration);
  const scriptFile = join(path, "script.json");
  if (script !== undefined) await writeFile(scriptFile, JSON.stringify({ steps: script }));
  const played = script === undefined ? {} : { FLINT_OFFLINE_SCRIPT: scriptFile };
  const own = { ...plainEnvironment(state), HOME: home, LANG: "C.UTF-8", ...played };
  const given = Object.entries({ ...process.env, ...own });
  const env = Object.fromEntries(
    given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const open = (args: readonly string[]) =>
    Terminal.start({ command: [process.execPath, FLINT, ...args], cwd: workspace, env, folder: path });
  return { workspace, state, open };
}

/** Reports whether a text is to be seen. */
export const sees = (text: string) => (everything: string) => everything.includes(text);

/** Presses a key until it counts: one that comes too soon after a question was not meant for it. */
export async function answer(terminal: Terminal, key: string, shown: string): Promise<void> {
  for (let count = 0; count < 20; count += 1) {
    await terminal.type(key);
    if (await terminal.matchesWithin(sees(shown), 1_500)) return;
  }
  await terminal.until(sees(shown), shown);
}

/** Stops the server that the session has started in the background, if it did. */
export async function stopServer(state: string): Promise<void> {
  const file = join(state, "run", "server.json");
  if (existsSync(file)) process.kill(JSON.parse(await readFile(file, "utf8")).pid, "SIGTERM");
}

/** Leaves the session as its user would. */
export async function quit(terminal: Terminal): Promise<void> {
  await terminal.press("C-d");
  expect(await terminal.exitCode()).toBe(0);
}
