import { access, constants, mkdir, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { embed } from "@flint/server/embed";
import { setting, stateFolder } from "@flint/server/environment";
import { VERSION } from "../../version.ts";
import { agents } from "./agent-checks.ts";
import { configuration } from "./configuration-checks.ts";
import { type Check, type Finding, reason } from "./finding.ts";
import { models } from "./model-checks.ts";

/** Every check, in the order of the report. */
export const CHECKS: readonly Check[] = [
  program,
  state,
  configuration,
  sandbox,
  models,
  agents,
  () => tool("ripgrep", "rg", "Search is slower without it: apt-get install ripgrep"),
  () => tool("git", "git", "Needed for reviews: apt-get install git"),
  workspace,
];

async function program(): Promise<readonly Finding[]> {
  const detail = `${VERSION} on Node ${process.versions.node}`;
  if (isNodeNewEnough(process.versions.node)) return [{ name: "flint", state: "ok", detail }];
  return [{ name: "flint", state: "problem", detail, fix: "Install Node 20.19 or newer." }];
}

/** Whether Flint supports this version of Node. */
export function isNodeNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 20 || (major === 20 && minor >= 19);
}

async function state(): Promise<readonly Finding[]> {
  const folder = stateFolder();
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.W_OK);
    const open = ((await stat(folder)).mode & 0o077) !== 0;
    const detail = open ? `other users can read ${folder}` : folder;
    return [
      {
        name: "threads",
        state: open ? "problem" : "ok",
        detail,
        ...(open ? { fix: `chmod 700 ${folder}` } : {}),
      },
    ];
  } catch (thrown) {
    const detail = `${folder}: ${reason(thrown)}`;
    return [{ name: "threads", state: "problem", detail, fix: "Set FLINT_HOME to a folder you own." }];
  }
}

async function sandbox(cwd: string): Promise<readonly Finding[]> {
  const embedded = await embed({ cwd });
  try {
    const { sandbox: found } = await embedded.client.configRead();
    if (found.available) return [{ name: "sandbox", state: "ok", detail: found.mechanism }];
    const fix = "apt-get install bubblewrap";
    return [{ name: "sandbox", state: "problem", detail: found.detail ?? "not available", fix }];
  } catch (thrown) {
    return [{ name: "sandbox", state: "problem", detail: reason(thrown) }];
  } finally {
    await embedded.close();
  }
}

async function tool(name: string, file: string, fix: string): Promise<readonly Finding[]> {
  for (const folder of (setting("PATH") ?? "").split(delimiter).filter((entry) => entry.startsWith("/"))) {
    const path = join(folder, file);
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return [{ name, state: "ok", detail: path }];
  }
  return [{ name, state: "absent", detail: "not on PATH", fix }];
}

async function workspace(cwd: string): Promise<readonly Finding[]> {
  const embedded = await embed({ cwd });
  try {
    const { files } = await embedded.client.call("workspace/read", { cwd });
    return files.map(({ path, trusted, problem }): Finding => {
      if (problem !== undefined)
        return { name: "this folder", state: "problem", detail: `${path}: ${problem}` };
      if (trusted) return { name: "this folder", state: "ok", detail: `${path} is trusted` };
      return { name: "this folder", state: "absent", detail: `${path} is ignored`, fix: "flint trust" };
    });
  } finally {
    await embedded.close();
  }
}
