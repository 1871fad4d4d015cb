import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { agentProgram, leavesNoProcess, needs, type WireMessage } from "@flint/testkit";
import { expect, onTestFinished, vi } from "vitest";
import { environmentIn } from "./codex/sdk.ts";
import { commandFixture } from "./flint.ts";
import { asMessage, FLINT } from "./server.ts";

/** Every command starts two processes, on a machine that may be busy. */
const TEST_MS = 120_000;
const COUNTED = `${Array.from({ length: 20 }, (_, index) => index + 1).join(" ")}.`;

needs("acpx")(
  "acpx streams an answer, and a file is written only if the user allows it",
  async () => {
    const { run, cwd } = await acpx();
    const streamed = await run(["--format", "json", "exec", "count to 20"]);
    expect(streamed.code).toBe(0);
    expect(chunksIn(streamed.stdout).length).toBeGreaterThan(5);
    expect(chunksIn(streamed.stdout).join("")).toBe(COUNTED);

    const allowed = await run(["--approve-all", "exec", "write `hello` to hello.txt"]);
    expect(allowed).toMatchObject({ code: 0, stdout: expect.stringContaining("[done] end_turn") });
    expect(allowed.stdout).toMatch(/\[tool\] Write .*hello\.txt \(completed\)/);
    expect(await readFile(`${cwd}/hello.txt`, "utf8")).toBe("hello\n");

    const denied = await run(["--deny-all", "exec", "write `no` to no.txt"]);
    expect(denied.stdout).toMatch(/\[tool\] Write .*no\.txt \(failed\)/);
    expect(denied.stdout).toContain("declined");
    expect(existsSync(`${cwd}/no.txt`)).toBe(false);
  },
  TEST_MS,
);

needs("acpx")(
  "a named acpx session continues across prompts, changes its mode and is cancelled",
  async () => {
    const { run, cwd } = await acpx();
    const made = await run(["--format", "quiet", "sessions", "new", "--name", "work"]);
    expect(made.code).toBe(0);
    const sessionId = made.stdout.trim();
    const inSession = (...args: string[]) => run([...args, "-s", "work"]);
    const prompt = (text: string) => run(["--approve-all", "prompt", "-s", "work", text]);

    expect(await prompt("what is in this folder?")).toMatchObject({ code: 0 });
    expect(await inSession("set-mode", "read-only")).toMatchObject({ stdout: "mode set: read-only\n" });
    expect((await prompt("write `x` to x.txt")).stdout).toContain(
      "The sandbox is read-only, so no file can be changed",
    );
    expect(existsSync(`${cwd}/x.txt`)).toBe(false);
    expect(await inSession("set", "mode", "auto")).toMatchObject({ code: 0 });
    expect((await inSession("status")).stdout).toContain("mode: auto");
    expect((await prompt("write `x` to x.txt")).stdout).not.toContain("session/request_permission");
    expect(await readFile(`${cwd}/x.txt`, "utf8")).toBe("x\n");

    const wait = "run `touch begun && tail -f /dev/null`";
    const long = run(["--approve-all", "--format", "json", "prompt", "-s", "work", wait]);
    await vi.waitUntil(() => existsSync(`${cwd}/begun`), { timeout: TEST_MS });
    expect(await inSession("cancel")).toMatchObject({ stdout: "cancel requested\n" });
    expect((await long).stdout).toContain('"stopReason":"cancelled"');

    const remembered = await prompt("what did I ask before?");
    expect(remembered.stdout).toContain("1. what is in this folder?");
    expect(remembered.stdout).toContain("tail -f /dev/null");
    expect(await run(["sessions", "list"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${sessionId}\twhat is in this folder?\t${cwd}`),
    });
    expect(await run(["sessions", "close", "work"])).toMatchObject({ code: 0 });
  },
  TEST_MS,
);

interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The real acpx with the built command as its agent, in folders of its own. No process may be left after the test. */
async function acpx() {
  leavesNoProcess();
  const { cwd, home } = await commandFixture();
  const node = agentProgram("node24") ?? process.execPath;
  const program = [agentProgram("acpx") ?? "acpx", "--agent", `${process.execPath} ${FLINT} acp --offline`];
  const run = (args: readonly string[]) =>
    resultOf(spawn(node, [...program, "--cwd", cwd, ...args], { cwd, env: environmentIn(home) }));
  // The session of a failed test would otherwise keep waiting for prompts.
  onTestFinished(async () => void (await run(["sessions", "close", "work"])));
  return { cwd, run };
}

/** Resolves with the result of a command once it ends. */
function resultOf(child: ChildProcessWithoutNullStreams): Promise<CommandResult> {
  let [stdout, stderr] = ["", ""];
  child.stdin.end();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}

/** The text chunks of the agent, in order. */
function chunksIn(lines: string): string[] {
  return lines
    .split("\n")
    .filter((line) => line.includes('"agent_message_chunk"'))
    .map((line): WireMessage => asMessage(asMessage(asMessage(JSON.parse(line)).params).update))
    .map(({ content }) => String(asMessage(content).text));
}
