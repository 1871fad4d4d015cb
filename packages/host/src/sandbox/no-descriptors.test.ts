import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { needs, temporaryFolder } from "@flint/testkit";
import { describe, expect } from "vitest";
import { CommandSandbox } from "./command-sandbox.ts";
import { Janitor } from "./paths/placeholders.ts";
import { LAUNCH_CASES } from "./testing/fixture.ts";

/** Runs something while this process is out of file descriptors. */
async function withoutDescriptors<Value>(run: () => Promise<Value>): Promise<Value> {
  const limit = () =>
    spawnSync("prlimit", ["--pid", String(process.pid), "--nofile", "--noheadings", "-o", "SOFT"]);
  const before = String(limit().stdout).trim();
  // The kernel assigns the lowest free number, so none is free below the last of these.
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

describe.each(LAUNCH_CASES)("out of file descriptors, with %s", (_name, { needs: part, options, policy }) => {
  const test = needs(part);

  async function setup() {
    const { path } = await temporaryFolder();
    const sandbox = new CommandSandbox({ environment: process.env, ...options });
    const request = { command: ["true"], cwd: path, workspace: path, policy, environment: {} };
    const launch = () => sandbox.launch({ ...request, onOutput: () => undefined });
    expect(await launch()).toMatchObject({ exitCode: 0 });
    return { launch, start: () => sandbox.start(request) };
  }

  test("fails a command, and runs the next one when descriptors are free again", async () => {
    const { launch } = await setup();
    const failed = await withoutDescriptors(() => launch().catch((error: unknown) => error));
    expect(failed).not.toMatchObject({ exitCode: 0 });
    expect(await launch()).toMatchObject({ exitCode: 0, ended: "exited" });
  });

  test("rejects a program, and starts it when descriptors are free again", async () => {
    const { start } = await setup();
    await withoutDescriptors(() => expect(start()).rejects.toThrow("EMFILE"));
    expect(await (await start()).exited).toEqual({ exitCode: 0 });
  });
});

needs("sh")("a janitor that cannot be started is ignored", async () => {
  const { path } = await temporaryFolder();
  await withoutDescriptors(async () => new Janitor().watch({ root: path, prefix: "none" }));
});
