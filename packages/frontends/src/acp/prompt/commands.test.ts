import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BareDriver, scriptedDriver, temporaryFolder } from "@flint/testkit";
import { afterEach, describe, expect, test, vi } from "vitest";
import { setUpAcp } from "../testing/setup.ts";
import { commandIn } from "./commands.ts";

const text = (value: string) => [{ type: "text" as const, text: value }];

async function twoAgents() {
  const claude = scriptedDriver({ id: "claude", scripts: (prompt) => [{ text: `claude: ${prompt}\n` }] });
  const codex = scriptedDriver({ id: "codex", scripts: (prompt) => [{ text: `codex: ${prompt}\n` }] });
  const setup = await setUpAcp({}, { drivers: [claude, codex] });
  return { ...setup, claude, codex };
}

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Puts a program of this name on PATH, in the workspace so that the sandbox shows it. */
async function fakeDot(workspace: string, script: string): Promise<void> {
  const folder = join(workspace, "bin");
  await mkdir(folder);
  await writeFile(join(folder, "dot"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  vi.stubEnv("PATH", `${folder}:${process.env.PATH ?? ""}`);
}

describe("ACP commands", () => {
  test("include one for every agent", async () => {
    const { connect, path } = await twoAgents();
    const client = await connect();
    await client.newSession(path);
    const [update] = await client.until(() => {
      const sent = client.of("available_commands_update");
      return sent.length > 0 ? sent : undefined;
    });
    expect(update?.availableCommands.map(({ name }) => name)).toEqual([
      ...["claude", "codex", "duet", "model", "mode", "compact", "review", "goal", "ps", "stop"],
    ]);
  });

  test("include those of the agent at work, once it reports them, also for a session that is loaded [S3-16]", async () => {
    const commands = [
      { name: "init", description: "Write AGENTS.md", hint: "folder" },
      { name: "review", description: "Not this one: Flint has a command of that name" },
    ];
    const { connect, path } = await setUpAcp({
      scripts: () => [{ emit: { type: "commands", commands } }, { text: "Ready." }],
    });
    const offeredTo = async (client: Awaited<ReturnType<typeof connect>>) =>
      client.until(() => {
        const all = client.of("available_commands_update").at(-1)?.availableCommands ?? [];
        return all.some(({ name }) => name === "init") ? all : undefined;
      });
    const client = await connect();
    const session = await client.newSession(path);
    await client.prompt(session, "go");
    await client.prompt(session, "again");
    const offered = await offeredTo(client);
    expect(offered.at(-1)).toEqual({
      ...{ name: "init", description: "Write AGENTS.md", input: { hint: "folder" } },
    });
    expect(offered.filter(({ name }) => name === "review")).toMatchObject([
      { description: "Review the uncommitted changes" },
    ]);
    // Reported in every turn, sent once.
    expect(client.of("available_commands_update")).toHaveLength(2);
    const other = await connect();
    await other.request("session/load", { sessionId: session, cwd: path, mcpServers: [] });
    expect((await offeredTo(other)).at(-1)?.name).toBe("init");
  });

  test("hand the conversation to the agent that a prompt names", async () => {
    const { connect, path, codex } = await twoAgents();
    const client = await connect();
    const session = await client.newSession(path);
    await client.prompt(session, "hello");
    await client.prompt(session, "/codex and you?");
    expect(client.agentText).toContain("claude: hello");
    expect(codex.turns[0]?.input.at(-1)).toEqual({ type: "text", text: "and you?" });
    await client.prompt(session, "/claude");
    await client.prompt(session, "back again");
    expect(client.agentText).toContain("claude: back again");
  });

  test("let a second agent review what the first did, in one prompt [S3-10]", async () => {
    const { connect, path, claude, codex } = await twoAgents();
    const client = await connect();
    const session = await client.newSession(path);
    expect(await client.prompt(session, "/duet codex claude write a poem")).toEqual({
      stopReason: "end_turn",
    });
    expect(codex.turns[0]?.input).toEqual(text("write a poem"));
    expect(claude.turns[0]?.input.at(-1)).toMatchObject({
      text: expect.stringMatching(/write a poem[\s\S]*Correct what is wrong/),
    });
    expect(client.of("user_message_chunk")).toHaveLength(1);
  });

  test("list and set models and modes without a turn", async () => {
    const { connect, path, codex } = await twoAgents();
    const client = await connect();
    const session = await client.newSession(path);
    await client.prompt(session, "/model");
    expect(client.agentText).toContain("- codex/swift");
    await client.prompt(session, "/model codex/swift");
    await client.prompt(session, "/mode auto");
    await client.prompt(session, "go");
    expect(codex.turns[0]?.settings).toMatchObject({ model: "codex/swift", approvalPolicy: "never" });
    await expect(client.prompt(session, "/mode unknown")).rejects.toMatchObject({ code: -32602 });
  });

  test("list and stop what runs in the background, without a turn", async () => {
    const running = new Map([
      ["1", "make"],
      ["2", "npm start"],
    ]);
    let turns = 0;
    const driver = new BareDriver({
      run: async () => {
        turns += 1;
        return { status: "completed" };
      },
      backgroundCommands: async () => [...running].map(([processId, command]) => ({ processId, command })),
      stopBackgroundCommand: async (processId) => running.delete(processId),
    });
    const { connect, path } = await setUpAcp({}, { drivers: [driver] });
    const client = await connect();
    const session = await client.newSession(path);
    await client.prompt(session, "hello");
    await client.prompt(session, "/ps");
    expect(client.agentText).toContain("- 1: `make`\n- 2: `npm start`\n");
    await client.prompt(session, "/stop 7");
    expect(client.agentText).toContain("No background command 7 is running. /ps lists them.");
    await client.prompt(session, "/stop 2");
    expect([...running.keys()]).toEqual(["1"]);
    await client.prompt(session, "/stop");
    expect(client.agentText).toContain("Stopped 1.");
    await client.prompt(session, "/ps");
    expect(client.agentText).toContain("No background commands are running.");
    expect(turns).toBe(1);
  });

  test("work on a goal turn after turn, and say how it ended", async () => {
    const answers = ["A start.", "Done. GOAL REACHED\nGOAL REACHED"];
    const { connect, path, driver } = await setUpAcp({ scripts: () => [{ text: answers.shift() ?? "Hm." }] });
    const client = await connect();
    const session = await client.newSession(path);
    await client.prompt(session, "/goal");
    expect(client.agentText).toContain("No goal. /goal TEXT sets one.");
    expect(await client.prompt(session, "/goal Green tests")).toMatchObject({ stopReason: "end_turn" });
    const shown = async () => {
      await client.prompt(session, "/goal show");
      return client.agentText;
    };
    await expect
      .poll(shown, { timeout: 10_000 })
      .toContain("Goal (complete, 1 of 10 further turns): Green tests. The agent says so.");
    await client.prompt(session, "/goal clear");
    expect(client.agentText).toContain("The goal is cleared.");
    expect(driver.turns).toHaveLength(2);
  });

  test("start reviews and compactions as turns", async () => {
    const { connect, path, claude } = await twoAgents();
    const client = await connect();
    const session = await client.newSession(path);
    await client.prompt(session, "hello");
    expect(await client.prompt(session, "/review the tests")).toEqual({ stopReason: "end_turn" });
    expect(await client.prompt(session, "/compact")).toEqual({ stopReason: "end_turn" });
    expect(claude.turns.map(({ kind }) => kind)).toEqual(["prompt", "review", "compact"]);
  });

  test("a turn that is out of steps continues a few times while its plan has open entries [S3-10, S3-27]", async () => {
    const fail = { message: "too many steps", errorInfo: "TurnLimitReached" };
    const plan = [
      { step: "one", status: "completed" as const },
      { step: "two", status: "pending" as const },
    ];
    const { connect, path, driver } = await setUpAcp({ scripts: () => [{ plan }, { fail }] });
    const client = await connect();
    expect(await client.prompt(await client.newSession(path), "go")).toEqual({
      stopReason: "max_turn_requests",
    });
    expect(driver.turns.map(({ input }) => input)).toEqual([
      text("go"),
      ...Array.from({ length: 5 }, () => text("continue")),
    ]);
    expect(client.of("user_message_chunk")).toHaveLength(5);
  });

  test("a turn that is out of steps ends if its plan is complete [S3-27]", async () => {
    const fail = { message: "too many steps", errorInfo: "TurnLimitReached" };
    const plan = [{ step: "one", status: "completed" as const }];
    const { connect, path, driver } = await setUpAcp({ scripts: () => [{ plan }, { fail }] });
    const client = await connect();
    expect(await client.prompt(await client.newSession(path), "go")).toEqual({
      stopReason: "max_turn_requests",
    });
    expect(driver.turns).toHaveLength(1);
  });

  test.each([
    ['[{"id":"d1","status":"open"},{"id":"d2","status":"closed"}]', 0, 6],
    ['[{"id":"d2","status":"done"}]', 0, 1],
    ["Usage: dot [-Tformat] files", 0, 1],
    ['[{"id":"d1","status":"open"}]', 1, 1],
  ])(
    "a turn that is out of steps continues while Dots lists open tasks: %j (exit code %i) [S3-27]",
    async (listed, exitCode, turns) => {
      const fail = { message: "too many steps", errorInfo: "TurnLimitReached" };
      const { connect, path, driver } = await setUpAcp({ scripts: () => [{ fail }] });
      await fakeDot(path, `[ "$*" = "ls --json" ] && echo '${listed}'; exit ${exitCode}`);
      const client = await connect();
      expect(await client.prompt(await client.newSession(path), "go")).toEqual({
        stopReason: "max_turn_requests",
      });
      expect(driver.turns).toHaveLength(turns);
    },
  );

  test("a program of the name of Dots can change nothing [S3-27]", async () => {
    const fail = { message: "too many steps", errorInfo: "TurnLimitReached" };
    const { connect, driver } = await setUpAcp({ scripts: () => [{ fail }] });
    // Not the folder of the server's own state, in which no command can write.
    const { path } = await temporaryFolder();
    await fakeDot(path, `touch made && exit 1; echo '[{"status":"open"}]'`);
    const client = await connect();
    await client.prompt(await client.newSession(path), "go");
    expect(driver.turns).toHaveLength(6);
    expect(existsSync(join(path, "made"))).toBe(false);
  });

  test("a client that cancels while Dots is asked gets no further turn [S3-27]", async () => {
    const fail = { message: "too many steps", errorInfo: "TurnLimitReached" };
    const { connect, path, driver } = await setUpAcp({ scripts: () => [{ fail }] });
    await fakeDot(path, `sleep 1; echo '[{"status":"open"}]'`);
    const client = await connect({ capabilities: { session: { notices: {} } } });
    const sessionId = await client.newSession(path);
    const prompt = client.prompt(sessionId, "go");
    await client.until(() => client.of("notice")[0]);
    await client.notify("session/cancel", { sessionId });
    expect(await prompt).toEqual({ stopReason: "cancelled" });
    expect(driver.turns).toHaveLength(1);
  });

  test.each([
    ["/claude do it", { name: "agent", agent: "claude", input: text("do it") }],
    ["/claude", { name: "agent", agent: "claude", input: [] }],
    ["/duet claude codex do it", { name: "duet", agents: ["claude", "codex"], input: text("do it") }],
    ["/duet codex do it", { name: "duet", agents: ["codex"], input: text("do it") }],
    ["/duet do it", { name: "duet", agents: [], input: text("do it") }],
    ["/compact", { name: "compact" }],
    ["/ps", { name: "ps" }],
    ["/stop 3", { name: "stop", argument: "3" }],
    ["/init", undefined],
    ["/etc/passwd is a file", undefined],
    ["what is /claude?", undefined],
  ])("%j is parsed as %j", (prompt, command) => {
    expect(commandIn(text(prompt), ["claude", "codex"])).toEqual(command);
  });
});
