import { Gate } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { type AcpClient, setUpAcp } from "../testing/setup.ts";

const PNG = "iVBORw0KGgo=";

/** The names of the messages that a client was sent. */
function names(client: AcpClient): string[] {
  return client.wire.map(({ method, params, error }) => {
    const { update } = Object(params) as { update?: { sessionUpdate: string } };
    return (
      update?.sessionUpdate ??
      (typeof method === "string" ? method : error === undefined ? "response" : "error")
    );
  });
}

describe("an ACP prompt", () => {
  test("streams thoughts, text and a tool call, asks, and responds after the last update [S3-1, S3-8, S3-9, S3-11, S3-12, S3-13, S3-25, S3-28, S3-29, S3-30]", async () => {
    const { connect, path } = await setUpAcp({
      scripts: [
        [
          { reasoning: "let me see" },
          { text: "It is done." },
          { command: "echo hi", output: ["hi\n"] },
          {
            usage: { inputTokens: 10, outputTokens: 5 },
            modelContextWindow: 1000,
            cost: { amount: 0.5, currency: "USD" },
          },
        ],
      ],
    });
    const client = await connect();
    const session = await client.newSession(path);
    expect(await client.prompt(session, "go")).toMatchObject({ stopReason: "end_turn" });
    expect(client.wire.at(-1)?.result).toEqual({
      stopReason: "end_turn",
      usage: {
        ...{ totalTokens: 15, inputTokens: 10, outputTokens: 5 },
        ...{ thoughtTokens: 0, cachedReadTokens: 0, cachedWriteTokens: 0 },
      },
    });
    expect(names(client)).toEqual([
      ...["response", "response", "available_commands_update", "session_info_update"],
      ...["agent_thought_chunk", "agent_message_chunk", "tool_call", "session/request_permission"],
      ...["tool_call_update", "tool_call_update", "tool_call_update", "usage_update"],
      ...["session_info_update", "response"],
    ]);
    expect(client.wire.every(({ jsonrpc }) => jsonrpc === "2.0")).toBe(true);
    const updates = client.wire.filter(({ method }) => method === "session/update");
    expect(new Set(updates.map(({ params }) => Object(params).sessionId))).toEqual(new Set([session]));
    expect(client.of("agent_thought_chunk")).toMatchObject([
      { messageId: expect.any(String), content: { type: "text", text: "let me see" } },
    ]);
    expect(client.of("agent_message_chunk")).toMatchObject([
      { content: { type: "text", text: "It is done." } },
    ]);
    expect(client.of("usage_update")).toEqual([
      { sessionUpdate: "usage_update", used: 15, size: 1000, cost: { amount: 0.5, currency: "USD" } },
    ]);
    expect(client.of("session_info_update")[0]).toMatchObject({ title: "go" });
  });

  test("shows the output, raw input and raw output of a command [S3-12, S3-13, S3-23, S3-43]", async () => {
    const { connect, path } = await setUpAcp({
      scripts: [[{ command: "ls -l", output: ["one\n", "two\n"] }]],
    });
    const client = await connect();
    await client.prompt(await client.newSession(path), "go");
    const [call] = client.of("tool_call");
    expect(call).toMatchObject({
      title: "ls -l",
      name: "shell",
      kind: "execute",
      status: "pending",
      rawInput: { command: "ls -l", cwd: path },
    });
    expect(client.of("tool_call_update").map(({ status }) => status)).toContain("in_progress");
    expect(client.of("tool_call_update").at(-1)).toMatchObject({
      toolCallId: call?.toolCallId,
      title: "ls -l",
      status: "completed",
      rawOutput: { exitCode: 0, output: "one\ntwo\n" },
      content: [{ type: "content", content: { type: "text", text: "```console\none\ntwo\n```" } }],
    });
  });

  test("links a terminal to its tool call for clients with terminals [S3-14, S3-37, S3-40, S3-46]", async () => {
    const { connect, path } = await setUpAcp({ scripts: [[{ command: "ls", output: ["one\n"] }]] });
    const client = await connect({ capabilities: { _meta: { terminal_output: true } } });
    await client.prompt(await client.newSession(path), "go");
    const id = client.of("tool_call")[0]?.toolCallId;
    expect(client.of("tool_call")[0]).toMatchObject({
      content: [{ type: "terminal", terminalId: id }],
      _meta: { terminal_info: { terminal_id: id, cwd: path } },
    });
    expect(
      client
        .of("tool_call_update")
        .flatMap(({ _meta }) => (_meta?.terminal_output ? [_meta.terminal_output] : [])),
    ).toEqual([{ terminal_id: id, data: "one\n" }]);
    expect(client.of("tool_call_update").at(-1)).toMatchObject({
      _meta: { terminal_exit: { terminal_id: id, exit_code: 0 } },
    });
    // Content replaces what was shown before.
    for (const { content } of client.of("tool_call_update"))
      expect(content ?? [{ type: "terminal", terminalId: id }]).toEqual([
        { type: "terminal", terminalId: id },
      ]);
  });

  test("shows an edit as old and new text with its line, and a new file as new text only [S3-14, S3-24, S3-44, S3-45]", async () => {
    const diff = "--- a/a.ts\n+++ b/a.ts\n@@ -7,2 +7,2 @@\n same\n-old\n+new\n";
    const added = "--- /dev/null\n+++ b/b.ts\n@@ -0,0 +1,1 @@\n+fresh\n";
    const { connect, path } = await setUpAcp({
      scripts: [
        [
          {
            fileChange: [
              { path: "/w/a.ts", kind: "modify", diff },
              { path: "/w/b.ts", kind: "add", diff: added },
            ],
          },
        ],
      ],
    });
    const client = await connect();
    await client.prompt(await client.newSession(path), "go");
    const content = [
      { type: "diff", path: "/w/a.ts", oldText: "same\nold\n", newText: "same\nnew\n" },
      { type: "diff", path: "/w/b.ts", oldText: null, newText: "fresh\n" },
    ];
    const shown = {
      kind: "edit",
      content,
      locations: [
        { path: "/w/a.ts", line: 7 },
        { path: "/w/b.ts", line: 1 },
      ],
    };
    expect(client.of("tool_call")[0]).toMatchObject({ title: "Change 2 files", ...shown });
    expect(client.permissions[0]?.toolCall).toMatchObject(shown);
  });

  test("shows the plan with the agent's priorities, or medium without one [S3-15]", async () => {
    const plan = [
      { step: "look", status: "completed" as const },
      { step: "write", status: "inProgress" as const, priority: "high" as const },
      { step: "break", status: "failed" as const, priority: "low" as const },
    ];
    const { connect, path } = await setUpAcp({ scripts: [[{ plan }]] });
    const client = await connect();
    await client.prompt(await client.newSession(path), "go");
    const sent = client.wire
      .map(({ params }) => Object(Object(params).update))
      .find(({ entries }) => entries !== undefined);
    expect(sent?.entries).toEqual([
      { id: "1", content: "look", priority: "medium", status: "completed" },
      { id: "2", content: "write", priority: "high", status: "in_progress" },
      { id: "3", content: "break (failed)", priority: "low", status: "completed" },
    ]);
  });

  test("ends as cancelled after session/cancel [S3-31]", async () => {
    const wait = new Gate();
    const { connect, path } = await setUpAcp({ scripts: [[{ text: "on it" }, { wait }]] });
    const client = await connect();
    const session = await client.newSession(path);
    const answer = client.prompt(session, "go");
    await wait.reached;
    await client.notify("session/cancel", { sessionId: session });
    expect(await answer).toEqual({ stopReason: "cancelled" });
  });

  test("ends as cancelled if cancelled immediately [S3-31]", async () => {
    const { connect, path } = await setUpAcp({ scripts: () => [{ wait: new Gate() }] });
    const client = await connect();
    const sessionId = await client.newSession(path);
    const answers = ["hello", "/scripted hello"].map((text) => client.prompt(sessionId, text));
    await client.notify("session/cancel", { sessionId });
    const cancelled = { stopReason: "cancelled" };
    expect(await Promise.all(answers)).toEqual([cancelled, cancelled]);
  });

  test("leaves the other prompts of its session alone when it is withdrawn", async () => {
    const wait = new Gate();
    const { connect, path } = await setUpAcp({ scripts: [[{ wait }, { text: "first" }]] });
    const client = await connect();
    const sessionId = await client.newSession(path);
    const first = client.prompt(sessionId, "one");
    await wait.reached;
    const withdrawal = new AbortController();
    const params = { sessionId, prompt: [{ type: "text", text: "two" }] };
    const second = client.request("session/prompt", params, { cancellationSignal: withdrawal.signal });
    withdrawal.abort();
    await expect(second).rejects.toMatchObject({ code: -32800 });
    wait.open();
    expect(await first).toEqual({ stopReason: "end_turn" });
  });

  test("is rejected with -32800 after $/cancel_request", async () => {
    const wait = new Gate();
    const { connect, path } = await setUpAcp({ scripts: [[{ wait }], [{ text: "next" }]] });
    const client = await connect();
    const session = await client.newSession(path);
    const withdrawal = new AbortController();
    const prompt = [{ type: "text", text: "go" }];
    const answer = client.request(
      "session/prompt",
      { sessionId: session, prompt },
      { cancellationSignal: withdrawal.signal },
    );
    await wait.reached;
    withdrawal.abort();
    await expect(answer).rejects.toMatchObject({ code: -32800 });
    expect(await client.prompt(session, "go on")).toEqual({ stopReason: "end_turn" });
  });

  test("is queued while another one is running [S3-30]", async () => {
    const wait = new Gate();
    const { connect, path, driver } = await setUpAcp({
      scripts: [[{ wait }, { text: "first " }], [{ text: "second" }]],
    });
    const client = await connect();
    const session = await client.newSession(path);
    const first = client.prompt(session, "one");
    await wait.reached;
    const second = client.prompt(session, "two");
    wait.open();
    expect([await first, await second]).toEqual([{ stopReason: "end_turn" }, { stopReason: "end_turn" }]);
    expect(client.agentText).toBe("first second");
    expect(driver.turns).toHaveLength(2);
    expect(client.of("user_message_chunk")).toEqual([]);
  });

  test("runs if it is sent right after a cancel, as editors do when the user interrupts", async () => {
    const wait = new Gate();
    const { connect, path } = await setUpAcp({ scripts: [[{ wait }], [{ text: "second" }]] });
    const client = await connect();
    const session = await client.newSession(path);
    const first = client.prompt(session, "one");
    await wait.reached;
    void client.notify("session/cancel", { sessionId: session });
    const second = client.prompt(session, "two");
    expect([await first, await second]).toEqual([{ stopReason: "cancelled" }, { stopReason: "end_turn" }]);
    expect(client.agentText).toBe("second");
  });

  test.each([
    [{ message: "too long", errorInfo: "ContextWindowExceeded" }, "max_tokens"],
    [{ message: "cut off", errorInfo: "OutputLimitReached" }, "max_tokens"],
    [{ message: "over budget", errorInfo: "BudgetExceeded" }, "max_turn_requests"],
    [{ message: "too many steps", errorInfo: "TurnLimitReached" }, "max_turn_requests"],
    [{ message: "no", errorInfo: "Refused" }, "refusal"],
  ])(
    "that ends with %j has a stop reason and a notice with the message [S3-25, S3-26]",
    async (fail, stopReason) => {
      const { connect, path } = await setUpAcp({ scripts: [[{ fail }]] });
      const client = await connect({ capabilities: { session: { notices: {} } } });
      expect(await client.prompt(await client.newSession(path), "go")).toEqual({ stopReason });
      expect(client.of("notice")).toEqual([
        { sessionUpdate: "notice", severity: "error", title: fail.message },
      ]);
    },
  );

  test("is rejected with the error of its agent, and the session stays usable", async () => {
    const fail = { message: "The model is gone.", errorInfo: "AgentFailed" };
    const { connect, path } = await setUpAcp({ scripts: [[{ fail }], [{ text: "back" }]] });
    const client = await connect();
    const session = await client.newSession(path);
    await expect(client.prompt(session, "go")).rejects.toMatchObject({
      code: -32603,
      message: "The model is gone.",
    });
    expect(await client.prompt(session, "again")).toEqual({ stopReason: "end_turn" });
  });

  test("is rejected with -32000 if the agent needs a login [S3-7]", async () => {
    const fail = { message: "Log in first.", errorInfo: "Unauthorized" };
    const { connect, path } = await setUpAcp({ scripts: [[{ fail }]] });
    const client = await connect();
    await expect(client.prompt(await client.newSession(path), "go")).rejects.toMatchObject({ code: -32000 });
  });

  test("may contain images, links and embedded files [S3-3, S3-22]", async () => {
    const { connect, path, driver } = await setUpAcp({ scripts: [[{ text: "seen" }]] });
    const client = await connect();
    const sessionId = await client.newSession(path);
    await client.request("session/prompt", {
      sessionId,
      prompt: [
        { type: "text", text: "look" },
        { type: "image", mimeType: "image/png", data: PNG },
        { type: "resource_link", uri: "file:///w/a%20b.ts", name: "a b.ts" },
        { type: "resource_link", uri: "https://example.org/x", name: "x" },
        { type: "resource", resource: { uri: "file:///w/c.ts", text: "const c = 1;" } },
        { type: "resource", resource: { uri: "file:///w/d.png", blob: PNG, mimeType: "image/png" } },
      ],
    });
    expect(driver.turns[0]?.input).toEqual([
      { type: "text", text: "look" },
      { type: "image", url: `data:image/png;base64,${PNG}` },
      { type: "mention", name: "a b.ts", path: "/w/a b.ts" },
      { type: "text", text: "[x](https://example.org/x)" },
      { type: "text", text: '<context uri="file:///w/c.ts">\nconst c = 1;\n</context>' },
      { type: "image", url: `data:image/png;base64,${PNG}` },
    ]);
  });

  test.each([
    ["audio", { type: "audio", mimeType: "audio/wav", data: "AAAA" }, /does not support audio/],
    [
      "an image of an unsupported type",
      { type: "image", mimeType: "image/tiff", data: PNG },
      /image\/tiff is not a supported image type/,
    ],
    [
      "an image that is too large",
      { type: "image", mimeType: "image/png", data: "A".repeat(5_000_004) },
      /limit is 3750000/,
    ],
    [
      "a file that is too long",
      { type: "resource", resource: { uri: "file:///big", text: "x".repeat(524_289) } },
      /resource_link/,
    ],
    ["a binary file", { type: "resource", resource: { uri: "file:///bin", blob: "AAAA" } }, /is binary/],
  ])(
    "is rejected with the reason and the way out if it contains %s [S3-22]",
    async (_what, block, problem) => {
      const { connect, path } = await setUpAcp({ scripts: [] });
      const client = await connect();
      const sessionId = await client.newSession(path);
      const rejected = client.request("session/prompt", { sessionId, prompt: [block] });
      await expect(rejected).rejects.toMatchObject({ code: -32602, message: expect.stringMatching(problem) });
    },
  );

  test("includes linked files as they are in the editor, if that is turned on [S3-35]", async () => {
    const { connect, path, driver } = await setUpAcp({});
    const files = new Map([["/w/a.ts", "not saved yet"]]);
    const client = await connect({ capabilities: { fs: { readTextFile: true } }, files });
    const sessionId = await client.newSession(path);
    const link = (name: string) => ({ type: "resource_link", name, uri: `file:///w/${name}` });
    const prompt = [link("a.ts"), link("b.ts")];
    await client.request("session/prompt", { sessionId, prompt });
    await client.request("session/set_config_option", { sessionId, configId: "editor_files", value: "true" });
    await client.request("session/prompt", { sessionId, prompt });
    const mentions = ["a.ts", "b.ts"].map((name) => ({ type: "mention", name, path: `/w/${name}` }));
    expect(driver.turns[0]?.input).toEqual(mentions);
    const text = '<context uri="/w/a.ts">\nnot saved yet\n</context>';
    expect(driver.turns[1]?.input).toEqual([mentions[0], { type: "text", text }, mentions[1]]);
  });

  test("can be steered while it is running [S3-30]", async () => {
    const wait = new Gate();
    const { connect, path, driver } = await setUpAcp({ scripts: [[{ wait }]] });
    const client = await connect();
    const sessionId = await client.newSession(path);
    const prompt = [{ type: "text", text: "faster" }];
    expect(await client.request("_session/steering", { sessionId, prompt })).toMatchObject({
      outcome: "promptRequired",
    });
    const answer = client.prompt(sessionId, "go");
    await wait.reached;
    expect(await client.request("_session/steering", { sessionId, prompt })).toEqual({ outcome: "injected" });
    wait.open();
    expect(await answer).toEqual({ stopReason: "end_turn" });
    expect(driver.turns[0]?.steers).toEqual([prompt]);
  });

  test("shows warnings and retries as notices, or as thoughts to clients without notices", async () => {
    const error = { message: "Overloaded, trying again.", errorInfo: "InternalServerError" };
    const script = [{ emit: { type: "error", error, willRetry: true } }, { text: "ok" }] as const;
    const { connect, path } = await setUpAcp({ scripts: [script, script] });
    const plain = await connect();
    await plain.prompt(await plain.newSession(path), "go");
    expect(plain.of("agent_thought_chunk")).toMatchObject([
      { content: { text: "Overloaded, trying again.\n" } },
    ]);
    const able = await connect({ capabilities: { session: { notices: {} } } });
    await able.prompt(await able.newSession(path), "go");
    expect(able.of("notice")).toEqual([
      { sessionUpdate: "notice", severity: "warning", title: error.message },
    ]);
  });

  test("shows a compaction as an update, or as a message to clients that do not declare it", async () => {
    const item = { type: "contextCompaction", id: "c1", summary: "all of it" };
    const script = [
      { emit: { type: "item/started", item } },
      { emit: { type: "item/completed", item } },
    ] as const;
    const { connect, path } = await setUpAcp({ scripts: [script, script] });
    const plain = await connect();
    await plain.prompt(await plain.newSession(path), "go");
    expect(plain.agentText).toMatch(/summarised/);
    const able = await connect({ capabilities: { session: { compaction: {} } } });
    await able.prompt(await able.newSession(path), "go");
    expect(able.of("compaction_update")).toMatchObject([
      { compactionId: "c1", status: "in_progress" },
      { compactionId: "c1", status: "completed", summary: [{ type: "text", text: "all of it" }] },
    ]);
  });
});
