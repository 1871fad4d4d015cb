import { existsSync, readdirSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Decision } from "@flint/protocol";
import { descendantsOf, needs } from "@flint/testkit";
import { expect } from "vitest";
import { type Place, realClaude, run, turnOf } from "./testing/claude-fixture.ts";

const test = needs("claude");

const bash = (command: string) => ({ call: "Bash", input: { command } });
const DONE = [{ text: "Done." }];
const DENY: Decision = { outcome: "deny", scope: "once", message: "Not on a Monday." };

test("[S0-94] [S3-50] [S3-58] [S3-59] [S4-8] [S4-15] the thread's model answers, thinking and text stream, and what it used and cost is told", async () => {
  const usage = { usage: { inputTokens: 900, outputTokens: 40 } };
  const script = [
    [{ reasoning: "Well." }, { text: "Hello from here." }, usage],
    ...Array.from({ length: 4 }, () => [{ text: "Again." }, usage]),
  ];
  const bench = await realClaude({ script, settings: { model: "claude/haiku" } });
  const { turn, outcome, session } = await run(bench, "hello");
  expect(outcome).toEqual({ status: "completed" });
  expect(String(bench.model.latestModel)).toMatch(/haiku/);
  expect(turn.completedItems.map(({ id: _, ...item }) => item)).toEqual([
    { type: "reasoning", content: "Well." },
    { type: "agentMessage", text: "Hello from here." },
  ]);
  const types = turn.events.map((event) => event.type);
  expect(types.filter((type) => type === "item/agentMessage/delta").length).toBeGreaterThan(1);
  const usages = turn.events.filter((event) => event.type === "usage");
  const last = { inputTokens: 900, outputTokens: 40, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const cost = { amount: expect.any(Number), currency: "USD" };
  expect(usages).toEqual([{ type: "usage", last, modelContextWindow: 200_000, cost }]);
  // The same again costs the same again, not the sum.
  const next = await run(bench, "and again", {}, session);
  expect(next.turn.events.filter((event) => event.type === "usage")).toEqual(usages);
  expect(turn.events.filter((event) => event.type === "session")).toHaveLength(1);
  expect(next.turn.events.filter((event) => event.type === "session")).toEqual([]);
  // And so does a turn of a new process that takes the session up again.
  await session.close();
  const nativeId = turn.events.flatMap((event) => (event.type === "session" ? [event.nativeId] : []))[0];
  const resumed = await run(bench, "once more", {}, await bench.open({ nativeId }));
  expect(resumed.turn.events.filter((event) => event.type === "usage")).toEqual(usages);
});

test("[S4-16] a command is shown and asked about exactly as it is, and its output and exit code are told", async () => {
  const script = [[bash("echo out; echo err >&2; exit 3")], DONE, [bash("touch denied")], DONE];
  const bench = await realClaude({ script });
  const { turn, session } = await run(bench, "do it");
  const command = "echo out; echo err >&2; exit 3";
  const [action] = turn.actions;
  expect(action).toEqual({ kind: "command", itemId: action?.itemId, command, cwd: bench.workspace });
  expect(turn.completedItems[0]).toEqual({
    ...{ type: "commandExecution", id: action?.itemId, command, cwd: bench.workspace },
    ...{ status: "failed", exitCode: 3, aggregatedOutput: "out\nerr" },
  });
  const denied = await run(bench, "do the other", { decide: () => DENY }, session);
  expect(denied.outcome).toEqual({ status: "completed" });
  expect(denied.turn.completedItems[0]).toMatchObject({ type: "commandExecution", status: "declined" });
  expect(JSON.stringify(bench.model.requests.at(-1)?.body.messages)).toContain("Not on a Monday.");
  expect(existsSync(join(bench.workspace, "denied"))).toBe(false);
});

test("the snapshots that every shell of Claude sources are private to a confined one, and work", async () => {
  const plant = [
    "echo snapshots: $(ls $CLAUDE_CONFIG_DIR/shell-snapshots | wc -l)",
    "for file in $CLAUDE_CONFIG_DIR/shell-snapshots/*.sh; do echo 'export PLANTED=yes' >> $file; done",
    "mkdir -p $CLAUDE_CONFIG_DIR/plugins/evil $CLAUDE_CONFIG_DIR/session-env/evil",
    "echo '{}' > $CLAUDE_CONFIG_DIR/settings.json",
  ];
  const script = [[bash(plant.join("\n"))], DONE, [bash("echo planted: $PLANTED")], DONE];
  const bench = await realClaude({ script, settings: { approvalPolicy: "never" } });
  const { turn, session } = await run(bench, "plant it");
  expect(turn.completedItems[0]).toMatchObject({
    aggregatedOutput: expect.stringMatching(/snapshots: [1-9]/),
  });
  // The process itself sources what it has made, so that what was planted is seen.
  const { turn: next } = await run(bench, "look", {}, session);
  expect(next.completedItems[0]).toMatchObject({ aggregatedOutput: expect.stringContaining("planted: yes") });
  await session.close();
  expect(readdirSync(bench.config)).toContain("projects");
  const left = ["shell-snapshots", "session-env"].flatMap((name) => readdirSync(join(bench.config, name)));
  expect(left).toEqual([]);
  for (const name of ["plugins", "settings.json"]) {
    expect([name, existsSync(join(bench.config, name))]).toEqual([name, false]);
  }
});

test("under always even a look at a file is asked about, otherwise it is not", async () => {
  const bench = await realClaude({
    script: ({ workspace }) => {
      const read = [{ call: "Read", input: { file_path: join(workspace, "notes.txt") } }];
      return [read, DONE, read, DONE];
    },
    settings: { approvalPolicy: "always" },
  });
  await writeFile(join(bench.workspace, "notes.txt"), "one\n");
  const { turn, session } = await run(bench, "look");
  expect(turn.actions.map((action) => action.kind === "tool" && action.tool)).toEqual(["Read"]);
  const settings = { ...bench.settings, approvalPolicy: "unlessTrusted" } as const;
  const trusted = await run(bench, "look again", { settings }, session);
  expect(trusted.turn.actions).toEqual([]);
  expect(trusted.turn.completedItems[0]).toMatchObject({
    type: "toolCall",
    tool: "Read",
    status: "completed",
  });
});

test("under never everything is done without a mode that Claude refuses to root", async () => {
  const bench = await realClaude({
    script: [[bash("touch made && echo done")], DONE],
    settings: { approvalPolicy: "never" },
  });
  const { outcome } = await run(bench, "go");
  expect(outcome).toEqual({ status: "completed" });
  expect(existsSync(join(bench.workspace, "made"))).toBe(true);
});

test("a new file is shown as the exact difference before it is written", async () => {
  const write = (file_path: string) => ({ call: "Write", input: { file_path, content: "one\ntwo\n" } });
  const bench = await realClaude({
    script: ({ workspace }) => [[write(join(workspace, "new.txt"))], DONE],
  });
  const { turn } = await run(bench, "write it");
  const diff = "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n";
  const changes = [{ path: "new.txt", kind: "add", diff }];
  expect(turn.actions).toMatchObject([{ kind: "fileChange", changes }]);
  expect(turn.completedItems[0]).toMatchObject({ type: "fileChange", changes, status: "completed" });
  expect(await readFile(join(bench.workspace, "new.txt"), "utf8")).toBe("one\ntwo\n");
});

test("read-only holds for everything that Claude does, and so do the borders of the workspace", async () => {
  const outside = "/var/tmp/flint-claude-outside.txt";
  const write = (file_path: string) => ({ call: "Write", input: { file_path, content: "x" } });
  const places = (place: Place) =>
    [join(place.workspace, "in.txt"), join(place.config, "settings.json")] as const;
  const bench = await realClaude({
    script: (place) => {
      const [inside, steering] = places(place);
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
  const [inside, steering] = places(bench);
  const { turn, session } = await run(bench, "write");
  const statuses = (items: typeof turn.completedItems) =>
    items.flatMap((item) => (item.type === "agentMessage" ? [] : [Reflect.get(item, "status")]));
  expect(statuses(turn.completedItems)).toEqual(["failed", "failed"]);
  expect(existsSync(inside)).toBe(false);
  const settings = { ...bench.settings, sandboxPolicy: { type: "workspaceWrite" } } as const;
  const next = await run(bench, "write more", { settings }, session);
  expect(statuses(next.turn.completedItems)).toEqual([
    "failed",
    // Where the folder lies among temporary files, something private can be written in its place.
    expect.any(String),
    "failed",
    "completed",
  ]);
  expect([outside, steering, inside].map((path) => existsSync(path))).toEqual([false, false, true]);
});

test("settings, hooks and servers that the workspace brings have no effect", async () => {
  const bench = await realClaude({ script: [[bash("touch allowed")], DONE] });
  const touch = (name: string) => `touch ${join(bench.workspace, name)}`;
  const hook = { hooks: [{ type: "command", command: touch("hooked") }] };
  const hooks = { SessionStart: [hook], PreToolUse: [{ matcher: "*", ...hook }] };
  await mkdir(join(bench.workspace, ".claude"));
  const settings = JSON.stringify({
    hooks,
    permissions: { allow: ["Bash"] },
    enableAllProjectMcpServers: true,
  });
  await writeFile(join(bench.workspace, ".claude", "settings.json"), settings);
  const server = { command: "sh", args: ["-c", touch("served")] };
  await writeFile(join(bench.workspace, ".mcp.json"), JSON.stringify({ mcpServers: { bad: server } }));
  const { turn } = await run(bench, "go", { decide: () => DENY });
  expect(turn.actions).toHaveLength(1);
  const made = ["hooked", "served", "allowed"].map((name) => existsSync(join(bench.workspace, name)));
  expect(made).toEqual([false, false, false]);
});

test("[S3-47] [S3-48] what is said while it works reaches the model in the same turn, and nothing but frames is written", async () => {
  const bench = await realClaude({ script: [[bash("sleep 1; echo done")], [{ text: "Both done." }]] });
  const session = await bench.open();
  const turn = turnOf(bench, "work");
  const ended = session.run(turn).finally(() => turn.end());
  await turn.firstAction();
  expect(await session.steer?.([{ type: "text", text: "and water the plants" }])).toBe(true);
  expect(await ended).toEqual({ status: "completed" });
  expect(JSON.stringify(bench.model.requests.at(-1)?.body.messages)).toContain("and water the plants");
  expect(await session.steer?.([{ type: "text", text: "too late" }])).toBe(false);
  const written = bench.lines
    .filter((line) => line.startsWith("->"))
    .map((line) => JSON.parse(line.slice(3)));
  expect(new Set(written.map(({ type }) => type))).toEqual(
    new Set(["user", "control_request", "control_response"]),
  );
  const content = [{ type: "text", text: "work" }];
  expect(written.find(({ type }) => type === "user")).toMatchObject({ message: { role: "user", content } });
});

test("an interrupt ends the turn and not the process, while it streams and while a command runs", async () => {
  const slow = Array.from({ length: 100 }, (_, index) => [{ text: `word${index} ` }, { delay: 50 }]).flat();
  const bench = await realClaude({ script: [slow, [bash("touch begun; tail -f /dev/null")], DONE] });
  const session = await bench.open();
  const streaming = turnOf(bench, "talk");
  const first = session.run(streaming).finally(() => streaming.end());
  await streaming.waitFor((event) => event.type === "item/agentMessage/delta");
  const [claude] = claudes();
  streaming.stop();
  expect(await first).toEqual({ status: "interrupted" });
  const working = turnOf(bench, "work");
  const second = session.run(working).finally(() => working.end());
  await working.firstAction();
  await expect.poll(() => existsSync(join(bench.workspace, "begun")), { timeout: 15_000 }).toBe(true);
  working.stop();
  expect(await second).toEqual({ status: "interrupted" });
  const { outcome } = await run(bench, "go on", {}, session);
  expect(outcome).toEqual({ status: "completed" });
  expect(claudes()).toEqual([claude]);
  expect([...streaming.late, ...working.late]).toEqual([]);
});

test("[S4-28] Claude without a login of its own fails the turn with the way to sign in", async () => {
  const bench = await realClaude({ agent: { offlineModel: undefined } });
  const { outcome, turn } = await run(bench, "hello");
  expect(outcome).toMatchObject({
    status: "failed",
    error: { errorInfo: "Unauthorized", message: expect.stringContaining("claude auth login") },
  });
  expect(turn.completedItems).toEqual([]);
  expect(await bench.driver.account()).toEqual({ account: null, requiresLogin: true });
});

test("a conversation that Claude lost is told anew from the next session on", async () => {
  const bench = await realClaude({ script: [DONE] });
  const lost = await bench.open({ nativeId: "00000000-0000-4000-8000-000000000000" });
  const turn = turnOf(bench, "hello");
  await expect(lost.run(turn)).rejects.toThrow(/no longer has its session/);
  expect(turn.events).toEqual([{ type: "session", nativeId: "" }]);
  const session = await bench.open({ handoffSummary: async () => "Before this, a lamp was mended." });
  expect((await run(bench, "hello", {}, session)).outcome).toEqual({ status: "completed" });
  expect(JSON.stringify(bench.model.requests.at(-1)?.body.messages)).toContain("a lamp was mended");
});

test("an answer that has to fit a schema does, without a question, and only in the turn that wants it", async () => {
  const bench = await realClaude({ settings: { approvalPolicy: "always" } });
  const outputSchema = {
    type: "object",
    properties: { answer: { type: "string" }, count: { type: "integer" } },
    required: ["answer", "count"],
  };
  const session = await bench.open();
  const turn = turnOf(bench, "hello", { outputSchema });
  expect(await session.run(turn).finally(() => turn.end())).toEqual({ status: "completed" });
  expect(turn.actions).toEqual([]);
  expect(turn.completedItems.map(({ type }) => type)).toEqual(["agentMessage"]);
  const said = JSON.parse(String(Reflect.get(turn.completedItems[0] ?? {}, "text")));
  expect(said).toEqual({ answer: expect.any(String), count: expect.any(Number) });
  const next = await run(bench, "what did I ask you?", {}, session);
  expect(next.outcome).toEqual({ status: "completed" });
  expect(JSON.stringify(next.turn.completedItems)).toContain("1. hello");
});

test("an answer that does not fit is asked for again, and one that never does fails the turn", async () => {
  const give = (answer: unknown) => [{ call: "StructuredOutput", input: { answer } }];
  const outputSchema = {
    ...{ type: "object", properties: { answer: { type: "integer" } }, required: ["answer"] },
    additionalProperties: false,
  };
  const words = Array.from({ length: 6 }, () => [{ text: "I would rather say it in words." }]);
  const bench = await realClaude({ script: [give("many"), give(42), ...words] });
  const session = await bench.open();
  const ask = async () => {
    const turn = turnOf(bench, "how many", { outputSchema });
    return { turn, outcome: await session.run(turn).finally(() => turn.end()) };
  };
  const first = await ask();
  expect(first.outcome).toEqual({ status: "completed" });
  expect(first.turn.completedItems).toMatchObject([{ type: "agentMessage", text: '{"answer":42}' }]);
  const message = expect.stringContaining("no answer that matches the outputSchema");
  expect((await ask()).outcome).toMatchObject({ status: "failed", error: { message } });
});

test("a process for each turn ends with it, and the next one goes on with the conversation", async () => {
  const bench = await realClaude({ agent: { processSpan: "turn" } });
  const { session } = await run(bench, "hello");
  expect(claudes()).toEqual([]);
  const { turn, outcome } = await run(bench, "what did I ask you?", {}, session);
  expect(outcome).toEqual({ status: "completed" });
  expect(JSON.stringify(turn.completedItems)).toContain("1. hello");
  expect(turn.events.filter((event) => event.type === "session")).toEqual([]);
  expect(claudes()).toEqual([]);
});

test("a session is copied for a fork and told only what the copy lacks; one that is gone is told about in words", async () => {
  const bench = await realClaude();
  const { turn } = await run(bench, "hello");
  const nativeId = turn.events.find((event) => event.type === "session")?.nativeId ?? "";
  const handoffSummary = async () => "everything at once";
  const forkOf = { nativeId, handoffSummary: async () => "the lamp was mended" };
  const fork = await run(bench, "what did I ask you?", {}, await bench.open({ forkOf, handoffSummary }));
  const asked = () => JSON.stringify(bench.model.requests.at(-1)?.body.messages);
  const contained = () =>
    ["hello", "lamp was mended", "everything at once"].map((text) => asked().includes(text));
  expect(contained()).toEqual([true, true, false]);
  expect(fork.turn.events.filter((event) => event.type === "extension")).toEqual([]);
  const nowhere = "00000000-0000-4000-8000-000000000000";
  const message = expect.stringContaining("summary of the thread");
  const failure = { type: "extension", method: "claude/forkFailed", params: { message } };
  for (const lost of [
    { ...forkOf, nativeId: nowhere },
    { ...forkOf, position: nowhere },
  ]) {
    const told = await run(bench, "hi", {}, await bench.open({ forkOf: lost, handoffSummary }));
    expect(told.outcome).toEqual({ status: "completed" });
    expect(contained()).toEqual([false, false, true]);
    expect(told.turn.events).toContainEqual(failure);
  }
});

/** The processes of Claude that run now. */
function claudes(): number[] {
  return descendantsOf(process.pid).flatMap(({ pid, command }) =>
    /^\S+\/claude /.test(command) ? [pid] : [],
  );
}
