import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { done, type Tool, type ToolSource } from "@flint/agent/loop";
import {
  type Message,
  type Model,
  ModelFailure,
  type ModelPart,
  type ModelRequest,
} from "@flint/agent/model";
import { ScriptedModel, textStep, toolStep } from "@flint/agent/testing";
import type { DriverEvent } from "@flint/core/ports";
import { CommandSandbox } from "@flint/host/sandbox";
import { type Answers, FlintError, type ThreadItem, type Turn } from "@flint/protocol";
import { leavesNoProcess, needs, settled, temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { openSession, type SessionFixtureOptions } from "./testing/session-fixture.ts";

const sandbox = new CommandSandbox({ environment: process.env });
const sandboxed = needs("namespaces");

async function open(options: Partial<SessionFixtureOptions> = {}) {
  leavesNoProcess();
  const folder = await temporaryFolder();
  const bench = openSession({ cwd: folder.path, sandbox, ...options });
  onTestFinished(() => bench.session.close());
  return { folder, ...bench };
}

const messagesOf = (request: ModelRequest | undefined): readonly Message[] =>
  request?.messages.slice(1) ?? [];
const results = (request: ModelRequest | undefined) =>
  messagesOf(request).filter((message) => message.role === "tool");
const shell = (command: string, more: Record<string, unknown> = {}) => ({
  tool: "shell",
  input: { command, ...more },
});
const read = (path: string) => ({ tool: "read_file", input: { path } });
const write = (path: string, content: string) => ({ tool: "write_file", input: { path, content } });

sandboxed("runs the model's tool calls, returns their results, and ends with its answer", async () => {
  const { folder, model, run } = await open({
    steps: [toolStep(shell("echo hi > made; echo out")), textStep("Made.")],
  });
  const { turn, outcome } = await run("make it");
  expect(outcome).toEqual({ status: "completed" });
  expect(readFileSync(folder.join("made"), "utf8")).toBe("hi\n");
  expect(messagesOf(model.requests[1])).toEqual([
    { role: "user", text: "make it" },
    { role: "assistant", text: "", calls: [{ callId: "shell-0", ...shell("echo hi > made; echo out") }] },
    { role: "tool", callId: "shell-0", tool: "shell", status: "done", exitCode: 0, text: "out\n" },
  ]);
  expect(turn.text).toBe("Made.");
});

test("has strict schemas and safe names for all tools", async () => {
  const { model, run } = await open({ web: { fetch: true, searchUrl: "http://127.0.0.1/{query}" } });
  await run("hello");
  const tools = model.requests[0]?.tools ?? [];
  expect(tools.map(({ name }) => name)).toEqual([
    ...[
      "shell",
      "shell_output",
      "shell_stop",
      "read_file",
      "list_files",
      "find_files",
      "search_text",
      "write_file",
    ],
    ...["edit_file", "apply_patch", "ask_user", "fetch_url", "search_web", "update_plan"],
  ]);
  for (const { parameters } of tools)
    expect(parameters).toMatchObject({ type: "object", additionalProperties: false });
});

test("runs read-only calls in parallel and keeps the order of results", async () => {
  const started: string[] = [];
  let release = () => {};
  const bothStarted = new Promise<void>((resolve) => {
    release = resolve;
  });
  const tool = (name: string, readOnly: boolean): Tool => ({
    ...{ name, description: "", parameters: { type: "object" }, readOnly },
    async run() {
      started.push(name);
      if (started.length === 2) release();
      if (readOnly) await bothStarted;
      return done(name);
    },
  });
  const source: ToolSource = {
    tools: async () => [tool("first", true), tool("second", true), tool("third", false)],
    close: async () => {},
  };
  const calls = ["first", "second", "third", "first"].map((name) => ({ tool: name, input: {} }));
  const { model, run } = await open({ steps: [toolStep(...calls)], sources: [source] });
  await run("go");
  expect(started).toEqual(["first", "second", "third", "first"]);
  expect(results(model.requests[1]).map(({ text }) => text)).toEqual(["first", "second", "third", "first"]);
});

test("returns an error for unknown tools, invalid arguments and tools that throw", async () => {
  const broken: Tool = {
    ...{ name: "broken", description: "", parameters: { type: "object" }, readOnly: false },
    run: () => Promise.reject(new Error("no luck")),
  };
  const problem: ModelPart = {
    type: "tool-call",
    callId: "p",
    tool: "shell",
    input: {},
    inputError: "not JSON.",
  };
  const step = [problem, ...toolStep({ tool: "nope", input: {} }, { tool: "broken", input: {} })];
  const source: ToolSource = { tools: async () => [broken], close: async () => {} };
  const { model, run } = await open({ steps: [step, textStep("I see.")], sources: [source] });
  const { outcome, turn } = await run("go");
  expect(outcome).toEqual({ status: "completed" });
  expect(results(model.requests[1]).map(({ text }) => text)).toEqual([
    "The call of shell did not run: not JSON.",
    expect.stringMatching(/^There is no tool nope\. Available tools: .*shell/),
    "broken failed: no luck",
  ]);
  expect(turn.actions).toEqual([]);
});

test("shows calls that do not run as failed items, with the reason", async () => {
  const malformed: ModelPart = {
    ...{ type: "tool-call", callId: "p", tool: "shell", input: {} },
    inputError: "not JSON.",
  };
  const step = [
    malformed,
    ...toolStep({ tool: "nope", input: { a: 1 } }, { tool: "read_file", input: { file: 3 } }),
  ];
  const { run } = await open({ steps: [step, textStep("All done.")] });
  const { turn } = await run("go");
  const ended = turn.events.flatMap((event) => (event.type === "item/completed" ? [event.item] : []));
  expect(ended.filter(({ type }) => type === "toolCall")).toMatchObject([
    { tool: "shell", status: "failed", error: "The call of shell did not run: not JSON." },
    {
      tool: "nope",
      status: "failed",
      arguments: { a: 1 },
      error: expect.stringContaining("There is no tool nope."),
    },
    { tool: "read_file", status: "failed", error: expect.stringMatching(/^read_file: /) },
  ]);
});

test("does not let another tool replace a built-in one", async () => {
  const impostor: Tool = {
    ...{ name: "read_file", description: "", parameters: { type: "object" }, readOnly: true },
    run: async () => done("impostor"),
  };
  const source: ToolSource = { tools: async () => [impostor], close: async () => {} };
  const { folder, model, run } = await open({ steps: [toolStep(read("a"))], sources: [source] });
  writeFileSync(folder.join("a"), "mine\n");
  await run("go");
  expect(results(model.requests[1])).toMatchObject([{ text: "1\tmine" }]);
});

test("ends the turn after the same call failed repeatedly", async () => {
  const steps = Array.from({ length: 10 }, () => toolStep(read("missing")));
  const { model, run } = await open({ steps });
  const { outcome } = await run("go");
  expect(model.requests).toHaveLength(5);
  expect(outcome).toMatchObject({
    status: "failed",
    error: {
      message: expect.stringMatching(/read_file with the same input 5 times/),
      errorInfo: "AgentFailed",
    },
  });
});

test("stops a model that never finishes", async () => {
  const steps = Array.from({ length: 250 }, (_, index) =>
    toolStep({ tool: "list_files", input: { depth: 1 + (index % 2) } }),
  );
  const { model, run } = await open({ steps });
  const { outcome } = await run("go");
  const message = expect.stringContaining("stopped after 200 steps");
  expect(outcome).toMatchObject({ error: { message, errorInfo: "TurnLimitReached" } });
  expect(model.requests).toHaveLength(200);
});

test("reports a failure of the model with its cause, and runs the next turn", async () => {
  const error = { message: "Not allowed in.", errorInfo: "Unauthorized", httpStatusCode: 401 };
  const fail = () => {
    throw new ModelFailure(error);
  };
  const { run, model } = await open({ steps: [fail, textStep("Here.")] });
  expect((await run("one")).outcome).toEqual({ status: "failed", error });
  const second = await run("two");
  expect(second.turn.text).toBe("Here.");
  expect(messagesOf(model.requests[1]).map(({ text }) => text)).toEqual([
    "one",
    "(This was interrupted.)",
    "two",
  ]);
});

test("ends the turn with a message if the model cannot be created or throws", async () => {
  const noModel: Model = {
    contextWindow: undefined,
    stream: () => {
      throw new FlintError("invalidParams", "Choose another.");
    },
  };
  const { run } = await open({ model: noModel });
  expect((await run("go")).outcome).toMatchObject({
    status: "failed",
    error: { message: "Choose another." },
  });
});

test("emits a non-fatal error when a request is retried", async () => {
  const error = { message: "Too many.", httpStatusCode: 429 };
  const { run } = await open({ steps: [[{ type: "retry", error }, ...textStep("Now.")]] });
  const { turn, outcome } = await run("go");
  expect(outcome).toEqual({ status: "completed" });
  expect(turn.events[0]).toEqual({ type: "error", error, willRetry: true });
});

test("continues a cut off answer once, then ends the turn", async () => {
  const cut = (text: string): readonly ModelPart[] => [
    { type: "text-delta", text },
    { type: "finish", reason: "length" },
  ];
  const once = await open({ steps: [cut("one "), textStep("two")] });
  const { turn, outcome } = await once.run("go");
  expect([turn.text, outcome]).toEqual(["one \ntwo", { status: "completed" }]);
  expect(messagesOf(once.model.requests[1]).at(-1)).toMatchObject({
    role: "system",
    text: expect.stringContaining("cut off"),
  });
  const twice = await open({ steps: [cut("one "), cut("two ")] });
  expect((await twice.run("go")).outcome).toMatchObject({
    status: "failed",
    error: { message: expect.stringContaining("cut off twice"), errorInfo: "OutputLimitReached" },
  });
});

test("fails as refused if the provider withheld the answer [S3-25]", async () => {
  const { run } = await open({ steps: [[{ type: "finish", reason: "filtered" }]] });
  expect((await run("go")).outcome).toMatchObject({ status: "failed", error: { errorInfo: "Refused" } });
});

test("stops after the configured number of steps, and continues in the next turn [S3-27]", async () => {
  const look = toolStep({ tool: "list_files", input: { depth: 1 } });
  const { model, run } = await open({ steps: [look, look, textStep("There.")], stepLimit: 2 });
  expect((await run("go")).outcome).toMatchObject({
    error: { message: expect.stringContaining("after 2 steps"), errorInfo: "TurnLimitReached" },
  });
  expect((await run("continue")).outcome).toEqual({ status: "completed" });
  expect(model.requests).toHaveLength(3);
});

test("waits for the core before every step, where it can be interrupted", async () => {
  const { folder, model, begin } = await open({ steps: [toolStep(read("a")), textStep("never")] });
  writeFileSync(folder.join("a"), "x");
  let count = 0;
  let release = () => {};
  let held = () => {};
  const isHeld = new Promise<void>((resolve) => {
    held = resolve;
  });
  const ready = () => {
    count += 1;
    if (count < 2) return settled();
    held();
    return new Promise<void>((resolve) => {
      release = resolve;
    });
  };
  const { turn, ended } = begin("go", { ready });
  await isHeld;
  expect(model.requests).toHaveLength(1);
  turn.stop.abort();
  release();
  expect(await ended).toEqual({ status: "interrupted" });
  expect(model.requests).toHaveLength(1);
});

test("does not wait for a model that ignores an interrupt [P12]", async () => {
  let asked = () => {};
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const deaf: Model = {
    contextWindow: undefined,
    async *stream() {
      asked();
      await new Promise(() => {});
      yield { type: "finish", reason: "stop" };
    },
  };
  const { begin } = await open({ model: deaf });
  const { turn, ended } = begin("go");
  await isAsked;
  turn.stop.abort();
  expect(await ended).toEqual({ status: "interrupted" });
});

test("does not wait for tool sources after an interrupt", async () => {
  const source: ToolSource = { tools: () => new Promise(() => {}), close: async () => {} };
  const { begin } = await open({ sources: [source] });
  const { turn, ended } = begin("go");
  await settled();
  turn.stop.abort();
  expect(await ended).toEqual({ status: "interrupted" });
});

test("ends an open question on close", async () => {
  const { begin, session } = await open({ steps: [toolStep(shell("echo never"))] });
  let asked = () => {};
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const decide = () => {
    asked();
    return undefined;
  };
  const { ended } = begin("go", { decide });
  await isAsked;
  await session.close();
  expect(await ended).toEqual({ status: "interrupted" });
});

test("remembers what ran before an interrupt, and marks what did not", async () => {
  const steps = [toolStep(read("a"), shell("echo never")), textStep("Going on.")];
  const { folder, model, begin, run } = await open({ steps });
  writeFileSync(folder.join("a"), "x\n");
  const stopped = begin("first", { decide: () => undefined, watch: (event) => stopAtCommand(event) });
  const stopAtCommand = (event: DriverEvent) => {
    if (event.type === "item/started" && event.item.type === "commandExecution") stopped.turn.stop.abort();
  };
  expect(await stopped.ended).toEqual({ status: "interrupted" });
  await run("second");
  expect(messagesOf(model.requests[1]).map((message) => [message.role, message.text])).toEqual([
    ["user", "first"],
    ["assistant", ""],
    ["tool", "1\tx"],
    ["tool", "(This did not run: the turn was interrupted.)"],
    ["assistant", "(This was interrupted.)"],
    ["user", "second"],
  ]);
});

test("adds steering input to the next step, also after the last answer", async () => {
  const { folder, model, begin, session } = await open({
    steps: [toolStep(read("a")), textStep("one"), textStep("two")],
  });
  writeFileSync(folder.join("a"), "x");
  const steers: (Promise<boolean> | undefined)[] = [];
  const watch = (event: DriverEvent) => {
    const isAnswer = event.type === "item/agentMessage/delta" && event.delta === "one";
    const isCall = event.type === "item/started" && event.item.type === "toolCall";
    if (isAnswer || isCall) steers.push(session.steer?.([{ type: "text", text: isCall ? "early" : "late" }]));
  };
  const { turn, ended } = begin("go", { watch });
  expect(await ended).toEqual({ status: "completed" });
  expect(await Promise.all(steers)).toEqual([true, true]);
  expect(turn.text).toBe("one\ntwo");
  const asked = messagesOf(model.requests[2]).filter(({ role }) => role === "user");
  expect(asked.map(({ text }) => text)).toEqual(["go", "early", "late"]);
  expect(await session.steer?.([{ type: "text", text: "too late" }])).toBe(false);
});

test("shows a plan as one item, and asks the user with options", async () => {
  const plan = (status: string) => ({ tool: "update_plan", input: { plan: [{ step: "Look", status }] } });
  const questions = [{ id: "colour", question: "Which?", options: [{ label: "red" }], secret: false }];
  const steps = [
    toolStep(plan("inProgress")),
    toolStep({ tool: "ask_user", input: { questions } }, plan("completed")),
  ];
  const answers: Answers = { colour: { answers: ["red"] } };
  const { model, run } = await open({ steps });
  const { turn } = await run("go", { answers });
  expect(turn.questions).toEqual([questions]);
  expect(turn.completed("toolCall")).toMatchObject([
    { tool: "ask_user", status: "completed", result: answers },
  ]);
  expect(turn.completed("plan")).toMatchObject([{ text: "1. Look", entries: [{ status: "completed" }] }]);
  expect(turn.events.filter(({ type }) => type === "turn/plan/updated")).toHaveLength(2);
  expect(results(model.requests[2]).map(({ text }) => text)).toEqual([
    "The plan is shown.",
    "red",
    "The plan is shown.",
  ]);
});

test("returns a secret answer to the model only", async () => {
  const questions = [{ id: "key", question: "Key?", secret: true }];
  const { model, run } = await open({ steps: [toolStep({ tool: "ask_user", input: { questions } })] });
  const { turn } = await run("go", { answers: { key: { answers: ["hunter2"] } } });
  expect(JSON.stringify(turn.events)).not.toContain("hunter2");
  expect(results(model.requests[1])).toMatchObject([{ status: "done", text: "hunter2" }]);
});

test("compacts automatically near the end of the context, and keeps the latest messages", async () => {
  const big = `${"x".repeat(99)}\n`.repeat(60);
  const steps = [
    toolStep(read("a")),
    toolStep(read("b")),
    (request: ModelRequest) => textStep(request.purpose === "compact" ? "They read a." : "?"),
    textStep("Done."),
  ];
  const { folder, model, run } = await open({ steps, contextLength: 4000 });
  writeFileSync(folder.join("a"), big);
  writeFileSync(folder.join("b"), big);
  const { turn, outcome } = await run("read both");
  expect(outcome).toEqual({ status: "completed" });
  expect(turn.completed("contextCompaction")).toMatchObject([
    { summary: expect.stringMatching(/^They read a\./) },
  ]);
  expect(turn.text).toBe("Done.");
  const last = messagesOf(model.requests.at(-1));
  expect(last.slice(0, 2)).toEqual([
    { role: "system", text: "Summary of the conversation so far.\nThey read a." },
    { role: "user", text: "read both" },
  ]);
  expect(results(model.requests.at(-1))).toHaveLength(1);
});

test("compacts once and repeats the step if the provider finds the conversation too long", async () => {
  const tooLong = () => {
    throw new ModelFailure({ message: "Too long.", errorInfo: "ContextWindowExceeded" });
  };
  const history = [turnOf(asked("One"), agentMessage("1 ".repeat(30_000)))];
  const { run, model } = await open({ history, steps: [tooLong, textStep("A summary."), textStep("Fine.")] });
  const { turn, outcome } = await run("Two");
  expect([turn.text, outcome]).toEqual(["Fine.", { status: "completed" }]);
  expect(turn.events[0]).toMatchObject({ type: "error", willRetry: true });
  expect(messagesOf(model.requests[2]).map(({ text }) => text)).toEqual([
    "Summary of the conversation so far.\nA summary.\n\nWhat the user asked for:\n- One",
    "Two",
  ]);
  const again = await open({ history, steps: [tooLong, textStep("A summary."), tooLong] });
  expect((await again.run("Two")).outcome).toMatchObject({ error: { errorInfo: "ContextWindowExceeded" } });
});

describe("if the summary fails", () => {
  const tooLong = () => {
    throw new ModelFailure({ message: "Too long.", errorInfo: "ContextWindowExceeded" });
  };

  test("leaves out the oldest messages, but not the task, the open plan and the changed files", async () => {
    const plan = (status: string) => ({
      type: "plan",
      id: status,
      text: "",
      entries: [{ content: "Port it", status }],
    });
    const history = [
      turnOf(asked("One"), { ...agentMessage("First."), id: "a" }),
      turnOf(asked("Half"), plan("in_progress"), { ...agentMessage("Begun."), id: "b" }),
      turnOf(asked("More"), agentMessage("1 ".repeat(30_000))),
    ];
    const { run, model } = await open({ history, steps: [tooLong, tooLong, textStep("Fine.")] });
    const { turn } = await run("Two");
    expect(turn.text).toBe("Fine.");
    expect(messagesOf(model.requests[2])).toEqual([
      {
        role: "system",
        text: "Summary of the conversation so far.\nThe oldest messages were left out.\n\nWhat the user asked for:\n- One\n- Half\n- More\n\nSteps of the plan that are open:\n- Port it",
      },
      { role: "user", text: "Two" },
    ]);
  });

  test("keeps the request that is being worked on", async () => {
    const steps = [
      toolStep(write("made.txt", "x\n".repeat(2_000))),
      toolStep(write("more.txt", "x\n".repeat(2_000))),
      (request: ModelRequest) => (request.purpose === "compact" ? tooLong() : textStep("Done.")),
      textStep("Done."),
    ];
    const { run, model } = await open({ steps, contextLength: 4000 });
    await run("Write both files");
    const last = messagesOf(model.requests.at(-1));
    expect(last.slice(0, 2)).toEqual([
      {
        role: "system",
        text: "Summary of the conversation so far.\nThe oldest messages were left out.\n\nFiles that were changed:\n- made.txt",
      },
      { role: "user", text: "Write both files" },
    ]);
  });
});

test("leaves only the summary after a requested compaction", async () => {
  const { run, model } = await open({
    steps: [textStep("Hello."), textStep("We said hello."), textStep("Yes.")],
  });
  await run("hello");
  const { turn, outcome } = await run("", { kind: "compact" });
  expect(outcome).toEqual({ status: "completed" });
  expect(turn.text).toBe("");
  expect(turn.completed("contextCompaction")).toMatchObject([
    { summary: "We said hello.\n\nWhat the user asked for:\n- hello" },
  ]);
  await run("and now?");
  expect(messagesOf(model.requests[2]).map(({ text }) => text)).toEqual([
    "Summary of the conversation so far.\nWe said hello.\n\nWhat the user asked for:\n- hello",
    "and now?",
  ]);
});

test("survives poisoned text from files, tools and the model", async () => {
  const poison = "a\ud800b\0c\u001b]52;c;x\u0007";
  const tool: Tool = {
    ...{ name: "mcp__x__y", description: "", parameters: { type: "object" }, readOnly: false },
    run: async (input) => done(`${poison}${String(input.text)}`),
  };
  const source: ToolSource = { tools: async () => [tool], close: async () => {} };
  const steps = [
    toolStep({ tool: "mcp__x__y", input: { text: poison } }),
    textStep(poison),
    textStep("Fine."),
  ];
  const { run, model } = await open({ steps, sources: [source] });
  await run(poison);
  expect((await run("again")).turn.text).toBe("Fine.");
  const texts = messagesOf(model.requests.at(-1)).map(({ text }) => text);
  expect(texts.join("")).not.toMatch(/[\p{Cc}]/u);
  const sent = JSON.stringify(model.requests.at(-1)?.messages);
  expect(sent).not.toContain("\\ud800");
  expect(results(model.requests[1])).toMatchObject([
    { text: expect.stringMatching(/^a\ufffdb␀c␛\]52;c;x␇/) },
  ]);
});

test("returns provider metadata to the model", async () => {
  const providerMetadata = { model: "m", content: { signed: true } };
  const { model, run } = await open({
    steps: [[{ type: "provider-metadata", providerMetadata }, ...toolStep(read("a"))]],
  });
  await run("go");
  expect(messagesOf(model.requests[1])[1]).toMatchObject({ role: "assistant", providerMetadata });
});

sandboxed("keeps a background command over completed turns, and ends it on interrupt [P13]", async () => {
  const seconds = unusual(1001);
  const steps = [
    toolStep(shell(`exec sleep ${seconds}`, { background: true })),
    textStep("Up."),
    textStep("Still."),
    toolStep(shell("true")),
  ];
  const { run, begin } = await open({ steps });
  await run("start");
  await run("go on");
  await expect.poll(() => sleepers(seconds), { timeout: 15_000 }).toBe(1);
  const { turn, ended } = begin("stop", { decide: () => undefined, watch: (event) => stopAt(event) });
  const stopAt = (event: DriverEvent) => {
    if (event.type === "item/started") turn.stop.abort();
  };
  expect(await ended).toEqual({ status: "interrupted" });
  expect(sleepers(seconds)).toBe(0);
});

sandboxed(
  "lists its background commands, is busy while one runs, and stops the one that is named",
  async () => {
    const [first, second] = [unusual(1011), unusual(1012)];
    const sleep = (seconds: string) => toolStep(shell(`exec sleep ${seconds}`, { background: true }));
    const { run, session, folder } = await open({ steps: [sleep(first), sleep(second), textStep("Up.")] });
    const { turn } = await run("start both");
    const shown = turn.events.flatMap((event) => (event.type === "item/completed" ? [event.item] : []));
    expect(await session.backgroundCommands?.()).toEqual([
      { processId: "1", command: `exec sleep ${first}`, cwd: folder.path, itemId: shown[0]?.id },
      { processId: "2", command: `exec sleep ${second}`, cwd: folder.path, itemId: shown[1]?.id },
    ]);
    expect(shown.map(({ _meta }) => _meta?.background)).toEqual(["1", "2", undefined]);
    expect(await session.stopBackgroundCommand?.("2")).toBe(true);
    expect(await session.stopBackgroundCommand?.("2")).toBe(false);
    await expect.poll(() => sleepers(first), { timeout: 15_000 }).toBe(1);
    expect([sleepers(second), session.isBusy?.()]).toEqual([0, true]);
    expect(await session.stopBackgroundCommand?.("1")).toBe(true);
    expect([await session.backgroundCommands?.(), session.isBusy?.()]).toEqual([[], false]);
  },
);

sandboxed("ends a background command with a failed turn, and with the session", async () => {
  const fail = () => {
    throw new ModelFailure({ message: "No." });
  };
  const sleep = (seconds: string) => toolStep(shell(`exec sleep ${seconds}`, { background: true }));
  const [first, second] = [unusual(1002), unusual(1003)];
  const { run, session } = await open({ steps: [sleep(first), textStep("Up."), sleep(second), fail] });
  await run("one");
  await expect.poll(() => sleepers(first), { timeout: 15_000 }).toBe(1);
  await run("two");
  expect([sleepers(first), sleepers(second)]).toEqual([1, 0]);
  await session.close();
  expect(sleepers(first)).toBe(0);
});

test("closes tool sources with the session", async () => {
  let closed = 0;
  const source: ToolSource = {
    tools: async () => [],
    close: async () => {
      closed += 1;
    },
  };
  const { session } = await open({ sources: [source] });
  await session.close();
  expect(closed).toBe(1);
});

test("fails the turn for a command without a sandbox, and says how to fix it [P33]", async () => {
  const none = new CommandSandbox({ environment: process.env, mechanisms: [] });
  const { folder, run } = await open({ sandbox: none, steps: [toolStep(shell("touch made"))] });
  expect((await run("go")).outcome).toMatchObject({ status: "failed", error: { errorInfo: "SandboxError" } });
  expect(existsSync(folder.join("made"))).toBe(false);
});

test("reports the smaller of the selected context length and the model's window", async () => {
  const model = new ScriptedModel([textStep("x")], 5000);
  const { run } = await open({ model, contextLength: 100_000 });
  const { turn } = await run("go");
  expect(turn.events.find(({ type }) => type === "usage")).toMatchObject({ modelContextWindow: 5000 });
});

function turnOf(...items: ThreadItem[]): Turn {
  return { id: "earlier", status: "completed", items };
}

function asked(text: string): ThreadItem {
  return { type: "userMessage", id: "u", content: [{ type: "text", text }] };
}

function agentMessage(text: string): ThreadItem {
  return { type: "agentMessage", id: "a", text };
}

/** A number of seconds that no other process on this machine sleeps for. */
function unusual(seconds: number): string {
  return `${seconds}.${process.pid}`;
}

/** Returns the number of processes that sleep for this long. */
function sleepers(seconds: string): number {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      // Expected: the process ended in between.
      try {
        return readFileSync(`/proc/${name}/cmdline`, "latin1") === `sleep\0${seconds}\0`;
      } catch {
        return false;
      }
    }).length;
}
