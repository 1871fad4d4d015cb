import { Gate } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { setUpAcp } from "../testing/setup.ts";

const LOGINS = [
  { agent: "claude", name: "Claude Code", command: "claude auth login" },
  { agent: "codex", name: "Codex", command: "codex login" },
];
const UNKNOWN_SESSIONS = ["nope", "", "../../etc/passwd", "a\0b", "01a1e32f-3b40-7000-a891-b878de620a27"];

describe("ACP sessions", () => {
  test("initialize returns the capabilities, also to a client that declares none [S3-2, S3-3, S3-4, S3-5, S3-6, S3-7]", async () => {
    const { connect } = await setUpAcp({}, { acp: { logins: LOGINS } });
    const client = await connect();
    const initialized = await client.request("initialize", { protocolVersion: 1 });
    expect(initialized).toMatchObject({
      protocolVersion: 1,
      agentInfo: { name: "flint", title: "Flint", version: expect.any(String) },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, audio: false, embeddedContext: true },
        mcpCapabilities: { http: true, sse: false },
        sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {}, additionalDirectories: {} },
      },
      _meta: { steering: { supported: true } },
    });
    expect(initialized.authMethods?.[0]).toEqual({
      id: "claude-login",
      name: "Log in with Claude Code",
      description: "Run `claude auth login` in a terminal",
    });
    const capable = { protocolVersion: 1, clientCapabilities: { auth: { terminal: true } } };
    const { authMethods } = await client.request("initialize", capable);
    expect(authMethods?.[1]).toMatchObject({
      id: "codex-login",
      type: "terminal",
      args: ["--login", "codex"],
    });
  });

  test("session/load sends the whole history before the response, also of another client's session [S3-6, S3-41]", async () => {
    const { connect, path } = await setUpAcp({
      scripts: [[{ reasoning: "hm" }, { text: "hello" }, { command: "ls", output: ["x\n"] }]],
    });
    const first = await connect();
    const sessionId = await first.newSession(path);
    await first.prompt(sessionId, "greet me");
    const second = await connect();
    const before = second.wire.length;
    await second.request("session/load", { sessionId, cwd: path, mcpServers: [] });
    const order = second.wire
      .slice(before)
      .map(({ params, result }) => Object(Object(params).update).sessionUpdate ?? (result ? "answer" : "?"));
    expect(order).toEqual(
      ["user_message_chunk", "agent_thought_chunk", "agent_message_chunk", "tool_call", "answer"].concat(
        order.slice(5),
      ),
    );
    await second.until(() => second.of("available_commands_update")[0]);
    expect(second.of("tool_call")[0]).toMatchObject({
      title: "ls",
      status: "completed",
      rawOutput: { output: "x\n" },
    });
    expect(second.of("user_message_chunk")).toMatchObject([{ content: { type: "text", text: "greet me" } }]);
  });

  test("session/resume sends no history and takes the next prompt", async () => {
    const { connect, path } = await setUpAcp({ scripts: [[{ text: "hello" }], [{ text: "again" }]] });
    const first = await connect();
    const sessionId = await first.newSession(path);
    await first.prompt(sessionId, "greet me");
    const second = await connect();
    await second.request("session/resume", { sessionId, cwd: path });
    expect(await second.prompt(sessionId, "and again")).toEqual({ stopReason: "end_turn" });
    expect(second.agentText).toBe("again");
    expect(second.of("user_message_chunk")).toEqual([]);
    expect(first.of("user_message_chunk")).toMatchObject([{ content: { type: "text", text: "and again" } }]);
  });

  test("session/load and session/resume send the context usage and cost so far", async () => {
    const cost = { amount: 0.5, currency: "USD" };
    const usage = { usage: { inputTokens: 10, outputTokens: 5 }, modelContextWindow: 1000, cost };
    const { connect, path } = await setUpAcp({ scripts: [[{ text: "hello" }, usage]] });
    const first = await connect();
    const sessionId = await first.newSession(path);
    await first.prompt(sessionId, "greet me");
    for (const method of ["session/load", "session/resume"]) {
      const late = await connect();
      await late.request(method, { sessionId, cwd: path, mcpServers: [] });
      expect(late.of("usage_update")).toEqual([
        { sessionUpdate: "usage_update", used: 15, size: 1000, cost },
      ]);
    }
  });

  test("session/list lists the sessions of a folder with their titles [S3-5]", async () => {
    const { connect, path } = await setUpAcp({});
    const client = await connect();
    const sessionId = await client.newSession(path);
    await client.prompt(sessionId, "a title\nand more");
    const { sessions } = await client.request("session/list", { cwd: path });
    expect(sessions).toMatchObject([
      { sessionId, cwd: path, title: "a title and more", updatedAt: expect.stringMatching(/Z$/) },
    ]);
    expect(await client.request("session/list", { cwd: "/elsewhere" })).toEqual({ sessions: [] });
  });

  test("session/delete deletes a session, and a closed session must be opened again before a prompt", async () => {
    const { connect, path } = await setUpAcp({});
    const client = await connect();
    const sessionId = await client.newSession(path);
    await client.request("session/close", { sessionId });
    await expect(client.prompt(sessionId, "hello")).rejects.toMatchObject({ code: -32002 });
    await client.request("session/resume", { sessionId, cwd: path });
    expect(await client.prompt(sessionId, "hello")).toEqual({ stopReason: "end_turn" });
    await client.request("session/delete", { sessionId });
    expect(await client.request("session/list", {})).toEqual({ sessions: [] });
    await expect(client.prompt(sessionId, "hello")).rejects.toMatchObject({ code: -32002 });
  });

  test("session/close leaves a turn running if another client is subscribed", async () => {
    const wait = new Gate();
    const { connect, path } = await setUpAcp({ scripts: [[{ wait }, { text: "done" }]] });
    const first = await connect();
    const second = await connect();
    const sessionId = await first.newSession(path);
    const answer = first.prompt(sessionId, "go");
    await wait.reached;
    await second.request("session/resume", { sessionId, cwd: path });
    await first.request("session/close", { sessionId });
    expect(await answer).toEqual({ stopReason: "cancelled" });
    wait.open();
    await second.until(() => (second.agentText === "done" ? true : undefined));
  });

  test.each(UNKNOWN_SESSIONS)("every request rejects the session id %j as not found", async (sessionId) => {
    const { connect, path } = await setUpAcp({});
    const client = await connect();
    const setup = { cwd: path, mcpServers: [] };
    const prompt = [{ type: "text", text: "x" }];
    const asked: [string, object][] = [
      ["session/load", setup],
      ["session/resume", setup],
      ["session/prompt", { prompt }],
      ["session/set_mode", { modeId: "ask" }],
      ["session/fork", setup],
      ["session/status", {}],
      ["_session/steering", { prompt }],
    ];
    for (const [method, params] of asked) {
      const rejected = client.request(method, { sessionId, ...params });
      await expect(rejected, method).rejects.toMatchObject({
        code: -32002,
        message: expect.stringMatching(/^Resource not found/),
      });
    }
  });

  test("unknown methods are rejected with -32601 and invalid params with -32602", async () => {
    const { connect } = await setUpAcp({});
    const client = await connect();
    await expect(client.request("no/such/method", {})).rejects.toMatchObject({ code: -32601 });
    await expect(client.request("_nobody/extension", {})).rejects.toMatchObject({ code: -32601 });
    await expect(client.request("session/new", { cwd: "src", mcpServers: [] })).rejects.toMatchObject({
      code: -32602,
    });
    await expect(client.request("session/new", { cwd: "/" })).rejects.toMatchObject({ code: -32602 });
  });

  test("a session can be forked, titled and queried for its status [S3-5]", async () => {
    const { connect, path } = await setUpAcp({});
    const client = await connect();
    const sessionId = await client.newSession(path);
    await client.prompt(sessionId, "hello");
    expect(await client.request("session/set_title", { sessionId, title: "Mine" })).toEqual({
      title: "Mine",
    });
    await client.until(() => client.of("session_info_update").find(({ title }) => title === "Mine"));
    expect(await client.request("session/status", { sessionId })).toEqual({ status: "open" });
    const forked = await client.request("session/fork", { sessionId, cwd: path });
    expect(forked.sessionId).not.toBe(sessionId);
    expect(await client.prompt(forked.sessionId, "go on")).toEqual({ stopReason: "end_turn" });
  });

  test("client-provided MCP servers reach only the agents of their session, and their secrets are redacted [S3-4]", async () => {
    const { connect, path, driver } = await setUpAcp({ scripts: (text) => [{ text }] });
    const client = await connect();
    const servers = [
      {
        name: "files",
        command: "/bin/files",
        args: ["-v"],
        env: [{ name: "KEY", value: "a-very-secret-value" }],
      },
      {
        type: "http",
        name: "web",
        url: "https://example.org/mcp",
        headers: [{ name: "Authorization", value: "Bearer another-secret" }],
      },
    ];
    const { sessionId } = await client.request("session/new", { cwd: path, mcpServers: servers });
    await client.prompt(sessionId, "tell a-very-secret-value and another-secret");
    expect(driver.sessions[0]?.mcpServers).toEqual([
      {
        type: "stdio",
        name: "files",
        command: "/bin/files",
        args: ["-v"],
        env: { KEY: "a-very-secret-value" },
      },
      {
        type: "http",
        name: "web",
        url: "https://example.org/mcp",
        headers: { Authorization: "Bearer another-secret" },
      },
    ]);
    expect(client.agentText).toBe("tell [redacted:secret] and [redacted:secret]");
    await client.prompt(await client.newSession(path), "other");
    expect(driver.sessions[1]?.mcpServers).toEqual([]);
    const sse = [{ type: "sse", name: "old", url: "https://example.org/sse", headers: [] }];
    const rejected = client.request("session/new", { cwd: path, mcpServers: sse });
    await expect(rejected).rejects.toMatchObject({
      code: -32602,
      message: expect.stringMatching(/old uses the sse transport/),
    });
  });

  test("additional folders are writable, unless the mode is read-only", async () => {
    const { connect, path, driver } = await setUpAcp({});
    const client = await connect();
    const params = { cwd: path, mcpServers: [], additionalDirectories: ["/srv/more"] };
    const { sessionId } = await client.request("session/new", params);
    await client.prompt(sessionId, "hello");
    expect(driver.sessions[0]?.settings.sandboxPolicy).toEqual({
      type: "workspaceWrite",
      writableRoots: ["/srv/more"],
    });
    await client.request("session/set_mode", { sessionId, modeId: "read-only" });
    await client.request("session/set_mode", { sessionId, modeId: "auto" });
    await client.prompt(sessionId, "hello");
    expect(driver.turns[1]?.settings.sandboxPolicy).toEqual({
      type: "workspaceWrite",
      writableRoots: ["/srv/more"],
    });
  });

  test.each(["session/load", "session/resume"])(
    "a failed %s leaves an open session with its requests and prompts as it was",
    async (method) => {
      const { connect, path } = await setUpAcp({ scripts: [[{ command: "ls" }, { text: "done" }]] });
      const answers = [new Gate(), new Gate()];
      const client = await connect({
        permission: async () => {
          await answers[client.permissions.length - 1]?.wait();
          return "allow_once";
        },
      });
      const sessionId = await client.newSession(path);
      const answer = client.prompt(sessionId, "go");
      await answers[0]?.reached;
      const failed = client.request(method, { sessionId, cwd: `${path}/none`, mcpServers: [] });
      await expect(failed).rejects.toMatchObject({ code: -32602 });
      await answers[1]?.reached;
      answers[1]?.open();
      expect(await answer).toEqual({ stopReason: "end_turn" });
      expect(client.agentText).toBe("done");
      answers[0]?.open();
    },
  );

  test.each(["session/load", "session/resume"])("a failed %s opens no session", async (method) => {
    const { connect, path } = await setUpAcp({ scripts: (text) => [{ text }] });
    const first = await connect();
    const sessionId = await first.newSession(path);
    await first.prompt(sessionId, "one");
    const second = await connect();
    const failed = second.request(method, { sessionId, cwd: `${path}/none`, mcpServers: [] });
    await expect(failed).rejects.toMatchObject({ code: -32602 });
    const before = second.wire.length;
    await first.prompt(sessionId, "two");
    await second.request("session/list", {});
    expect(second.wire.slice(before).filter(({ method: name }) => name === "session/update")).toEqual([]);
    expect(await second.prompt(sessionId, "three")).toEqual({ stopReason: "end_turn" });
  });

  test("an additional folder at the root is rejected while approvals are off, and no session remains", async () => {
    const { connect, path } = await setUpAcp(
      {},
      { approvalPolicy: "never", sandboxPolicy: { type: "workspaceWrite" } },
    );
    const client = await connect();
    const wide = { cwd: path, mcpServers: [], additionalDirectories: ["/"] };
    const rejection = { code: -32602, message: expect.stringContaining("--allow-unconfined") };
    await expect(client.request("session/new", wide)).rejects.toMatchObject(rejection);
    expect(await client.request("session/list", {})).toEqual({ sessions: [] });
    const sessionId = await client.newSession(path);
    await client.prompt(sessionId, "hello");
    await expect(client.request("session/fork", { ...wide, sessionId })).rejects.toMatchObject(rejection);
    expect((await client.request("session/list", {})).sessions).toMatchObject([{ sessionId }]);
    await expect(client.request("session/load", { ...wide, sessionId })).rejects.toMatchObject(rejection);
    expect(await client.prompt(sessionId, "still there")).toEqual({ stopReason: "end_turn" });
  });

  test.each([
    ["a folder around everything", {}, ["/"]],
    ["a sandbox that is not Flint's", { sandboxPolicy: { type: "externalSandbox" } }, []],
  ] as const)("a mode without approvals is rejected with %s", async (_name, options, folders) => {
    const { connect, path } = await setUpAcp({}, options);
    const client = await connect();
    const wide = { cwd: path, mcpServers: [], additionalDirectories: folders };
    const { sessionId } = await client.request("session/new", wide);
    for (const modeId of ["auto", "unconfined"]) {
      await expect(client.request("session/set_mode", { sessionId, modeId })).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining("--allow-unconfined"),
      });
    }
    expect(await client.prompt(sessionId, "still there")).toEqual({ stopReason: "end_turn" });
  });

  test("a client can append to the instructions of the agent, but not replace them", async () => {
    const { connect, path, driver } = await setUpAcp({});
    const client = await connect();
    const content = [{ type: "text", text: "Answer in verse." }];
    const setup = { cwd: path, mcpServers: [] };
    const append = { ...setup, systemPrompt: { mode: "append", content } };
    const { sessionId } = await client.request("session/new", append);
    await client.prompt(sessionId, "hello");
    expect(driver.sessions[0]?.settings.developerInstructions).toBe("Answer in verse.");
    const replaced = client.request("session/new", { ...setup, systemPrompt: { mode: "override", content } });
    await expect(replaced).rejects.toMatchObject({ code: -32602 });
  });

  test.each([
    ["more to know", { append: "Answer in verse." }, "Answer in verse."],
    ["a text", "Answer in verse.", "Answer in verse."],
    ["something else", { append: 7 }, undefined],
    ["nothing", { append: "" }, undefined],
  ])("instructions in the _meta key of early clients: %s", async (_name, given, instructions) => {
    const { connect, path, driver } = await setUpAcp({});
    const client = await connect();
    const setup = { cwd: path, mcpServers: [], _meta: { systemPrompt: given } };
    const { sessionId } = await client.request("session/new", setup);
    await client.prompt(sessionId, "hello");
    expect(driver.sessions[0]?.settings.developerInstructions).toBe(instructions);
  });

  test("authenticate checks the login method, and logout is not supported", async () => {
    const account = { account: { type: "apiKey", label: "me" }, requiresLogin: false };
    const { connect } = await setUpAcp({ account }, { acp: { logins: LOGINS } });
    const client = await connect();
    expect(await client.request("authenticate", { methodId: "claude-login" })).toEqual({});
    await expect(client.request("authenticate", { methodId: "unknown" })).rejects.toMatchObject({
      code: -32602,
    });
    await expect(client.request("logout", {})).rejects.toMatchObject({
      message: expect.stringMatching(/claude auth logout/),
    });
  });
});
