import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { FakeEndpoint, MESSAGES, refuse } from "@flint/agent/testing";
import { agentFolder, agentProgram, leavesNoProcess, needs } from "@flint/testkit";
import { expect, onTestFinished, vi } from "vitest";
import { plainEnvironment } from "../server/plain-environment.ts";
import type { Ran } from "./flint.ts";
import { FLINT } from "./server.ts";
import { answer, quit } from "./terminal/session-fixture.ts";
import { Terminal } from "./terminal/tmux.ts";

const TEST_MS = 240_000;
const STARTS_WITHIN_MS = 30_000;
const run = promisify(execFile);

/** A step of the script that the model of both agents plays. */
const step = (when: string, ...parts: object[]) => JSON.stringify({ when, parts });
const shell = (command: string) => ({ call: "Bash", input: { command } });
const says = (text: string | object) => ({ text: typeof text === "string" ? text : JSON.stringify(text) });

const REJECTS = {
  verdict: "reject",
  summary: "too short",
  findings: [
    { id: "x", severity: "major", file: "b.txt", line: 1, what: "says too little", why: null, fix: null },
  ],
  earlier: [],
};
const APPROVES = {
  verdict: "approve",
  summary: "fine",
  findings: [],
  earlier: [{ id: "F1", state: "resolved", why: null }],
};

/** A repository with one commit, a state folder, and both agents on the offline model. */
class Place {
  readonly #folder: string;
  readonly #env: Record<string, string>;

  private constructor(folder: string, env: Record<string, string>) {
    this.#folder = folder;
    this.#env = env;
  }

  static async make(more: Readonly<Record<string, string>> = {}): Promise<Place> {
    const { path } = await agentFolder();
    leavesNoProcess(10_000);
    const [repo, home, state] = [join(path, "repo"), join(path, "home"), join(path, "state")];
    await Promise.all([repo, home, state].map((folder) => mkdir(folder)));
    const agents = (["claude", "codex"] as const).map(
      (agent) => `[agents.${agent}]\ncommand = ${JSON.stringify([agentProgram(agent) ?? agent])}\n`,
    );
    await writeFile(join(state, "config.toml"), `[tasks]\nask_timeout = 0.2\n${agents.join("")}`);
    const given = { ...process.env, ...plainEnvironment(state), HOME: home, LANG: "C.UTF-8", ...more };
    const defined = Object.entries(given).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    const place = new Place(path, Object.fromEntries(defined));
    await place.git("init", "-q", "-b", "main");
    await writeFile(join(repo, "a.txt"), "one\n");
    await place.git("add", ".");
    await place.git("commit", "-q", "-m", "first");
    return place;
  }

  get repo(): string {
    return join(this.#folder, "repo");
  }

  async git(...args: string[]): Promise<string> {
    const who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
    return (await run("git", [...who, ...args], { cwd: this.repo })).stdout.trim();
  }

  /** Starts the server that runs the tasks, with a script for the model; returns how to end it. */
  async serve(
    script: readonly string[] = [],
    offline = script.length > 0,
  ): Promise<(signal: NodeJS.Signals) => Promise<void>> {
    const file = join(this.#folder, "script.jsonl");
    await writeFile(file, script.join("\n"));
    const env = { ...this.#env, ...(script.length === 0 ? {} : { FLINT_OFFLINE_SCRIPT: file }) };
    const args = [FLINT, "serve", "--listen", "local", ...(offline ? ["--offline"] : [])];
    const child = spawn(process.execPath, args, { cwd: this.repo, env, stdio: ["ignore", "ignore", "pipe"] });
    let errors = "";
    child.stderr.on("data", (bytes) => (errors += bytes));
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    const end = async (signal: NodeJS.Signals) => {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await ended;
    };
    onTestFinished(() => end("SIGTERM"));
    await vi.waitUntil(() => errors.includes("serving"), { timeout: STARTS_WITHIN_MS });
    return end;
  }

  /** Runs a command to its end, in a process of its own. */
  flint(...args: string[]): Promise<Ran> {
    return new Promise((resolve) => {
      const options = { cwd: this.repo, env: this.#env };
      const child = execFile(process.execPath, [FLINT, ...args], options, (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
      });
      child.stdin?.end();
    });
  }

  terminal(...args: string[]): Promise<Terminal> {
    const command = [process.execPath, FLINT, ...args];
    return Terminal.start({ command, cwd: this.repo, env: this.#env, folder: this.#folder });
  }

  /** The file that the executor writes, in its worktree. */
  async worktreeFile(name: string): Promise<string> {
    const { stdout } = await this.flint("tasks", "show", "1", "--json");
    const { events } = JSON.parse(stdout);
    const folders = events.flatMap(({ data }: { data: { folder?: string } }) => data.folder ?? []);
    return join(folders.at(-1) ?? "", name);
  }
}

needs(
  "claude",
  "codex",
  "tmux",
  "bwrap",
  "git",
)(
  "Claude works, Codex rejects, the server is killed, the work goes on, and an approval makes the branch",
  async () => {
    const place = await Place.make();
    const kill = await place.serve([
      step("^Port it", shell("echo round one > b.txt")),
      step("^Port it", { reasoning: "A short file will do." }, says("Wrote b.txt.")),
      step("^Review the changes", says(REJECTS)),
      step("^The work was reviewed", shell("touch begun; sleep 3600")),
    ]);
    const roles = ["--executor", "claude", "--reviewer", "codex", "--check", "grep -q round b.txt"];
    const added = await place.flint("tasks", "add", "Port it", ...roles, "--rounds", "3");
    expect(added.stdout).toContain("#1");
    // Round 2 is under way once its command has begun.
    await vi.waitUntil(async () => existsSync(await place.worktreeFile("begun")), {
      ...{ timeout: 90_000, interval: 500 },
    });
    await kill("SIGKILL");

    await place.serve([
      step("^You were interrupted", shell("rm -f begun; echo round two, with more > b.txt")),
      step("^You were interrupted", says({ summary: "says more", contested: [] })),
      step("^Review the changes", says(APPROVES)),
    ]);
    const watched = await place.flint("tasks", "watch");
    expect(watched.stdout).toContain("#1 Port it: needs approval, round 2 of 3");
    expect(watched.code).toBe(10);
    const { stdout: log } = await place.flint("tasks", "logs", "1");
    for (const line of [
      "executor: A short file will do.",
      "codex rejects: too short",
      "was lost",
      "codex approves",
    ])
      expect(log).toContain(line);

    const terminal = await place.terminal("tasks", "approve", "1");
    await terminal.until((screen) => screen.includes("Approve this result? [y/N]"), "the question");
    expect(await terminal.everything()).toContain("+round two, with more");
    await terminal.type("y");
    await terminal.press("Enter");
    expect(await terminal.exitCode()).toBe(0);
    expect((await place.flint("tasks", "watch")).stdout).toContain("branch flint/port-it");
    expect(await place.git("show", "flint/port-it:b.txt")).toBe("round two, with more");
    expect([await place.git("status", "--porcelain"), await place.git("branch", "--show-current")]).toEqual([
      ...["", "main"],
    ]);
  },
  TEST_MS,
);

needs("claude", "bwrap", "git")(
  "a question of Claude waits over a restart, and is answered from another process",
  async () => {
    const place = await Place.make();
    const question = {
      question: "Which colour?",
      header: "Colour",
      multiSelect: false,
      options: [
        { label: "red", description: "warm" },
        { label: "blue", description: "cold" },
      ],
    };
    const stop = await place.serve([
      step("^Paint it", { call: "AskUserQuestion", input: { questions: [question] } }),
    ]);
    await place.flint("tasks", "add", "Paint it", "--executor", "claude");
    const asked = await place.flint("tasks", "watch");
    expect(asked.stdout).toContain("Which colour?");
    expect(asked.code).toBe(10);
    await stop("SIGTERM");

    await place.serve([
      step("The answer is:\\s+blue", shell("echo blue > b.txt")),
      step("The answer is:\\s+blue", says("Painted.")),
    ]);
    expect((await place.flint("tasks", "answer", "1", "blue")).code).toBe(0);
    const done = await place.flint("tasks", "watch");
    expect(done.stdout).toContain("needs approval");
    expect((await place.flint("tasks", "diff", "1")).stdout).toContain("+blue");
  },
  TEST_MS,
);

needs("bwrap", "git")(
  "a task at a usage limit is suspended until the reset, also after a restart",
  async () => {
    const rejected = MESSAGES.error("rate_limit_error", "Daily limit");
    const endpoint = await FakeEndpoint.start(refuse(429, rejected, { "retry-after": "7200" }));
    onTestFinished(() => endpoint.close());
    const place = await Place.make({ ANTHROPIC_API_KEY: "sk-test", ANTHROPIC_BASE_URL: endpoint.url });
    const stop = await place.serve();
    await place.flint("tasks", "add", "Port it", "--executor", "flint/anthropic/claude-opus-5-5");
    const watched = await place.flint("tasks", "watch");
    expect([watched.code, watched.stdout]).toEqual([11, expect.stringMatching(/suspended, (2h|1h 5\d)/)]);
    await stop("SIGTERM");
    await place.serve();
    expect((await place.flint("tasks", "list")).stdout).toMatch(/#1 +suspended, (2h|1h 5\d)/);
    expect((await place.flint("tasks", "list", "--label", "gpu")).stdout).toBe(
      "No open tasks with the label gpu.\n",
    );
  },
  TEST_MS,
);

needs(
  "claude",
  "codex",
  "bwrap",
  "git",
  "tmux",
)(
  "compare shows what Claude and Codex changed side by side, and keeps one although the other is gone",
  async () => {
    const place = await Place.make();
    // Without a script, the offline model does what the prompt says, with the tools of each agent.
    await place.serve([], true);
    const terminal = await place.terminal(
      "compare",
      "write `a name` to name.txt",
      "--agents",
      "claude,codex",
      "--diff",
    );
    await terminal.until((screen) => screen.includes("Keep which (claude, codex)?"), "the question");
    const screen = await terminal.everything();
    for (const agent of ["claude", "codex"])
      expect(screen).toMatch(new RegExp(`${agent} +needs approval +1 file, \\+1 -0 +`));
    expect(screen).toMatch(/name\.txt +│ name\.txt/);
    expect(screen).toMatch(/\+a name +│ \+a name/);
    // The other result is dropped from elsewhere while the question is open.
    expect((await place.flint("tasks", "cancel", "1")).code).toBe(0);
    await terminal.type("codex");
    await terminal.press("Enter");
    expect(await terminal.exitCode()).toBe(0);
    expect(await terminal.everything()).toContain("Kept the result of codex: branch flint/");
  },
  TEST_MS,
);

needs(
  "claude",
  "codex",
  "bwrap",
  "git",
  "tmux",
)(
  "in a session, /compare shows what Claude and Codex do as they do it, and keeps the result whose diff was read",
  async () => {
    const place = await Place.make();
    await place.serve([], true);
    const terminal = await place.terminal();
    await terminal.until((screen) => screen.includes("F1 for help"), "the server");
    const typed = "/compare write `a name` to name.txt --agents claude,codex --check test -f name.txt";
    await terminal.type(typed);
    await terminal.until((screen) => screen.includes(`› ${typed}`), "what was typed");
    await terminal.press("Enter");
    const done = (agent: string) => new RegExp(`${agent} +needs approval +.*1 file, \\+1 -0 +1 check passed`);
    await terminal.until(
      (screen) => ["claude", "codex"].every((agent) => done(agent).test(screen)),
      "both results",
    );
    await terminal.type("s");
    await terminal.until((screen) => /\+a name +│ \+a name/.test(screen), "both diffs");
    await terminal.type("q");
    await terminal.press("Down");
    await terminal.type("a");
    await terminal.until((screen) => screen.includes("a keep this result"), "the diff");
    await answer(terminal, "a", "Kept the result of codex.");
    await terminal.until((screen) => /claude +cancelled[\s\S]*codex +done/.test(screen), "the end of both");
    expect(await terminal.everything()).toMatch(/branch flint\//);
    const [branch = ""] = (await place.git("branch", "--format=%(refname:short)", "--list", "flint/*")).split(
      "\n",
    );
    expect(await place.git("show", `${branch}:name.txt`)).toBe("a name");
    await terminal.type("q");
    await quit(terminal);
  },
  TEST_MS,
);

needs("bwrap", "git", "tmux")(
  "exec --detach returns at once, and compare keeps one of several results",
  async () => {
    const place = await Place.make();
    await place.serve();
    const detached = await place.flint("exec", "--detach", "write `one` to one.txt");
    expect(detached.stdout).toContain("flint tasks logs 1 -f");
    expect((await place.flint("tasks", "logs", "1", "-f")).stdout).toContain("needs approval");
    const agents = ["--agents", "flint,flint/offline", "--check", "test -f two.txt"];
    const terminal = await place.terminal("compare", "write `two` to two.txt", ...agents);
    await terminal.until((screen) => screen.includes("Keep which (flint, flint/offline)?"), "the question");
    expect(await terminal.everything()).toMatch(/flint\/offline +needs approval +1 file, \+1 -0/);
    await terminal.type("flint/offline");
    await terminal.press("Enter");
    expect(await terminal.exitCode()).toBe(0);
    expect(await terminal.everything()).toContain("Kept the result of flint/offline: branch flint/");
    expect((await place.flint("tasks", "list", "--all")).stdout).toMatch(/#2 +cancelled/);
    const [branch = ""] = (await place.git("branch", "--format=%(refname:short)", "--list", "flint/*")).split(
      "\n",
    );
    expect(await place.git("show", `${branch}:two.txt`)).toBe("two");
  },
  TEST_MS,
);
