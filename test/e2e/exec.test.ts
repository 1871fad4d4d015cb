import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { asMessage, FLINT } from "./server.ts";

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Workspace {
  readonly path: string;
  readonly env: NodeJS.ProcessEnv;
}

async function makeWorkspace(): Promise<Workspace> {
  const folder = await temporaryFolder();
  const path = folder.join("workspace");
  await mkdir(path);
  await writeFile(`${path}/notes.txt`, "one\n");
  return {
    path,
    env: { PATH: process.env.PATH, HOME: folder.path, FLINT_HOME: folder.join("home"), LANG: "C.UTF-8" },
  };
}

function exec({ path, env }: Workspace, args: readonly string[], input = ""): Promise<Ran> {
  return new Promise((resolve) => {
    const all = [FLINT, "exec", "--offline", ...args];
    const child = execFile(process.execPath, all, { cwd: path, env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
    child.stdin?.end(input);
  });
}

const events = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => asMessage(JSON.parse(line)));

describe("flint exec in a pipe", () => {
  test("prints plain lines without a spinner or colours", async () => {
    const { code, stdout, stderr } = await exec(await makeWorkspace(), ["what is in this folder?"]);
    // Its first line on stderr names the agent, the model and the permissions.
    expect({ code, stderr }).toEqual({ code: 0, stderr: "flint · offline · permissions: ask\n" });
    expect(stdout).toMatch(/^\$ ls .*\n(.*\n)*notes\.txt\n\(exit 0\)\n/);
    expect(stdout).not.toContain("\u001b");
  });

  test("--quiet prints only the last message", async () => {
    const { stdout, stderr } = await exec(await makeWorkspace(), ["-q", "what is in this folder?"]);
    expect(stdout).toMatch(/^This folder [^\n]*\n$/);
    expect(stderr).toBe("");
  });

  test("names the background commands that end with it", async () => {
    const prompt = "run `sleep 4714` in the background";
    const { code, stderr } = await exec(await makeWorkspace(), ["-q", "--approval", "never", prompt]);
    expect(code).toBe(0);
    expect(stderr).toContain(
      "flint: Stopped: sleep 4714. Background commands keep running only in a running server",
    );
  });

  test("--json prints each event as one line, from the thread to the end of its turn", async () => {
    const { stdout, stderr } = await exec(await makeWorkspace(), ["--json", "count to 3"]);
    const streamed = events(stdout);
    expect([streamed[0]?.type, streamed.at(-1)?.type, stderr]).toEqual([
      "thread/started",
      "turn/completed",
      "",
    ]);
    const threadId = asMessage(streamed[0]?.thread).id;
    expect(new Set(streamed.map((event) => event.threadId))).toEqual(new Set([threadId]));
    const stored = streamed.flatMap((event) => (typeof event.seq === "number" ? [event.seq] : []));
    expect(stored).toEqual([...stored].sort((one, other) => one - other));
  });

  test("a thread is continued by its id, a prefix of it or its folder, and an unknown one is an error", async () => {
    const workspace = await makeWorkspace();
    const first = events((await exec(workspace, ["--json", "count to 3"])).stdout);
    const threadId = String(asMessage(first[0]?.thread).id);
    for (const which of [["--resume", threadId], ["-r", threadId.slice(0, -2)], ["--continue"]]) {
      const { stdout } = await exec(workspace, [...which, "-q", "what did I ask?"]);
      expect(stdout).toContain("count to 3");
    }
    const resumed = events((await exec(workspace, ["-c", "--json", "count to 2"])).stdout);
    expect([resumed[0]?.type, resumed[0]?.threadId, resumed[1]?.type]).toEqual([
      "thread/started",
      threadId,
      "turn/started",
    ]);
    const wrong = await exec(workspace, ["--resume", "nope", "hello"]);
    expect(wrong).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining('No thread "nope"') });
  });

  test("permissions given by flags do not apply to the next run", async () => {
    const workspace = await makeWorkspace();
    const away = `${workspace.path}/../away`;
    await mkdir(away);
    const bold = await exec(workspace, ["--approval", "never", "run `touch a`"]);
    const header = "flint · offline · permissions: approval never, sandbox workspace-write\n";
    expect([bold.code, bold.stderr]).toEqual([0, `${header}Approvals are off.\n`]);
    const shy = await exec(workspace, ["-c", "run `touch b`"]);
    expect([shy.code, await readdir(workspace.path)]).toEqual([3, ["a", "notes.txt"]]);
    expect(shy.stderr).toMatch(
      /^flint · .*\nflint: An action was declined:\n {2}touch .*: No one was there to approve it\. .*--approval never\.\n$/,
    );

    const unconfined = ["-c", "--approval", "always", "--sandbox", "danger-full-access", "--max-steps", "1"];
    const open = await exec(workspace, [...unconfined, "count to 2"]);
    expect(open.stderr).toMatch(/^flint · .* sandbox danger-full-access\nThe sandbox is off\.\n$/);
    const confined = await exec(workspace, ["-c", "--approval", "never", "run `touch ../away/c`"]);
    expect([confined.code, await readdir(away)]).toEqual([0, []]);
    expect(confined.stdout).toContain("(exit 1)");
  });

  test("limits given by flags do not apply to the next run, those of the configuration always do", async () => {
    const workspace = await makeWorkspace();
    const steps = async (args: readonly string[]) => {
      const { stdout } = await exec(workspace, ["--json", ...args, "run `ls`"]);
      return events(stdout).at(-1)?.turn;
    };
    expect(await steps(["--max-steps", "1"])).toMatchObject({ status: "failed" });
    const plain = await exec(workspace, ["--max-steps", "1", "run `ls`"]);
    expect(plain.stdout).toContain("Stopped at the model call limit of 1 (--max-steps).");
    expect(await steps(["-c"])).toMatchObject({ status: "completed" });
    await mkdir(`${workspace.env.HOME}/.config/flint`, { recursive: true });
    await writeFile(`${workspace.env.HOME}/.config/flint/config.toml`, "[budget.turn]\nsteps = 1\n");
    expect(await steps(["-c"])).toMatchObject({ status: "failed" });
    expect(await steps(["-c", "--max-time", "100"])).toMatchObject({ status: "failed" });
    expect(await steps(["-c", "--max-steps", "9"])).toMatchObject({ status: "completed" });
  });

  test("a thread keeps its folder, and reports it if it is another one", async () => {
    const workspace = await makeWorkspace();
    const away = `${workspace.path}/away`;
    await mkdir(away);
    const streamed = events((await exec(workspace, ["--json", "--cwd", away, "count to 2"])).stdout);
    const threadId = String(asMessage(streamed[0]?.thread).id);
    const { stdout, stderr } = await exec(workspace, ["--resume", threadId, "run `pwd`"]);
    expect(stderr).toContain(`\nThis thread works in ${away}.\n`);
    expect(stdout).toContain(`\n${away}\n`);
  });

  test("--ephemeral stores nothing", async () => {
    const workspace = await makeWorkspace();
    await exec(workspace, ["--ephemeral", "count to 3"]);
    expect((await exec(workspace, ["--continue", "hello"])).code).toBe(2);
  });

  test("piped input is context, or the prompt", async () => {
    const workspace = await makeWorkspace();
    const context = events((await exec(workspace, ["--json", "count to 2"], "a log\n")).stdout);
    const message = context
      .map((event) => asMessage(event.item ?? {}))
      .find((item) => item.type === "userMessage");
    expect(message?.content).toEqual([
      { type: "text", text: "count to 2" },
      { type: "text", text: "<stdin>\na log\n</stdin>" },
    ]);
    expect((await exec(workspace, ["-q", "-"], "count to 2\n")).stdout).toBe("1 2.\n");
  });

  test("--output-schema prints only JSON, and an answer that does not match has its own exit code", async () => {
    const workspace = await makeWorkspace();
    await writeFile(
      `${workspace.path}/schema.json`,
      '{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"]}',
    );
    await writeFile(`${workspace.path}/never.json`, '{"type":"object","anyOf":[{"type":"string"}]}');
    const fits = await exec(workspace, ["--output-schema", "schema.json", "count to 2"]);
    expect([fits.code, fits.stderr, typeof JSON.parse(fits.stdout)]).toEqual([0, "", "object"]);
    const never = await exec(workspace, ["--output-schema", "never.json", "count to 2"]);
    expect([never.code, never.stderr]).toEqual([4, expect.stringContaining("does not match never.json")]);
  });

  test("approvals are declined without a terminal, and the exit code shows it", async () => {
    const workspace = await makeWorkspace();
    const { code, stdout } = await exec(workspace, ["run `touch made.txt`"]);
    expect([code, await readdir(workspace.path)]).toEqual([3, ["notes.txt"]]);
    expect(stdout).toContain("(declined)");
  });

  test("a turn that fails has exit code 1 and prints the reason", async () => {
    const { code, stdout } = await exec(await makeWorkspace(), ["fail with boom"]);
    expect(code).toBe(1);
    expect(stdout).toContain("boom");
  });

  test("SIGTERM stops the turn cleanly", async () => {
    const { path, env } = await makeWorkspace();
    const args = [FLINT, "exec", "--offline", "--approval", "never", "run `echo ready; sleep 300`"];
    const child = spawn(process.execPath, args, { cwd: path, env, stdio: ["ignore", "pipe", "ignore"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    let output = "";
    const closed = once(child, "close");
    for await (const chunk of child.stdout.setEncoding("utf8")) {
      const wasReady = output.includes("\nready\n");
      output += chunk;
      if (!wasReady && output.includes("\nready\n")) child.kill("SIGTERM");
    }
    expect(await closed).toEqual([143, null]);
    expect(output).toContain("The turn was interrupted.");
  });

  test("a closed output pipe ends it silently", async () => {
    const { path, env } = await makeWorkspace();
    const args = [FLINT, "exec", "--offline", "--approval", "never", "run `while :; do echo line; done`"];
    const child = spawn(process.execPath, args, { cwd: path, env, stdio: ["ignore", "pipe", "pipe"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    await once(child.stdout, "data");
    child.stdout.destroy();
    expect(await once(child, "close")).toEqual([141, null]);
    expect(stderr).toMatch(/^flint · .*\nApprovals are off\.\n$/);
  });

  test.each([[], ["--json"]])(
    "a full disk ends the turn cleanly and is reported, with %j",
    async (...flags) => {
      const { path, env } = await makeWorkspace();
      const args = [FLINT, "exec", "--offline", "--approval", "never", ...flags, "run `echo one; sleep 30`"];
      const full = openSync("/dev/full", "w");
      onTestFinished(() => closeSync(full));
      const child = spawn(process.execPath, args, { cwd: path, env, stdio: ["ignore", full, "pipe"] });
      onTestFinished(() => void child.kill("SIGKILL"));
      if (child.stderr === null) throw new Error("There is no stderr.");
      const stderr = text(child.stderr);
      expect(await once(child, "close")).toEqual([1, null]);
      expect(await stderr).toMatch(
        /^(flint · .*\nApprovals are off.*\n)?flint: Cannot write the output: ENOSPC.*\n$/,
      );
      const [thread] = await readdir(`${env.FLINT_HOME}/threads`);
      const log = await readFile(`${env.FLINT_HOME}/threads/${thread}/events.jsonl`, "utf8");
      expect(log).toMatch(/"turn\/completed".*"interrupted"/);
    },
  );

  test("a stderr that cannot be written ends the turn cleanly", async () => {
    const { path, env } = await makeWorkspace();
    const full = openSync("/dev/full", "w");
    onTestFinished(() => closeSync(full));
    const args = [FLINT, "exec", "--offline", "--approval", "never", "run `sleep 30`"];
    const child = spawn(process.execPath, args, { cwd: path, env, stdio: ["ignore", "ignore", full] });
    onTestFinished(() => void child.kill("SIGKILL"));
    expect(await once(child, "close")).toEqual([1, null]);
  });

  test("any other command reports that its output could not be written", async () => {
    const { path, env } = await makeWorkspace();
    const full = openSync("/dev/full", "w");
    onTestFinished(() => closeSync(full));
    const child = spawn(process.execPath, [FLINT, "--help"], {
      cwd: path,
      env,
      stdio: ["ignore", full, "pipe"],
    });
    if (child.stderr === null) throw new Error("There is no stderr.");
    const stderr = text(child.stderr);
    expect(await once(child, "close")).toEqual([1, null]);
    expect(await stderr).toMatch(/^flint: Cannot write the output: ENOSPC.*\n$/);
  });

  test("an image is not given to the offline model without a word", async () => {
    const workspace = await makeWorkspace();
    const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    await writeFile(`${workspace.path}/dot.png`, png);
    const { code, stderr } = await exec(workspace, ["-i", "dot.png", "say hello"]);
    expect({ code, stderr: stderr.split("\n").slice(1) }).toEqual({
      code: 0,
      stderr: ["The offline model cannot see images. Leave out --offline to use another model.", ""],
    });
  });

  test("images and schemas that cannot be sent are rejected before anything starts", async () => {
    const workspace = await makeWorkspace();
    await writeFile(`${workspace.path}/wrong.json`, '{"type":"text"}');
    const wrong: readonly [readonly string[], RegExp][] = [
      [["--image", "none.png", "look"], /Cannot read --image none\.png/],
      [["--image", "notes.txt", "look"], /notes\.txt is not an image/],
      [["--output-schema", "notes.txt", "look"], /notes\.txt is not JSON/],
      [
        ["--output-schema", "wrong.json", "look"],
        /wrong\.json is not a valid JSON Schema: #\/type is "text"/,
      ],
      [["--max-cost", "-1", "look"], /--max-cost must be a number above 0, not "-1"/],
      [["--max-tokens", "many", "look"], /--max-tokens must be a whole number/],
      [["--json", "--quiet", "look"], /cannot be used together/],
    ];
    for (const [args, message] of wrong) {
      const { code, stdout, stderr } = await exec(workspace, args);
      expect({ code, stdout, stderr }).toEqual({
        code: 2,
        stdout: "",
        stderr: expect.stringMatching(message),
      });
    }
  });
});
