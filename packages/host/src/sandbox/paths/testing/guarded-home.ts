import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { SandboxPolicy } from "@flint/protocol";
import { expect, onTestFinished } from "vitest";
import type { CommandSandbox } from "../../command-sandbox.ts";

const WRITING: SandboxPolicy = { type: "workspaceWrite" };

/** A home as Flint finds it: with rules, and settings beside those of another program. */
export function home() {
  const path = realpathSync(mkdtempSync("/var/tmp/flint-guarded-test-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  const [state, config] = [join(path, ".local", "state", "flint"), join(path, ".config", "flint")];
  mkdirSync(join(state, "threads"), { recursive: true });
  writeFileSync(join(state, "rules.jsonl"), "mine");
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, "config.toml"), "mine");
  return { path, state, config, places: { folders: [state], files: [join(config, "config.toml")] } };
}

type Home = ReturnType<typeof home>;

/** Nothing was added to, taken from or changed in what is Flint's. */
export function expectUntouched({ state, config }: Home): void {
  expect(readdirSync(state).sort()).toEqual(["rules.jsonl", "threads"]);
  expect(readdirSync(config)).toEqual(["config.toml"]);
  expect(readFileSync(join(state, "rules.jsonl"), "utf8")).toBe("mine");
  expect(readFileSync(join(config, "config.toml"), "utf8")).toBe("mine");
}

/**
 * Every way to change a file, or to lead its path to another one; says so if one works. Touches nothing outside of a
 * folder of the test, so that a hole in the sandbox does no harm.
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
    // A folder that is moved takes its mounts along, and leaves its name to another one.
    ...above.map((path) => `mv -T ${path} ${path}-moved && echo MOVED ${path}`),
    `mkdir -p ${folder} && echo evil > ${folder}/${file} && echo REPLACED`,
  ].join("\n");
}

/** Attacks on the state and on the settings. */
export const attacks = ({ path, state, config }: Home) =>
  [attackOn(path, state, "rules.jsonl"), attackOn(path, config, "config.toml")].join("\n");

/** What a command prints that runs in a sandbox, with `done` at its end. */
export async function run(sandbox: CommandSandbox, script: string, workspace: string, policy = WRITING) {
  let printed = "";
  const output = (text: string) => {
    printed += text;
  };
  const command = ["sh", "-c", `${script}\necho done`];
  await sandbox.launch({ command, cwd: workspace, workspace, policy, onOutput: output });
  return printed;
}
