import { readdirSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import type { RunningProcess } from "@flint/core/ports";
import { describeEachMechanism, needs, TestClock, temporaryFolder } from "@flint/testkit";
import { test as anywhere, describe, expect, onTestFinished } from "vitest";
import { CommandSandbox, type CommandSandboxOptions } from "../command-sandbox.ts";
import { LAUNCH_CASES, PATIENT, processesWith, startServer, uniqueSleep } from "../testing/fixture.ts";
import { STOP_GRACE_MS } from "./process-run.ts";

describe.each(LAUNCH_CASES)("a program with %s", (_name, { needs: part, options, policy }) => {
  const test = needs(part);

  async function start(script: string, more: Partial<CommandSandboxOptions> = {}): Promise<RunningProcess> {
    const { path } = await temporaryFolder();
    const sandbox = new CommandSandbox({ environment: process.env, ...options, ...more });
    const environment = { FLINT_TEST_API_KEY: "needed" };
    const command = ["sh", "-c", script];
    const running = await sandbox.start({ command, cwd: path, policy, workspace: path, environment });
    onTestFinished(() => running.stop());
    return running;
  }

  async function* lines(running: RunningProcess): AsyncGenerator<string> {
    yield* createInterface({ input: running.stdout });
  }

  test("exchanges lines, and receives its own environment variables", async () => {
    const script = `echo "key $FLINT_TEST_API_KEY"; while read -r line; do echo "got $line"; done; echo bye >&2; exit 4`;
    const running = await start(script);
    const errors = running.stderr.toArray();
    const answers = lines(running);
    expect((await answers.next()).value).toBe("key needed");
    running.stdin.write("one\n");
    expect((await answers.next()).value).toBe("got one");
    running.stdin.end("two\n");
    expect((await answers.next()).value).toBe("got two");
    expect(await running.exited).toEqual({ exitCode: 4 });
    expect(String(await errors)).toBe("bye\n");
  });

  test("is stopped together with every process that it started", async () => {
    const sleep = uniqueSleep();
    const running = await start(`sleep ${sleep} & (setsid sleep ${sleep} >/dev/null 2>&1 &); echo up; wait`);
    expect((await lines(running).next()).value).toBe("up");
    await running.stop();
    expect(processesWith(`sleep\0${sleep}`)).toEqual([]);
    await running.stop();
  });

  test("can clean up when it is stopped", async () => {
    const running = await start(`trap 'echo saved; exit 0' TERM; echo up; while :; do sleep 0.05; done`);
    const output = lines(running);
    await output.next();
    await running.stop();
    expect((await output.next()).value).toBe("saved");
  });

  test("is killed after the grace period if it ignores SIGTERM", async () => {
    const clock = new TestClock();
    const sleep = uniqueSleep();
    const running = await start(`trap '' TERM; echo up; while :; do sleep ${sleep}; done`, { clock });
    await lines(running).next();
    const stopped = running.stop();
    await clock.advance(STOP_GRACE_MS);
    await stopped;
    expect(await running.exited).toEqual({ exitCode: 137 });
    expect(processesWith(`sleep\0${sleep}`)).toEqual([]);
  });

  test("is killed after a shorter grace period if one is given", async () => {
    const clock = new TestClock();
    const running = await start(`trap '' TERM; echo up; while :; do sleep 0.05; done`, { clock });
    await lines(running).next();
    const stopped = running.stop(100);
    await clock.advance(100);
    await stopped;
    expect(await running.exited).toEqual({ exitCode: 137 });
  });

  test("takes its background processes with it when it exits", async () => {
    const sleep = uniqueSleep();
    const running = await start(`(setsid sleep ${sleep} >/dev/null 2>&1 &); exit 3`);
    expect(await running.exited).toEqual({ exitCode: 3 });
    expect(processesWith(`sleep\0${sleep}`)).toEqual([]);
  });

  test("ignores input after it has exited", async () => {
    const running = await start("exit 0");
    await running.exited;
    await new Promise((resolve) => running.stdin.write("x".repeat(100_000), resolve));
    expect(await running.exited).toEqual({ exitCode: 0 });
  });

  test("is rejected by name if it does not exist", async () => {
    const { path } = await temporaryFolder();
    const sandbox = new CommandSandbox({ environment: process.env, ...options });
    const start = (command: string[]) =>
      sandbox.start({ command, cwd: path, policy, workspace: path, environment: {} });
    await expect(start(["no-such-agent"])).rejects.toMatchObject({
      kind: "agentFailed",
      message: expect.stringContaining("no-such-agent: command not found"),
    });
    await expect(start(["echo", "a\0b"])).rejects.toMatchObject({ kind: "agentFailed" });
  });
});

anywhere("rejects a confined program where no mechanism works", async () => {
  const { path } = await temporaryFolder();
  const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [] });
  const policy = { type: "readOnly" } as const;
  await expect(
    sandbox.start({ command: ["cat"], cwd: path, policy, workspace: path, environment: {} }),
  ).rejects.toMatchObject({ kind: "sandboxUnavailable" });
});

anywhere("programs of every mode die with the process that started them [P23]", async () => {
  const { path } = await temporaryFolder();
  const sleep = uniqueSleep();
  const source = new URL("../command-sandbox.ts", import.meta.url).href;
  const code = `
    const { CommandSandbox } = await import(${JSON.stringify(source)});
    const start = async (options, type) => {
      const running = await new CommandSandbox({ environment: process.env, ...options }).start({
        command: ["sh", "-c", "echo ready; sleep ${sleep}"], cwd: ${JSON.stringify(path)},
        workspace: ${JSON.stringify(path)}, policy: { type }, environment: {},
      });
      running.stdout.pipe(process.stdout);
    };
    const missing = () => process.stdout.write("ready\\n");
    start({ mechanisms: ["bubblewrap"] }, "workspaceWrite").catch(missing);
    start({ mechanisms: ["namespaces"] }, "workspaceWrite").catch(missing);
    start({}, "dangerFullAccess");
    start({ containment: "group" }, "dangerFullAccess");
  `;
  const server = await startServer(code, "ready", 4);
  expect(processesWith(`sleep\0${sleep}`)).not.toEqual([]);
  server.kill("SIGKILL");
  await expect.poll(() => processesWith(`sleep\0${sleep}`), PATIENT).toEqual([]);
});

describeEachMechanism("a confined program with %s", (name, test) => {
  test("writes to its own paths despite a readOnly policy, and nowhere else", async () => {
    const { path, join } = await temporaryFolder();
    const own = join("own");
    await mkdir(own);
    const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [name] });
    const script = `touch "$1/saved"; touch "$2/lost"`;
    const running = await sandbox.start({
      command: ["sh", "-c", script, "sh", own, path],
      ...{ cwd: path, workspace: path, policy: { type: "readOnly" }, environment: {} },
      ownPaths: [own, join("missing")],
    });
    onTestFinished(() => running.stop());
    await running.exited;
    expect(readdirSync(path)).toEqual(["own"]);
    expect(readdirSync(own)).toEqual(["saved"]);
  });

  test("finds its own files in /tmp, and nothing else there", async () => {
    const [installed, other, work] = await Promise.all([
      temporaryFolder(),
      temporaryFolder(),
      temporaryFolder(),
    ]);
    await mkdir(installed.join("bin"));
    const program = installed.join("bin", "agent");
    await writeFile(installed.join("data"), "loaded");
    await writeFile(other.join("data"), "secret");
    await writeFile(
      program,
      `#!/bin/sh\ncat ${installed.join("data")}; cat ${other.join("data")} 2>&1; touch ${installed.join("new")}\n`,
    );
    await chmod(program, 0o755);
    const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [name] });
    const running = await sandbox.start({
      command: [program],
      ...{ cwd: work.path, workspace: work.path, policy: { type: "workspaceWrite" }, environment: {} },
    });
    const [output, errors] = await Promise.all([text(running.stdout), text(running.stderr)]);
    expect(output).toMatch(/^loaded.*No such file/s);
    expect(output).not.toContain("secret");
    expect(errors).toContain("Read-only file system");
  });
});
