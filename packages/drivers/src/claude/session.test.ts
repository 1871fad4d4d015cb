import { existsSync, readdirSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Decision } from "@flint/protocol";
import { descendantsOf, needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import { type FixtureFolders, realClaude, run, turnOf } from "./testing/claude-fixture.ts";
import { SharedClaude } from "./testing/shared-claude.ts";

const test = needs("claude");

const bash = (command: string) => ({ call: "Bash", input: { command } });
const DONE = [{ text: "Done." }];
const DENY: Decision = { outcome: "deny", scope: "once", message: "Not on a Monday." };

describe("in one session", () => {
  const claude = new SharedClaude();

  test("ignores settings, hooks and MCP servers of the workspace", async () => {
    const fixture = await claude.fixture({ script: [[bash("touch allowed")], DONE] });
    const touch = (name: string) => `touch ${join(fixture.workspace, name)}`;
    const hook = { hooks: [{ type: "command", command: touch("hooked") }] };
    const hooks = { SessionStart: [hook], PreToolUse: [{ matcher: "*", ...hook }] };
    await mkdir(join(fixture.workspace, ".claude"));
    const settings = JSON.stringify({
      hooks,
      permissions: { allow: ["Bash"] },
      enableAllProjectMcpServers: true,
    });
    await writeFile(join(fixture.workspace, ".claude", "settings.json"), settings);
    const server = { command: "sh", args: ["-c", touch("served")] };
    await writeFile(join(fixture.workspace, ".mcp.json"), JSON.stringify({ mcpServers: { bad: server } }));
    const { turn } = await run(fixture, "go", { decide: () => DENY });
    expect(turn.actions).toHaveLength(1);
    const made = ["hooked", "served", "allowed"].map((name) => existsSync(join(fixture.workspace, name)));
    expect(made).toEqual([false, false, false]);
  });

  test("[S0-95] confines everything that Claude does to the sandbox policy", async () => {
    const outside = "/var/tmp/flint-claude-outside.txt";
    const write = (file_path: string) => ({ call: "Write", input: { file_path, content: "x" } });
    const paths = (folders: FixtureFolders) =>
      [join(folders.workspace, "in.txt"), join(folders.config, "settings.json")] as const;
    const fixture = await claude.fixture({
      script: (folders) => {
        const [inside, steering] = paths(folders);
        const tries = [[bash(`touch ${inside}`)], [write(inside)], DONE];
        return [
          ...tries,
          [bash(`touch ${outside}`)],
          [bash(`touch ${steering}`)],
          [write(outside)],
          [write(inside)],
          DONE,
        ];
      },
      settings: { sandboxPolicy: { type: "readOnly" } },
    });
    const [inside, steering] = paths(fixture);
    const { turn, session } = await run(fixture, "write");
    const statuses = (items: typeof turn.completedItems) =>
      items.flatMap((item) => (item.type === "agentMessage" ? [] : [Reflect.get(item, "status")]));
    expect(statuses(turn.completedItems)).toEqual(["failed", "failed"]);
    expect(existsSync(inside)).toBe(false);
    const settings = { ...fixture.settings, sandboxPolicy: { type: "workspaceWrite" } } as const;
    const next = await run(fixture, "write more", { settings }, session);
    expect(statuses(next.turn.completedItems)).toEqual([
      "failed",
      // If the folder is below the temporary one, a private copy of it can be written.
      expect.any(String),
      "failed",
      "completed",
    ]);
    expect([outside, steering, inside].map((path) => existsSync(path))).toEqual([false, false, true]);
  });

  test("[S4-16] requests approval of the exact command, and reports its output and exit code", async () => {
    const script = [[bash("echo out; echo err >&2; exit 3")], DONE, [bash("touch denied")], DONE];
    const fixture = await claude.fixture({ script });
    const { turn, session } = await run(fixture, "do it");
    const command = "echo out; echo err >&2; exit 3";
    const [action] = turn.actions;
    expect(action).toEqual({ kind: "command", itemId: action?.itemId, command, cwd: fixture.workspace });
    expect(turn.completedItems[0]).toEqual({
      ...{ type: "commandExecution", id: action?.itemId, command, cwd: fixture.workspace },
      // The user's shell profile may print something first.
      ...{ status: "failed", exitCode: 3, aggregatedOutput: expect.stringMatching(/(?:^|\n)out\nerr$/) },
    });
    const denied = await run(fixture, "do the other", { decide: () => DENY }, session);
    expect(denied.outcome).toEqual({ status: "completed" });
    expect(denied.turn.completedItems[0]).toMatchObject({ type: "commandExecution", status: "declined" });
    expect(JSON.stringify(fixture.model.requests.at(-1)?.body.messages)).toContain("Not on a Monday.");
    expect(existsSync(join(fixture.workspace, "denied"))).toBe(false);
  });

  test("[S0-95] requests approval to read a file only under the approval policy always", async () => {
    const fixture = await claude.fixture({
      script: ({ workspace }) => {
        const read = [{ call: "Read", input: { file_path: join(workspace, "notes.txt") } }];
        return [read, DONE, read, DONE];
      },
      settings: { approvalPolicy: "always" },
    });
    await writeFile(join(fixture.workspace, "notes.txt"), "one\n");
    const { turn, session } = await run(fixture, "look");
    expect(turn.actions.map((action) => action.kind === "tool" && action.tool)).toEqual(["Read"]);
    const settings = { ...fixture.settings, approvalPolicy: "unlessTrusted" } as const;
    const trusted = await run(fixture, "look again", { settings }, session);
    expect(trusted.turn.actions).toEqual([]);
    expect(trusted.turn.completedItems[0]).toMatchObject({
      type: "toolCall",
      tool: "Read",
      status: "completed",
    });
  });

  test("runs everything under the approval policy never, without a mode that Claude refuses to root", async () => {
    const fixture = await claude.fixture({
      script: [[bash("touch made && echo done")], DONE],
      settings: { approvalPolicy: "never" },
    });
    const { outcome } = await run(fixture, "go");
    expect(outcome).toEqual({ status: "completed" });
    expect(existsSync(join(fixture.workspace, "made"))).toBe(true);
  });

  test("shows the exact diff of a new file before it is written", async () => {
    const write = (file_path: string) => ({ call: "Write", input: { file_path, content: "one\ntwo\n" } });
    const fixture = await claude.fixture({
      script: ({ workspace }) => [[write(join(workspace, "new.txt"))], DONE],
    });
    const { turn } = await run(fixture, "write it");
    const diff = "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n";
    const changes = [{ path: "new.txt", kind: "add", diff }];
    expect(turn.actions).toMatchObject([{ kind: "fileChange", changes }]);
    expect(turn.completedItems[0]).toMatchObject({ type: "fileChange", changes, status: "completed" });
    expect(await readFile(join(fixture.workspace, "new.txt"), "utf8")).toBe("one\ntwo\n");
  });

  test("[S3-47] [S3-48] steers the running turn, and writes nothing but frames", async () => {
    const fixture = await claude.fixture({
      script: [[bash("sleep 1; echo done")], [{ text: "Both done." }]],
    });
    const session = await fixture.open();
    const turn = turnOf(fixture, "work");
    const ended = session.run(turn).finally(() => turn.end());
    await turn.firstAction();
    expect(await session.steer?.([{ type: "text", text: "and water the plants" }])).toBe(true);
    expect(await ended).toEqual({ status: "completed" });
    expect(JSON.stringify(fixture.model.requests.at(-1)?.body.messages)).toContain("and water the plants");
    expect(await session.steer?.([{ type: "text", text: "too late" }])).toBe(false);
    const written = fixture.lines
      .filter((line) => line.startsWith("->"))
      .map((line) => JSON.parse(line.slice(3)));
    expect(new Set(written.map(({ type }) => type))).toEqual(
      new Set(["user", "control_request", "control_response"]),
    );
    const message = expect.objectContaining({ role: "user", content: [{ type: "text", text: "work" }] });
    expect(written.filter(({ type }) => type === "user")).toContainEqual(
      expect.objectContaining({ message }),
    );
  });

  test("interrupts a turn while it streams and while a command runs, and keeps the process", async () => {
    const slow = Array.from({ length: 100 }, (_, index) => [{ text: `word${index} ` }, { delay: 50 }]).flat();
    const fixture = await claude.fixture({ script: [slow, [bash("touch begun; tail -f /dev/null")], DONE] });
    const session = await fixture.open();
    const streaming = turnOf(fixture, "talk");
    const first = session.run(streaming).finally(() => streaming.end());
    await streaming.waitFor((event) => event.type === "item/agentMessage/delta");
    const before = claudes();
    streaming.stop();
    expect(await first).toEqual({ status: "interrupted" });
    const working = turnOf(fixture, "work");
    const second = session.run(working).finally(() => working.end());
    await working.firstAction();
    await expect.poll(() => existsSync(join(fixture.workspace, "begun")), { timeout: 15_000 }).toBe(true);
    working.stop();
    expect(await second).toEqual({ status: "interrupted" });
    const { outcome } = await run(fixture, "go on", {}, session);
    expect(outcome).toEqual({ status: "completed" });
    expect(claudes()).toEqual(before);
    expect(before).toHaveLength(1);
    expect([...streaming.late, ...working.late]).toEqual([]);
  });

  test("requests an answer that matches the schema again, and fails the turn if none does", async () => {
    const give = (answer: unknown) => [{ call: "StructuredOutput", input: { answer } }];
    const outputSchema = {
      ...{ type: "object", properties: { answer: { type: "integer" } }, required: ["answer"] },
      additionalProperties: false,
    };
    const texts = Array.from({ length: 6 }, () => [{ text: "I prefer plain text." }]);
    const fixture = await claude.fixture({ script: [give("many"), give(42), ...texts] });
    const session = await fixture.open();
    const ask = async () => {
      const turn = turnOf(fixture, "how many", { outputSchema });
      return { turn, outcome: await session.run(turn).finally(() => turn.end()) };
    };
    const first = await ask();
    expect(first.outcome).toEqual({ status: "completed" });
    expect(first.turn.completedItems).toMatchObject([{ type: "agentMessage", text: '{"answer":42}' }]);
    const message = expect.stringContaining("no answer that matches the outputSchema");
    expect((await ask()).outcome).toMatchObject({ status: "failed", error: { message } });
  });

  test("answers with JSON that matches the output schema, only in the turn that has one", async () => {
    const fixture = await claude.fixture({ settings: { approvalPolicy: "always" } });
    const outputSchema = {
      type: "object",
      properties: { answer: { type: "string" }, count: { type: "integer" } },
      required: ["answer", "count"],
    };
    const session = await fixture.open();
    const turn = turnOf(fixture, "hello", { outputSchema });
    expect(await session.run(turn).finally(() => turn.end())).toEqual({ status: "completed" });
    expect(turn.actions).toEqual([]);
    expect(turn.completedItems.map(({ type }) => type)).toEqual(["agentMessage"]);
    const answer = JSON.parse(String(Reflect.get(turn.completedItems[0] ?? {}, "text")));
    expect(answer).toEqual({ answer: expect.any(String), count: expect.any(Number) });
    const next = await run(fixture, "what did I ask you?", {}, session);
    expect(next.outcome).toEqual({ status: "completed" });
    expect(JSON.stringify(next.turn.completedItems)).toMatch(/\d\. hello/);
  });

  test("gives a sandboxed Claude private shell snapshots that work", async () => {
    const plant = [
      "echo snapshots: $(ls $CLAUDE_CONFIG_DIR/shell-snapshots | wc -l)",
      "for file in $CLAUDE_CONFIG_DIR/shell-snapshots/*.sh; do echo 'export PLANTED=yes' >> $file; done",
      "mkdir -p $CLAUDE_CONFIG_DIR/plugins/evil $CLAUDE_CONFIG_DIR/session-env/evil",
      "echo '{}' > $CLAUDE_CONFIG_DIR/settings.json",
    ];
    const script = [[bash(plant.join("\n"))], DONE, [bash("echo planted: $PLANTED")], DONE];
    const fixture = await claude.fixture({ script, settings: { approvalPolicy: "never" } });
    const { turn, session } = await run(fixture, "plant it");
    expect(turn.completedItems[0]).toMatchObject({
      aggregatedOutput: expect.stringMatching(/snapshots: [1-9]/),
    });
    // The process itself sources what it has made, so that what was planted is seen.
    const { turn: next } = await run(fixture, "look", {}, session);
    expect(next.completedItems[0]).toMatchObject({
      aggregatedOutput: expect.stringContaining("planted: yes"),
    });
    await session.close();
    expect(readdirSync(fixture.config)).toContain("projects");
    for (const name of ["shell-snapshots", "session-env", "plugins", "settings.json"]) {
      expect([name, existsSync(join(fixture.config, name))]).toEqual([name, false]);
    }
  });
});

test("[S0-94] [S0-98] [S3-50] [S3-58] [S3-59] [S4-8] [S4-15] runs the thread's model, streams thinking and text, and reports usage and cost", async () => {
  const usage = { usage: { inputTokens: 900, outputTokens: 40 } };
  const script = [
    [{ reasoning: "Well." }, { text: "Hello from here." }, usage],
    ...Array.from({ length: 4 }, () => [{ text: "Again." }, usage]),
  ];
  const fixture = await realClaude({ script, settings: { model: "claude/haiku" } });
  const { turn, outcome, session } = await run(fixture, "hello");
  expect(outcome).toEqual({ status: "completed" });
  expect(String(fixture.model.latestModel)).toMatch(/haiku/);
  expect(turn.completedItems.map(({ id: _, ...item }) => item)).toEqual([
    { type: "reasoning", content: "Well." },
    { type: "agentMessage", text: "Hello from here.", _meta: { sdkSessionId: expect.any(String) } },
  ]);
  const types = turn.events.map((event) => event.type);
  expect(types.filter((type) => type === "item/agentMessage/delta").length).toBeGreaterThan(1);
  const usages = turn.events.filter((event) => event.type === "usage");
  const last = { inputTokens: 900, outputTokens: 40, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const cost = { amount: expect.any(Number), currency: "USD" };
  expect(usages).toEqual([{ type: "usage", last, modelContextWindow: 200_000, cost }]);
  // The same again costs the same again, not the sum.
  const next = await run(fixture, "and again", {}, session);
  expect(next.turn.events.filter((event) => event.type === "usage")).toEqual(usages);
  expect(turn.events.filter((event) => event.type === "session")).toHaveLength(1);
  expect(next.turn.events.filter((event) => event.type === "session")).toEqual([]);
  // And so does a turn of a new process that takes the session up again.
  await session.close();
  const nativeId = turn.events.flatMap((event) => (event.type === "session" ? [event.nativeId] : []))[0];
  const resumed = await run(fixture, "once more", {}, await fixture.open({ nativeId }));
  expect(resumed.turn.events.filter((event) => event.type === "usage")).toEqual(usages);
});

test("[S3-27] stops after the configured number of steps, and continues in the next turn", async () => {
  const script = [[bash("echo one")], [bash("echo two")], DONE];
  const fixture = await realClaude({ script, agent: { stepLimit: 1 } });
  const { outcome, session } = await run(fixture, "do it");
  expect(outcome).toMatchObject({ status: "failed", error: { errorInfo: "TurnLimitReached" } });
  expect((await run(fixture, "continue", {}, session)).outcome).toMatchObject({ status: "failed" });
  expect((await run(fixture, "continue", {}, session)).outcome).toEqual({ status: "completed" });
});

test("[S4-28] [S4-30] fails the turn with the login command if Claude is not logged in", async () => {
  const fixture = await realClaude({ agent: { offlineModel: undefined } });
  const { outcome, turn } = await run(fixture, "hello");
  expect(outcome).toMatchObject({
    status: "failed",
    error: { errorInfo: "Unauthorized", message: expect.stringContaining("flint acp --login claude") },
  });
  expect(turn.completedItems).toEqual([]);
  expect(await fixture.driver.account()).toEqual({ account: null, requiresLogin: true });
});

test("starts the next session with a summary if Claude lost the conversation", async () => {
  const fixture = await realClaude({ script: [DONE] });
  const lost = await fixture.open({ nativeId: "00000000-0000-4000-8000-000000000000" });
  const turn = turnOf(fixture, "hello");
  await expect(lost.run(turn)).rejects.toThrow(/no longer has its session/);
  expect(turn.events).toEqual([{ type: "session", nativeId: "" }]);
  const session = await fixture.open({ handoffSummary: async () => "Before this, a lamp was repaired." });
  expect((await run(fixture, "hello", {}, session)).outcome).toEqual({ status: "completed" });
  expect(JSON.stringify(fixture.model.requests.at(-1)?.body.messages)).toContain("a lamp was repaired");
});

test("[S4-6] [S4-13] ends a process that runs one turn, and continues the conversation in the next", async () => {
  const fixture = await realClaude({ agent: { processSpan: "turn" } });
  const { session } = await run(fixture, "hello");
  expect(claudes()).toEqual([]);
  const { turn, outcome } = await run(fixture, "what did I ask you?", {}, session);
  expect(outcome).toEqual({ status: "completed" });
  expect(JSON.stringify(turn.completedItems)).toContain("1. hello");
  expect(turn.events.filter((event) => event.type === "session")).toEqual([]);
  expect(claudes()).toEqual([]);
});

test("copies the session for a fork and adds what the copy lacks, or a summary if it cannot", async () => {
  const fixture = await realClaude();
  const { turn } = await run(fixture, "hello");
  const nativeId = turn.events.find((event) => event.type === "session")?.nativeId ?? "";
  const handoffSummary = async () => "everything at once";
  const forkOf = { nativeId, handoffSummary: async () => "the lamp was repaired" };
  const fork = await run(fixture, "what did I ask you?", {}, await fixture.open({ forkOf, handoffSummary }));
  const asked = () => JSON.stringify(fixture.model.requests.at(-1)?.body.messages);
  const contained = () =>
    ["hello", "lamp was repaired", "everything at once"].map((text) => asked().includes(text));
  expect(contained()).toEqual([true, true, false]);
  expect(fork.turn.events.filter((event) => event.type === "extension")).toEqual([]);
  const nowhere = "00000000-0000-4000-8000-000000000000";
  const message = expect.stringContaining("summary of the thread");
  const failure = { type: "extension", method: "anthropic/forkFailed", params: { message } };
  const lost = await fixture.open({ forkOf: { ...forkOf, nativeId: nowhere }, handoffSummary });
  const summarized = await run(fixture, "hi", {}, lost);
  expect(summarized.outcome).toEqual({ status: "completed" });
  expect(contained()).toEqual([false, false, true]);
  expect(summarized.turn.events).toContainEqual(failure);
});

/** The processes of Claude that run now. */
function claudes(): number[] {
  return descendantsOf(process.pid).flatMap(({ pid, command }) =>
    /^\S+\/claude /.test(command) ? [pid] : [],
  );
}
