import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { SandboxPolicy } from "@flint/protocol";
import { needs, temporaryFolder } from "@flint/testkit";
import { describe, expect } from "vitest";
import { CommandSandbox, type CommandSandboxOptions } from "./command-sandbox.ts";
import { Janitor } from "./paths/placeholders.ts";

const WAYS = {
  bubblewrap: ["bwrap", { mechanisms: ["bubblewrap"] }, { type: "workspaceWrite" }],
  namespaces: ["namespaces", { mechanisms: ["namespaces"] }, { type: "workspaceWrite" }],
  "full access": ["sh", { containment: "group" }, { type: "dangerFullAccess" }],
} as const satisfies Record<
  string,
  [Parameters<typeof needs>[0], Omit<CommandSandboxOptions, "environment">, SandboxPolicy]
>;

/** Runs something while this process can open nothing more. */
async function withoutDescriptors<Value>(run: () => Promise<Value>): Promise<Value> {
  const limit = () =>
    spawnSync("prlimit", ["--pid", String(process.pid), "--nofile", "--noheadings", "-o", "SOFT"]);
  const before = String(limit().stdout).trim();
  // The kernel gives out the lowest free number, so that below the last of these none is free.
  const held = Array.from({ length: 64 }, () => openSync("/dev/null", "r"));
  const set = (soft: number | string) =>
    spawnSync("prlimit", ["--pid", String(process.pid), `--nofile=${soft}:`]).status;
  expect(set(Math.max(...held) + 1)).toBe(0);
  try {
    expect(() => openSync("/dev/null", "r")).toThrow("EMFILE");
    return await run();
  } finally {
    for (const file of held) closeSync(file);
    expect(set(before)).toBe(0);
  }
}

describe.each(Object.keys(WAYS) as (keyof typeof WAYS)[])("with %s and no descriptor left", (way) => {
  const [part, options, policy] = WAYS[way];
  const test = needs(part);

  async function stage() {
    const { path } = await temporaryFolder();
    const sandbox = new CommandSandbox({ environment: process.env, ...options });
    const wish = { command: ["true"], cwd: path, workspace: path, policy, environment: {} };
    const launch = () => sandbox.launch({ ...wish, onOutput: () => undefined });
    expect(await launch()).toMatchObject({ exitCode: 0 });
    return { launch, start: () => sandbox.start(wish) };
  }

  test("a command fails, and the next one runs when there are descriptors again", async () => {
    const { launch } = await stage();
    const failed = await withoutDescriptors(() => launch().catch((error: unknown) => error));
    expect(failed).not.toMatchObject({ exitCode: 0 });
    expect(await launch()).toMatchObject({ exitCode: 0, ended: "exited" });
  });

  test("a program that stays is refused, and starts when there are descriptors again", async () => {
    const { start } = await stage();
    await withoutDescriptors(() => expect(start()).rejects.toThrow("EMFILE"));
    expect(await (await start()).exited).toEqual({ exitCode: 0 });
  });
});

needs("sh")("the janitor that cannot be started leaves its folders to later commands", async () => {
  const { path } = await temporaryFolder();
  await withoutDescriptors(async () => new Janitor().watch({ root: path, prefix: "none" }));
});
