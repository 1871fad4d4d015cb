import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { LaunchResult } from "@flint/core/ports";
import type { SandboxPolicy } from "@flint/protocol";
import type { Part } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import type { CommandSandbox, CommandSandboxOptions } from "../command-sandbox.ts";

/** For `expect.poll`: what another process does emits no event, and a busy loop would slow that process down. */
export const PATIENT = { timeout: 30_000, interval: 20 };

interface LaunchMode {
  readonly needs: Part;
  readonly options: Omit<CommandSandboxOptions, "environment">;
  readonly policy: SandboxPolicy;
}

/** Every way in which commands are launched, with a policy that leads to it. */
export const LAUNCH_MODES = {
  bubblewrap: { needs: "bwrap", options: { mechanisms: ["bubblewrap"] }, policy: { type: "workspaceWrite" } },
  namespaces: {
    needs: "namespaces",
    options: { mechanisms: ["namespaces"] },
    policy: { type: "workspaceWrite" },
  },
  "full access as root": { needs: "root", options: {}, policy: { type: "dangerFullAccess" } },
  "full access without root": {
    needs: "sh",
    options: { containment: "group" },
    policy: { type: "dangerFullAccess" },
  },
} as const satisfies Record<string, LaunchMode>;

/** The entries of the table. */
export const LAUNCH_CASES = Object.entries<LaunchMode>(LAUNCH_MODES);

/** A new folder; by default where no sandbox masks it, so that a write that gets through is visible. */
export function newFolder(parent = "/var/tmp"): string {
  const path = realpathSync(mkdtempSync(join(parent, "flint-sandbox-test-")));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Runs a shell script in a sandbox and collects its output. */
export async function launch(
  sandbox: CommandSandbox,
  script: string,
  workspace: string,
  policy: SandboxPolicy = { type: "workspaceWrite" },
  cwd = workspace,
): Promise<LaunchResult & { readonly printed: string }> {
  let printed = "";
  const onOutput = (text: string) => {
    printed += text;
  };
  const command = ["sh", "-c", script];
  const result = await sandbox.launch({ command, cwd, workspace, policy, onOutput });
  return { ...result, printed };
}

/** Listens at a path until the test ends, and answers every connection. */
export async function listenAt(path: string): Promise<void> {
  const server = createServer((socket) => socket.end("reached"));
  await new Promise<void>((listening) => server.listen(path, listening));
  onTestFinished(() => new Promise<void>((closed) => server.close(() => closed())));
}

/** Runs a module as a server of its own; resolves when it has printed so many lines with this word. */
export async function startServer(code: string, word: string, count = 1): Promise<ChildProcess> {
  const flags = ["--conditions=@flint/source", "--import", "tsx", "--input-type=module", "-e", code];
  const server = spawn(process.execPath, flags, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void server.kill("SIGKILL"));
  let printed = "";
  for await (const chunk of server.stdout) {
    printed += chunk;
    if (printed.split(`${word}\n`).length > count) break;
  }
  return server;
}

/** A number of seconds for `sleep` that no other process uses, to find the process by. */
export const uniqueSleep = () => `300.${randomInt(10_000_000, 100_000_000)}`;

/** The processes with this text on their command line. */
export function processesWith(text: string): string[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && commandLine(name).includes(text));
}

function commandLine(pid: string): string {
  // Expected: the process has ended.
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}

/** A home folder with Flint's state, and its settings beside those of another program. */
export function newHome() {
  const path = newFolder();
  const [state, config] = [join(path, ".local", "state", "flint"), join(path, ".config", "flint")];
  mkdirSync(join(state, "threads"), { recursive: true });
  writeFileSync(join(state, "rules.jsonl"), "mine");
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, "config.toml"), "mine");
  return { path, state, config, guarded: { folders: [state], files: [join(config, "config.toml")] } };
}

type Home = ReturnType<typeof newHome>;

/** Asserts that Flint's files are unchanged, and that none was added or removed. */
export function expectUntouched({ state, config }: Home): void {
  expect(readdirSync(state).sort()).toEqual(["rules.jsonl", "threads"]);
  expect(readdirSync(config)).toEqual(["config.toml"]);
  expect(readFileSync(join(state, "rules.jsonl"), "utf8")).toBe("mine");
  expect(readFileSync(join(config, "config.toml"), "utf8")).toBe("mine");
}

/**
 * A script that tries every way to change a file or to redirect its path, and prints those that work. It touches nothing
 * outside of the test's own folder, so a hole in the sandbox does no harm.
 */
export function attackOn(own: string, folder: string, file: string): string {
  const names = folder.slice(own.length + 1).split("/");
  const above = names.map((_, at) => join(own, ...names.slice(0, at + 1)));
  return [
    "exec 2>/dev/null",
    `echo evil > ${folder}/${file} && echo WROTE; echo evil > ${folder}/new && echo MADE`,
    `[ -e ${folder}/${file} ] && rm -f ${folder}/${file} && echo REMOVED; chmod 777 ${folder} && echo CHANGED`,
    `ln ${folder}/${file} ${own}/hard && echo LINKED && echo evil > ${own}/hard`,
    `mount -o remount,bind,rw ${folder} && echo REMOUNTED; umount ${folder} && echo UNMOUNTED`,
    // A folder that is moved takes its mounts along and frees its name.
    ...above.map((path) => `mv -T ${path} ${path}-moved && echo MOVED ${path}`),
    `mkdir -p ${folder} && echo evil > ${folder}/${file} && echo REPLACED`,
  ].join("\n");
}

/** Attacks on Flint's state and settings. */
export const attacks = ({ path, state, config }: Home) =>
  [attackOn(path, state, "rules.jsonl"), attackOn(path, config, "config.toml")].join("\n");
