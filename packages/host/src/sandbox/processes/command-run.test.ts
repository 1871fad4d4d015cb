import type { Clock } from "@flint/core/ports";
import { needs, settled, TestClock, temporaryFolder } from "@flint/testkit";
import { test as anywhere, describe, expect, onTestFinished } from "vitest";
import { CommandSandbox } from "../command-sandbox.ts";
import {
  LAUNCH_CASES,
  launch,
  PATIENT,
  processesWith,
  startServer,
  uniqueSleep,
} from "../testing/fixture.ts";
import { GRACE_MS } from "./command-run.ts";

type LaunchMode = (typeof LAUNCH_CASES)[number][1];

/** A running command. */
class Running {
  readonly #controller = new AbortController();
  readonly result: ReturnType<CommandSandbox["launch"]>;
  /** Resolves when the command printed the word `ready`. */
  readonly ready: Promise<void>;
  printed = "";

  constructor(mode: LaunchMode, script: string, workspace: string, clock?: Clock, timeoutMs?: number) {
    const { options, policy } = mode;
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

describe.each(LAUNCH_CASES)("a command with %s", (_name, mode) => {
  const test = needs(mode.needs);

  test("is gone when its abort is reported [P13]", async () => {
    const { path } = await temporaryFolder();
    const sleep = uniqueSleep();
    const running = new Running(mode, `echo ready; sleep ${sleep}`, path);
    await running.ready;
    expect(processesWith(sleep)).not.toEqual([]);
    running.abort();
    expect(await running.result).toMatchObject({ ended: "aborted" });
    expect(processesWith(sleep)).toEqual([]);
  });

  test("is aborted together with background processes and other sessions [P13]", async () => {
    const { path } = await temporaryFolder();
    const sleep = uniqueSleep();
    const script = `sleep ${sleep} & setsid sleep ${sleep} & (setsid sleep ${sleep} >/dev/null 2>&1 &); echo ready; sleep ${sleep}`;
    const running = new Running(mode, script, path);
    await running.ready;
    running.abort();
    await running.result;
    expect(processesWith(sleep)).toEqual([]);
  });

  test("takes its background processes with it when it exits", async () => {
    const { path } = await temporaryFolder();
    const sleep = uniqueSleep();
    const script = `sleep ${sleep} & setsid sleep ${sleep} & (setsid sleep ${sleep} >/dev/null 2>&1 &); echo done; exit 3`;
    const running = new Running(mode, script, path);
    expect(await running.result).toMatchObject({ exitCode: 3, ended: "exited" });
    expect(running.printed).toBe("done\n");
    expect(processesWith(sleep)).toEqual([]);
  });

  test("is killed after the grace period if it ignores SIGTERM [P13]", async () => {
    const { path } = await temporaryFolder();
    const clock = new TestClock();
    const sleep = uniqueSleep();
    const script = `trap '' TERM; exec 2>/dev/null; echo ready; while :; do sleep ${sleep}; done`;
    const running = new Running(mode, script, path, clock);
    await running.ready;
    running.abort();
    await clock.advance(GRACE_MS);
    expect(await running.result).toEqual({ exitCode: 137, durationMs: GRACE_MS, ended: "aborted" });
    expect(running.printed, "without messages of the wrapper").toBe("ready\n");
    expect(processesWith(sleep)).toEqual([]);
  });

  test("is stopped after its timeout", async () => {
    const { path } = await temporaryFolder();
    const clock = new TestClock();
    const sleep = uniqueSleep();
    // The shell stays: while a process is replaced by another program, its command line is empty for a moment.
    const running = new Running(mode, `echo ready; sleep ${sleep}; true`, path, clock, 5_000);
    await running.ready;
    await clock.advance(4_999);
    await settled();
    expect(processesWith(sleep)).not.toEqual([]);
    await clock.advance(1);
    expect(await running.result).toMatchObject({ ended: "timedOut", durationMs: 5_000 });
    expect(processesWith(sleep)).toEqual([]);
  });

  test("does not start if it is aborted before", async () => {
    const { path } = await temporaryFolder();
    const running = new Running(mode, "echo ready", path);
    running.abort();
    expect(await running.result).toMatchObject({ ended: "aborted" });
    expect(running.printed).toBe("");
  });

  test("fails like in a shell if the program does not exist", async () => {
    const { path } = await temporaryFolder();
    const { options, policy } = mode;
    const sandbox = new CommandSandbox({ environment: process.env, ...options });
    const printed: string[] = [];
    const exitOf = (command: string[], cwd = path) =>
      sandbox.launch({ command, cwd, policy, workspace: path, onOutput: (text) => printed.push(text) });
    expect(await exitOf(["no-such-program"])).toMatchObject({ exitCode: 127, ended: "exited" });
    expect(await exitOf(["./missing"])).toMatchObject({ exitCode: 127 });
    expect(await exitOf(["/etc/passwd"])).toMatchObject({ exitCode: 126 });
    expect(await exitOf(["ls"], `${path}/missing`)).toMatchObject({ exitCode: 126 });
    expect(await exitOf(["echo", "a\0b"])).toMatchObject({ exitCode: 126 });
    expect(printed.map((line) => line.split(": ").at(-1))).toEqual([
      "command not found\n",
      "No such file or directory\n",
      "Permission denied\n",
      "no such folder to run in\n",
      expect.stringContaining("null bytes"),
    ]);
  });

  test("emits characters whole that arrive in pieces, and has no input", async () => {
    const { path } = await temporaryFolder();
    const script = `cat; printf '\\360\\237'; printf err >&2; sleep 0.05; printf '\\230\\200 caf\\303'; sleep 0.05; printf '\\251'`;
    const running = new Running(mode, script, path);
    await running.result;
    expect(running.printed.replace("err", "")).toBe("😀 café");
  });

  test("does not see the API keys of providers [P31]", async () => {
    const { path } = await temporaryFolder();
    process.env.FLINT_TEST_API_KEY = "sk-very-secret";
    onTestFinished(() => void delete process.env.FLINT_TEST_API_KEY);
    const running = new Running(mode, "env", path);
    await running.result;
    expect(running.printed).not.toContain("sk-very-secret");
    expect(running.printed).toContain(`PWD=${path}\n`);
  });

  test("creates files with the user's umask", async () => {
    const { path } = await temporaryFolder();
    const sandbox = new CommandSandbox({ environment: process.env, umask: 0o027, ...mode.options });
    const script = 'touch made; stat -c %a made; umask; echo "[$FLINT_UMASK]"';
    expect((await launch(sandbox, script, path, mode.policy)).printed).toBe("640\n0027\n[]\n");
  });
});

anywhere("commands of every mode die with the process that started them", async () => {
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
  const server = await startServer(code, "ready", 4);
  expect(processesWith(`sleep\0${sleep}`)).not.toEqual([]);
  server.kill("SIGKILL");
  await expect.poll(() => processesWith(`sleep\0${sleep}`), PATIENT).toEqual([]);
});
