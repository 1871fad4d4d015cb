import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, rename, rmdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import {
  BROKER_HOOK,
  type BrokeredCommand,
  type CommandBroker,
  type RunningProcess,
  readGrantCheck,
} from "@flint/core/ports";
import type { SandboxPolicy } from "@flint/protocol";
import { leavesNoProcess, needs } from "@flint/testkit";
import { describe, expect, onTestFinished } from "vitest";
import { folderIdentity } from "../../files/folder-identity.ts";
import { CommandSandbox } from "../command-sandbox.ts";
import { newFolder } from "../testing/fixture.ts";

const test = needs("bwrap");
const INSIDE: SandboxPolicy = { type: "workspaceWrite" };
const UNCONFINED: SandboxPolicy = { type: "dangerFullAccess" };

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  for await (const piece of stream) text += String(piece);
  return text;
}

/** A sandbox with a broker, a folder that it can write, and one that it cannot. */
async function setUp() {
  leavesNoProcess();
  const folder = newFolder();
  const [workspace, outside, brokerFolder] = ["workspace", "outside", "run"].map((name) =>
    join(folder, name),
  );
  if (workspace === undefined || outside === undefined || brokerFolder === undefined) throw new Error();
  await Promise.all([mkdir(workspace), mkdir(outside)]);
  const sandbox = new CommandSandbox({ environment: process.env, mechanisms: ["bubblewrap"], brokerFolder });
  const broker = await sandbox.openBroker();
  if (broker === undefined) throw new Error("There is no broker.");
  onTestFinished(() => broker.close());
  const turn = new AbortController();
  const grant = (script: string, changes: Partial<BrokeredCommand> = {}) =>
    broker.grant({
      ...{ argv: ["sh", "-c", script], cwd: workspace, workspace, policy: UNCONFINED, signal: turn.signal },
      ...changes,
    });
  const start = (script: string, used: CommandBroker | "none" = broker) =>
    sandbox.start({
      ...{ command: ["sh", "-c", script], cwd: workspace, workspace, environment: {} },
      ...(used === "none" ? {} : { broker: used }),
      policy: { type: "workspaceWrite" },
    });
  const run = async (script: string, used?: CommandBroker | "none") => ended(await start(script, used));
  return { sandbox, broker, workspace, outside, brokerFolder, turn, grant, start, run };
}

async function ended(process: RunningProcess) {
  const [stdout, stderr, { exitCode }] = await Promise.all([
    textOf(process.stdout),
    textOf(process.stderr),
    process.exited,
  ]);
  return { stdout, stderr, exitCode };
}

describe("a broker", () => {
  test("runs the granted command outside of the sandbox, with its output and exit code", async () => {
    const { grant, run, outside } = await setUp();
    expect(await run(`touch ${outside}/direct`)).toMatchObject({ exitCode: 1 });
    const line = grant(`touch ${outside}/made; echo out; echo err >&2; exit 7`);
    expect(await run(line)).toEqual({ stdout: "out\n", stderr: "err\n", exitCode: 7 });
    expect(readdirSync(outside)).toEqual(["made"]);
  });

  test("runs it in a sandbox that is wider by exactly the grant", async () => {
    const { grant, run, outside, workspace } = await setUp();
    await mkdir(join(outside, "allowed"));
    const granted = { policy: INSIDE, permission: { write: [join(outside, "allowed")] } };
    const line = grant(`touch ${outside}/allowed/a ${workspace}/b && touch ${outside}/c`, granted);
    const { exitCode, stderr } = await run(line);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("Read-only file system")]);
    expect([readdirSync(outside), readdirSync(join(outside, "allowed"))]).toEqual([["allowed"], ["a"]]);
    expect(existsSync(join(workspace, "b"))).toBe(true);
  });

  /** Runs what was granted to write a folder after another file has taken its place. */
  async function runAfterMove(replace: (path: string, other: string) => Promise<unknown>) {
    const { grant, run, outside } = await setUp();
    const [allowed, other] = [join(outside, "allowed"), join(outside, "other")];
    await Promise.all([mkdir(allowed), mkdir(other)]);
    const permission = { write: [allowed], identities: { [allowed]: folderIdentity(allowed) ?? "" } };
    const line = grant(`touch ${allowed}/made`, { policy: INSIDE, permission });
    await rename(allowed, join(outside, "moved"));
    await replace(allowed, other);
    const result = await run(line);
    return { ...result, made: [allowed, other].flatMap((path) => readdirSync(path)) };
  }

  test("runs nothing if a granted folder has become a link", async () => {
    const { exitCode, stderr, made } = await runAfterMove((path, other) => symlink(other, path));
    expect([exitCode, made]).toEqual([126, []]);
    expect(stderr).toMatch(/allowed, which it was allowed to write, leads to .*other now/);
  });

  test("runs nothing if another folder has taken the place of a granted one", async () => {
    const { exitCode, stderr, made } = await runAfterMove((path) => mkdir(path));
    expect([exitCode, made]).toEqual([126, []]);
    expect(stderr).toContain("allowed, which it was allowed to write, was replaced by another folder.");
  });

  test("passes on much output without loss", async () => {
    const { grant, run } = await setUp();
    const { stdout, exitCode } = await run(grant("head -c 9000000 /dev/zero | tr '\\0' x"));
    expect([stdout.length, exitCode]).toEqual([9_000_000, 0]);
  });

  test("runs a grant once, even if two callers use it at the same time", async () => {
    const { grant, run, outside } = await setUp();
    const line = grant(`echo run >> ${outside}/count`);
    const both = await Promise.all([run(line), run(line)]);
    expect(both.map(({ exitCode }) => exitCode).sort()).toEqual([0, 126]);
    expect(await run(line)).toEqual({
      ...{ stdout: "", exitCode: 126 },
      stderr: "flint-run: This grant was already used; it was for one run only. Nothing was run.\n",
    });
    expect(readFileSync(join(outside, "count"), "utf8")).toBe("run\n");
  });

  test("refuses a forged token, and a grant with another command", async () => {
    const { grant, run, outside } = await setUp();
    const line = grant(`touch ${outside}/made`);
    const forged = line.replace(/[0-9a-f]{64}$/, "0".repeat(64));
    expect(await run(forged)).toMatchObject({
      exitCode: 126,
      stderr: "flint-run: This grant is not known. Nothing was run.\n",
    });
    expect(await run(`${line} touch ${outside}/other`)).toMatchObject({ exitCode: 126 });
    expect(readdirSync(outside)).toEqual([]);
  });

  test("refuses a grant in another folder than the one that was shown", async () => {
    const { grant, run, workspace } = await setUp();
    await mkdir(join(workspace, "sub"));
    const line = grant("touch made");
    expect(await run(`cd sub && ${line}`)).toMatchObject({
      exitCode: 126,
      stderr: expect.stringContaining(`approved for the folder ${workspace}, and the shell is in`),
    });
    expect(await run(line)).toMatchObject({ exitCode: 0 });
    expect(readdirSync(workspace).sort()).toEqual(["made", "sub"]);
  });

  test("does not run if the approved folder was replaced", async () => {
    const { grant, run, workspace, outside } = await setUp();
    const sub = join(workspace, "sub");
    await mkdir(sub);
    const line = grant("touch made", { cwd: sub });
    expect(await run(`rmdir sub && ln -s ${outside} sub && cd sub && ${line}`)).toMatchObject({
      exitCode: 126,
      stderr: expect.stringContaining("that is another folder now"),
    });
    expect(readdirSync(outside)).toEqual([]);
  });

  test("runs nothing if the folder is replaced in the moment before it is entered", async () => {
    const { sandbox, start, workspace, outside, turn } = await setUp();
    const sub = join(workspace, "sub");
    await mkdir(sub);
    const broker = await sandbox.openBroker(async (spec) => {
      await rmdir(sub);
      await symlink(outside, sub);
      return sandbox.start(spec);
    });
    if (broker === undefined) throw new Error("There is no broker.");
    onTestFinished(() => broker.close());
    const command = { argv: ["touch", "made"], cwd: sub, workspace, policy: UNCONFINED, signal: turn.signal };
    expect(await ended(await start(`cd sub && ${broker.grant(command)}`, broker))).toMatchObject({
      exitCode: 126,
      stderr: `flint-run: The folder ${sub} was replaced. Nothing was run.\n`,
    });
    expect(readdirSync(outside)).toEqual([]);
  });

  test("cannot be reached from the sandbox of another thread, nor without a broker", async () => {
    const { sandbox, grant, run, start, brokerFolder, outside } = await setUp();
    const before = await start(`read line; ls ${brokerFolder}; eval "$line"`, "none");
    const other = await sandbox.openBroker();
    if (other === undefined) throw new Error("There is no second broker.");
    onTestFinished(() => other.close());
    const line = grant(`touch ${outside}/made`);
    before.stdin.write(`${line}\n`);
    expect((await ended(before)).exitCode).not.toBe(0);
    expect(await run(line, other)).toMatchObject({ stderr: expect.stringContaining("not known") });
    expect(readdirSync(outside)).toEqual([]);
    expect((await run(`ls ${brokerFolder} /run/flint/broker`)).stdout).not.toMatch(/[0-9a-f]{8}/);
  });

  test("is read-only in the sandbox", async () => {
    const { run } = await setUp();
    const { stderr } = await run("rm -f /run/flint/broker/*; echo evil > /run/flint/broker/flint-run.cjs");
    expect(stderr).toMatch(/Read-only file system/);
  });

  test("ends the command and the grants with the turn", async () => {
    const { grant, start, run, turn, outside } = await setUp();
    const unused = grant(`touch ${outside}/unused`);
    const running = await start(grant(`echo begun; tail -f /dev/null; touch ${outside}/late`));
    await new Promise((resolve) => running.stdout.once("data", resolve));
    turn.abort();
    expect((await ended(running)).exitCode).toBe(125);
    expect(await run(unused)).toMatchObject({
      exitCode: 126,
      stderr: "flint-run: This grant has ended with its turn. Nothing was run.\n",
    });
    expect(await run(grant(`touch ${outside}/after`))).toMatchObject({ exitCode: 126 });
    expect(readdirSync(outside)).toEqual([]);
  });

  test("ends the command if its caller is killed", async () => {
    const { grant, start, outside } = await setUp();
    const pipe = join(outside, "ended");
    const running = await start(
      `${grant(`trap 'touch ${pipe}' TERM; echo begun; tail -f /dev/null & wait`)} & wait`,
    );
    await new Promise((resolve) => running.stdout.once("data", resolve));
    await running.stop(0);
    await expect.poll(() => existsSync(pipe)).toBe(true);
  });

  test("that is closed ends what runs, and reports that to the caller", async () => {
    const { broker, grant, start } = await setUp();
    const running = await start(grant("echo begun; tail -f /dev/null"));
    await new Promise((resolve) => running.stdout.once("data", resolve));
    await broker.close();
    const { exitCode, stderr } = await ended(running);
    expect([exitCode, stderr]).toEqual([125, "flint-run: Flint ended this command before it was done.\n"]);
  });
});

describe("the hook of a broker", () => {
  /** Runs the hook on a command as Codex 0.166 does, and returns the result. */
  async function hooked(
    run: (script: string) => Promise<{ stdout: string; stderr: string }>,
    command: string,
    more = {},
  ) {
    const input = {
      ...{ session_id: "s", cwd: '/w"tool_input":{"command":"', hook_event_name: "PreToolUse" },
      ...{ tool_name: "Bash", tool_input: { command }, tool_use_id: "exec-1", ...more },
    };
    const { stdout, stderr } = await run(
      `printf '%s' '${JSON.stringify(input).replaceAll("'", `'\\''`)}' | sh ${BROKER_HOOK}`,
    );
    expect(stderr).toBe("");
    return stdout === "" ? undefined : String(JSON.parse(stdout).hookSpecificOutput.updatedInput.command);
  }

  const COMMANDS = [
    "echo one",
    `echo 'a "quoted" \\ word' && printf "%s\\n" $HOME & # done`,
    'x=\'{"tool_input":{"command":"evil"},"tool_use_id":"other"}\'; echo "$x"',
    "cat <<'EOF'\nä ☃ \t\u0001\nEOF",
  ];

  test("puts a check before any command and changes nothing else", async () => {
    const { run } = await setUp();
    for (const command of COMMANDS)
      expect(readGrantCheck((await hooked(run, command)) ?? "")).toEqual({ name: "exec-1", command });
  });

  test("leaves unknown settings unchanged", async () => {
    const { run } = await setUp();
    expect(await hooked(run, "x", { tool_use_id: "../up" })).toBeUndefined();
    expect(await hooked(run, "x", { tool_input: { patch: "x" } })).toBeUndefined();
  });

  test("runs a command unchanged without a grant, and the granted command with one", async () => {
    const { run, broker, workspace, turn, outside } = await setUp();
    const checked = (await hooked(run, "echo inside")) ?? "";
    expect(await run(checked)).toMatchObject({ stdout: "inside\n", exitCode: 0 });
    const granted = { cwd: workspace, workspace, policy: UNCONFINED, signal: turn.signal };
    await broker.grantAs("exec-1", { argv: ["sh", "-c", `echo beyond; touch ${outside}/made`], ...granted });
    expect(await run(checked)).toMatchObject({ stdout: "beyond\n", exitCode: 0 });
    expect(await run(checked)).toMatchObject({ stdout: "", exitCode: 126 });
    expect(readdirSync(outside)).toEqual(["made"]);
  });
});

/** Answers each line, says on stderr that it is up, and writes to a folder that the agent's sandbox cannot write. */
const ECHO = `
process.stderr.write("up\\n");
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  if (line === "end") return process.stdin.destroy(), (process.exitCode = 7);
  console.log(process.env.KEY + " " + line);
});`;

describe("a bridged program", () => {
  /** A program with a key, and the command line that leads to it. */
  async function bridged(signal?: AbortSignal) {
    const fixture = await setUp();
    const { broker, sandbox, workspace } = fixture;
    const started: RunningProcess[] = [];
    const command = broker.bridge({
      ...(signal === undefined ? {} : { signal }),
      start: async () => {
        const running = await sandbox.start({
          ...{ command: [process.execPath, "-e", ECHO], cwd: workspace, workspace, policy: INSIDE },
          environment: { KEY: "secret" },
        });
        started.push(running);
        return running;
      },
    });
    const connect = () => fixture.start(`exec ${command.map((word) => `'${word}'`).join(" ")}`);
    return { ...fixture, connect, started, command };
  }

  test("gets what is sent to it, answers, and has variables that the agent has not", async () => {
    const { connect, run } = await bridged();
    const agent = await connect();
    const lines = agent.stdout.setEncoding("utf8");
    agent.stdin.write("one\ntwo\n");
    await expect.poll(() => String(lines.read() ?? "")).toContain("secret one");
    agent.stdin.write("end\n");
    expect((await ended(agent)).stderr).toBe("up\n");
    expect((await agent.exited).exitCode).toBe(7);
    expect(
      (await run("cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' ' '")).stdout,
    ).not.toContain("secret");
  });

  test("passes on more than fits into any buffer, in both directions", async () => {
    const { connect } = await bridged();
    const agent = await connect();
    const sent = Array.from({ length: 400 }, (_, at) => `${at} ${"x".repeat(20_000)}`);
    const received = textOf(agent.stdout);
    agent.stdin.write(`${sent.join("\n")}\nend\n`);
    const answers = (await received).trimEnd().split("\n");
    expect(answers.length).toBe(sent.length);
    expect(answers.every((line, at) => line === `secret ${sent[at]}`)).toBe(true);
  });

  test("ends when its caller closes its input, is killed, or the broker closes", async () => {
    const { connect, started, broker } = await bridged();
    const [closing, killed, left] = [await connect(), await connect(), await connect()];
    for (const agent of [closing, killed, left]) agent.stdin.write("hi\n");
    await expect.poll(() => started.length).toBe(3);
    const [first, second, third] = started;
    closing.stdin.end();
    await killed.stop(0);
    await broker.close();
    await Promise.all([first?.exited, second?.exited, third?.exited, closing.exited, left.exited]);
  });

  test("ends with its signal, and is not started after that", async () => {
    const thread = new AbortController();
    const { connect, started } = await bridged(thread.signal);
    const agent = await connect();
    await expect.poll(() => started.length).toBe(1);
    thread.abort();
    await started[0]?.exited;
    await agent.exited;
    const late = await ended(await connect());
    expect(late).toMatchObject({ exitCode: 126, stderr: expect.stringContaining("not known") });
    expect(started.length).toBe(1);
  });

  test("that cannot be started, or runs too often already, is a reason on stderr", async () => {
    const { broker, run, connect, started } = await bridged();
    const failing = broker.bridge({ start: () => Promise.reject(new Error("Its files have changed.")) });
    expect(await run(failing.join(" "))).toMatchObject({
      ...{ exitCode: 126, stdout: "" },
      stderr: "flint-run: Its files have changed. Nothing was run.\n",
    });
    const open = [await connect(), await connect(), await connect(), await connect()];
    await expect.poll(() => started.length).toBe(4);
    expect((await ended(await connect())).stderr).toContain("running too often already");
    await Promise.all(open.map((agent) => agent.stop(0)));
  });

  test("is reached from no other sandbox", async () => {
    const { command, run, started } = await bridged();
    expect((await run(command.join(" "), "none")).exitCode).not.toBe(0);
    expect(started).toEqual([]);
  });
});

needs("namespaces")(
  "without bubblewrap there is none, and the state of the sandbox says so before work begins",
  async () => {
    const brokerFolder = join(newFolder(), "run");
    const sandbox = new CommandSandbox({
      environment: process.env,
      mechanisms: ["namespaces"],
      brokerFolder,
    });
    expect(await sandbox.openBroker()).toBeUndefined();
    expect((await sandbox.state()).limitations).toEqual([
      expect.stringMatching(/Claude and Codex cannot leave their sandbox/),
    ]);
  },
);
