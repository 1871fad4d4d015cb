import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { Clock } from "@flint/core/ports";
import type { SandboxPolicy } from "@flint/protocol";
import { needs, settled, TestClock, temporaryFolder } from "@flint/testkit";
import { test as anywhere, describe, expect, onTestFinished } from "vitest";
import { CommandSandbox, type CommandSandboxOptions } from "../command-sandbox.ts";
import { GRACE_MS } from "./command-run.ts";

type Way = Omit<CommandSandboxOptions, "environment" | "clock">;

/** Every way in which a command can be started, the policy that leads to it, and what it needs. */
const WAYS = {
  bubblewrap: { needs: "bwrap", options: { mechanisms: ["bubblewrap"] }, policy: { type: "workspaceWrite" } },
  namespaces: {
    needs: "namespaces",
    options: { mechanisms: ["namespaces"] },
    policy: { type: "workspaceWrite" },
  },
  "full access as root": { needs: "root", options: {}, policy: { type: "dangerFullAccess" } },
  "full access as anybody": {
    needs: "sh",
    options: { containment: "group" },
    policy: { type: "dangerFullAccess" },
  },
} as const satisfies Record<
  string,
  { needs: Parameters<typeof needs>[0]; options: Way; policy: SandboxPolicy }
>;

/** A number of seconds for `sleep` that no other process sleeps, so that the process can be found by it. */
const uniqueSleep = () => `300.${randomInt(10_000_000, 100_000_000)}`;

/** The processes that have this word on their command line. */
function processesWith(word: string): string[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && commandLine(name).includes(word));
}

function commandLine(pid: string): string {
  // Expected: the process ended in between.
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}

/** A command under way in a folder of its own. */
class Running {
  readonly #controller = new AbortController();
  readonly result: ReturnType<CommandSandbox["launch"]>;
  /** Resolves when the command printed the word `ready`. */
  readonly ready: Promise<void>;
  printed = "";

  constructor(way: keyof typeof WAYS, script: string, workspace: string, clock?: Clock, timeoutMs?: number) {
    const { options, policy } = WAYS[way];
    const sandbox = new CommandSandbox({ environment: process.env, ...options, ...(clock && { clock }) });
    let isReady = () => {};
    this.ready = new Promise((resolve) => {
      isReady = resolve;
    });
    this.result = sandbox.launch({
      command: ["sh", "-c", script],
      cwd: workspace,
      policy,
      workspace,
      signal: this.#controller.signal,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      onOutput: (text) => {
        this.printed += text;
        if (this.printed.includes("ready")) isReady();
      },
    });
  }

  abort(): void {
    this.#controller.abort();
  }
}

describe.each(Object.keys(WAYS) as (keyof typeof WAYS)[])("started with %s", (way) => {
  const test = needs(WAYS[way].needs);

  test("an abort ends a sleeping command, and it is gone when its end is reported [P13]", async () => {
    const { path } = await temporaryFolder();
    const sleep = uniqueSleep();
    const running = new Running(way, `echo ready; sleep ${sleep}`, path);
    await running.ready;
    expect(processesWith(sleep)).not.toEqual([]);
    running.abort();
    expect(await running.result).toMatchObject({ ended: "aborted" });
    expect(processesWith(sleep)).toEqual([]);
  });

  test("an abort also ends children in the background and in sessions of their own [P13]", async () => {
    const { path } = await temporaryFolder();
    const sleep = uniqueSleep();
    const script = `sleep ${sleep} & setsid sleep ${sleep} & (setsid sleep ${sleep} >/dev/null 2>&1 &); echo ready; sleep ${sleep}`;
    const running = new Running(way, script, path);
    await running.ready;
    running.abort();
    await running.result;
    expect(processesWith(sleep)).toEqual([]);
  });

  test("what a command leaves in the background ends with it", async () => {
    const { path } = await temporaryFolder();
    const sleep = uniqueSleep();
    const script = `sleep ${sleep} & setsid sleep ${sleep} & (setsid sleep ${sleep} >/dev/null 2>&1 &); echo done; exit 3`;
    const running = new Running(way, script, path);
    expect(await running.result).toMatchObject({ exitCode: 3, ended: "exited" });
    expect(running.printed).toBe("done\n");
    expect(processesWith(sleep)).toEqual([]);
  });

  test("a command that will not end is killed after a short grace, by the clock [P13]", async () => {
    const { path } = await temporaryFolder();
    const clock = new TestClock();
    const sleep = uniqueSleep();
    const script = `trap '' TERM; exec 2>/dev/null; echo ready; while :; do sleep ${sleep}; done`;
    const running = new Running(way, script, path, clock);
    await running.ready;
    running.abort();
    await clock.advance(GRACE_MS);
    expect(await running.result).toEqual({ exitCode: 137, durationMs: GRACE_MS, ended: "aborted" });
    expect(running.printed, "nothing of what its wrapper says about its end").toBe("ready\n");
    expect(processesWith(sleep)).toEqual([]);
  });

  test("a command that takes too long is ended, by the clock", async () => {
    const { path } = await temporaryFolder();
    const clock = new TestClock();
    const sleep = uniqueSleep();
    // The shell stays: while a process is replaced by another program, its command line is empty for a moment.
    const running = new Running(way, `echo ready; sleep ${sleep}; true`, path, clock, 5_000);
    await running.ready;
    await clock.advance(4_999);
    await settled();
    expect(processesWith(sleep)).not.toEqual([]);
    await clock.advance(1);
    expect(await running.result).toMatchObject({ ended: "timedOut", durationMs: 5_000 });
    expect(processesWith(sleep)).toEqual([]);
  });

  test("an abort before the start starts nothing", async () => {
    const { path } = await temporaryFolder();
    const running = new Running(way, "echo ready", path);
    running.abort();
    expect(await running.result).toMatchObject({ ended: "aborted" });
    expect(running.printed).toBe("");
  });

  test("a program that is not there ends like in a shell", async () => {
    const { path } = await temporaryFolder();
    const { options, policy } = WAYS[way];
    const sandbox = new CommandSandbox({ environment: process.env, ...options });
    const printed: string[] = [];
    const launch = (command: string[], cwd = path) =>
      sandbox.launch({ command, cwd, policy, workspace: path, onOutput: (text) => printed.push(text) });
    expect(await launch(["no-such-program"])).toMatchObject({ exitCode: 127, ended: "exited" });
    expect(await launch(["./missing"])).toMatchObject({ exitCode: 127 });
    expect(await launch(["/etc/passwd"])).toMatchObject({ exitCode: 126 });
    expect(await launch(["ls"], `${path}/missing`)).toMatchObject({ exitCode: 126 });
    expect(await launch(["echo", "a\0b"])).toMatchObject({ exitCode: 126 });
    expect(printed.map((line) => line.split(": ").at(-1))).toEqual([
      "command not found\n",
      "No such file or directory\n",
      "Permission denied\n",
      "no such folder to run in\n",
      expect.stringContaining("null bytes"),
    ]);
  });

  test("characters that arrive in pieces stay whole, and input is at its end", async () => {
    const { path } = await temporaryFolder();
    const script = `cat; printf '\\360\\237'; printf err >&2; sleep 0.05; printf '\\230\\200 caf\\303'; sleep 0.05; printf '\\251'`;
    const running = new Running(way, script, path);
    await running.result;
    expect(running.printed.replace("err", "")).toBe("😀 café");
  });

  test("commands do not see keys of providers [P31]", async () => {
    const { path } = await temporaryFolder();
    process.env.FLINT_TEST_API_KEY = "sk-very-secret";
    onTestFinished(() => void delete process.env.FLINT_TEST_API_KEY);
    const running = new Running(way, "env", path);
    await running.result;
    expect(running.printed).not.toContain("sk-very-secret");
    expect(running.printed).toContain(`PWD=${path}\n`);
  });
});

anywhere("commands of every kind die with the process that started them", async () => {
  const { path } = await temporaryFolder();
  const sleep = uniqueSleep();
  const source = new URL("../command-sandbox.ts", import.meta.url).href;
  const code = `
    const { CommandSandbox } = await import(${JSON.stringify(source)});
    const start = (options, type) => new CommandSandbox({ environment: process.env, ...options }).launch({
      command: ["sh", "-c", "echo ready; sleep ${sleep}"], cwd: ${JSON.stringify(path)},
      workspace: ${JSON.stringify(path)}, policy: { type }, onOutput: (text) => process.stdout.write(text),
    }).catch(() => process.stdout.write("ready\\n"));
    start({ mechanisms: ["bubblewrap"] }, "readOnly");
    start({ mechanisms: ["namespaces"] }, "readOnly");
    start({}, "dangerFullAccess");
    start({ containment: "group" }, "dangerFullAccess");
  `;
  const flags = ["--conditions=@flint/source", "--import", "tsx", "--input-type=module", "-e", code];
  const server = spawn(process.execPath, flags, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void server.kill("SIGKILL"));
  let printed = "";
  for await (const chunk of server.stdout) {
    printed += chunk;
    if (printed.split("ready\n").length === 5) break;
  }
  expect(processesWith(`sleep\0${sleep}`)).not.toEqual([]);
  server.kill("SIGKILL");
  while (processesWith(`sleep\0${sleep}`).length > 0) await settled();
});
