import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { RunningProcess } from "@flint/core/ports";
import type { SandboxPolicy } from "@flint/protocol";
import { describeEachMechanism, needs, settled, TestClock, temporaryFolder } from "@flint/testkit";
import { test as anywhere, describe, expect, onTestFinished } from "vitest";
import { CommandSandbox, type CommandSandboxOptions } from "../command-sandbox.ts";
import { STOP_GRACE_MS } from "./process-run.ts";

const WAYS = {
  bubblewrap: ["bwrap", { mechanisms: ["bubblewrap"] }, { type: "workspaceWrite" }],
  namespaces: ["namespaces", { mechanisms: ["namespaces"] }, { type: "workspaceWrite" }],
  "full access as root": ["root", {}, { type: "dangerFullAccess" }],
  "full access as anybody": ["sh", { containment: "group" }, { type: "dangerFullAccess" }],
} as const satisfies Record<
  string,
  [Parameters<typeof needs>[0], Omit<CommandSandboxOptions, "environment">, SandboxPolicy]
>;

/** A number of seconds for `sleep` that no other process sleeps. */
const uniqueSleep = () => `300.${randomInt(10_000_000, 100_000_000)}`;

/** The processes that sleep this long. */
function sleepers(seconds: string): string[] {
  const isSleeper = (pid: string) => {
    // Expected: the process ended in between.
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(`sleep\0${seconds}`);
    } catch {
      return false;
    }
  };
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isSleeper(name));
}

describe.each(Object.keys(WAYS) as (keyof typeof WAYS)[])("a program started with %s", (way) => {
  const [part, options, policy] = WAYS[way];
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

  test("it is talked to line by line, and gets the variables that are meant for it", async () => {
    const script = `echo "key $FLINT_TEST_API_KEY"; while read -r line; do echo "got $line"; done; echo bye >&2; exit 4`;
    const running = await start(script);
    const complaints = running.stderr.toArray();
    const answers = lines(running);
    expect((await answers.next()).value).toBe("key needed");
    running.stdin.write("one\n");
    expect((await answers.next()).value).toBe("got one");
    running.stdin.end("two\n");
    expect((await answers.next()).value).toBe("got two");
    expect(await running.exited).toEqual({ exitCode: 4 });
    expect(String(await complaints)).toBe("bye\n");
  });

  test("to stop it ends all that it started, wherever that went", async () => {
    const sleep = uniqueSleep();
    const running = await start(`sleep ${sleep} & (setsid sleep ${sleep} >/dev/null 2>&1 &); echo up; wait`);
    expect((await lines(running).next()).value).toBe("up");
    await running.stop();
    expect(sleepers(sleep)).toEqual([]);
    await running.stop();
  });

  test("it may put its things in order when it is stopped", async () => {
    const running = await start(`trap 'echo saved; exit 0' TERM; echo up; while :; do sleep 0.05; done`);
    const said = lines(running);
    await said.next();
    await running.stop();
    expect((await said.next()).value).toBe("saved");
  });

  test("one that will not end is killed after the grace, by the clock", async () => {
    const clock = new TestClock();
    const sleep = uniqueSleep();
    const running = await start(`trap '' TERM; echo up; while :; do sleep ${sleep}; done`, { clock });
    await lines(running).next();
    const stopped = running.stop();
    await clock.advance(STOP_GRACE_MS);
    await stopped;
    expect(await running.exited).toEqual({ exitCode: 137 });
    expect(sleepers(sleep)).toEqual([]);
  });

  test("one that was asked to end already is killed as soon as told", async () => {
    const clock = new TestClock();
    const running = await start(`trap '' TERM; echo up; while :; do sleep 0.05; done`, { clock });
    await lines(running).next();
    const stopped = running.stop(100);
    await clock.advance(100);
    await stopped;
    expect(await running.exited).toEqual({ exitCode: 137 });
  });

  test("what it left behind goes when it ends by itself", async () => {
    const sleep = uniqueSleep();
    const running = await start(`(setsid sleep ${sleep} >/dev/null 2>&1 &); exit 3`);
    expect(await running.exited).toEqual({ exitCode: 3 });
    expect(sleepers(sleep)).toEqual([]);
  });

  test("writing to one that has ended does no harm", async () => {
    const running = await start("exit 0");
    await running.exited;
    await new Promise((resolve) => running.stdin.write("x".repeat(100_000), resolve));
    expect(await running.exited).toEqual({ exitCode: 0 });
  });

  test("a program that is not there is refused by name", async () => {
    const { path } = await temporaryFolder();
    const sandbox = new CommandSandbox({ environment: process.env, ...options });
    const refused = (command: string[]) =>
      sandbox.start({ command, cwd: path, policy, workspace: path, environment: {} });
    await expect(refused(["no-such-agent"])).rejects.toMatchObject({
      kind: "agentFailed",
      message: expect.stringContaining("no-such-agent: command not found"),
    });
    await expect(refused(["echo", "a\0b"])).rejects.toMatchObject({ kind: "agentFailed" });
  });
});

anywhere("without a sandbox a confined program is refused, not started less confined", async () => {
  const { path } = await temporaryFolder();
  const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [] });
  const policy = { type: "readOnly" } as const;
  await expect(
    sandbox.start({ command: ["cat"], cwd: path, policy, workspace: path, environment: {} }),
  ).rejects.toMatchObject({ kind: "sandboxUnavailable" });
});

anywhere("programs of every kind die with the process that started them [P23]", async () => {
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
  const flags = ["--conditions=@flint/source", "--import", "tsx", "--input-type=module", "-e", code];
  const server = spawn(process.execPath, flags, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void server.kill("SIGKILL"));
  let printed = "";
  for await (const chunk of server.stdout) {
    printed += chunk;
    if (printed.split("ready\n").length === 5) break;
  }
  expect(sleepers(sleep)).not.toEqual([]);
  server.kill("SIGKILL");
  while (sleepers(sleep).length > 0) await settled();
});

describeEachMechanism("a program of which some is its own, confined by %s", (name, test) => {
  test("may write there, whatever its policy says, and nothing beside it", async () => {
    const { path, join } = await temporaryFolder();
    const own = join("own");
    await mkdir(own);
    const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [name] });
    const script = `touch "$1/kept"; touch "$2/lost"`;
    const running = await sandbox.start({
      command: ["sh", "-c", script, "sh", own, path],
      ...{ cwd: path, workspace: path, policy: { type: "readOnly" }, environment: {} },
      ownPaths: [own, join("missing")],
    });
    onTestFinished(() => running.stop());
    await running.exited;
    expect(readdirSync(path)).toEqual(["own"]);
    expect(readdirSync(own)).toEqual(["kept"]);
  });
});
