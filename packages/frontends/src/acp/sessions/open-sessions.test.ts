import { Gate } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { acpBench } from "../testing/setup.ts";

const NO_SESSIONS = ["nope", "", "../../etc/passwd", "a\0b", "01a1e32f-3b40-7000-a891-b878de620a27"];

describe("sessions at the ACP door", () => {
  test("initialize tells what Flint can, also to a client that tells nothing about itself [S3-2, S3-3, S3-4, S3-5, S3-6, S3-7]", async () => {
    const { connect } = await acpBench({});
    const client = await connect();
    const hello = await client.request("initialize", { protocolVersion: 1 });
    expect(hello).toMatchObject({
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
    expect(hello.authMethods?.[0]).toEqual({
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

  test("session/load tells the whole history before its answer, also of a session of another client [S3-6, S3-41]", async () => {
    const { connect, path } = await acpBench({
      scripts: [[{ reasoning: "hm" }, { text: "hello" }, { command: "ls", output: ["x\n"] }]],
    });
    const first = await connect();
    const sessionId = await first.begin(path);
    await first.prompt(sessionId, "greet me");
    const second = await connect();
    const before = second.wire.length;
    await second.request("session/load", { sessionId, cwd: path, mcpServers: [] });
    const told = second.wire
      .slice(before)
      .map(({ params, result }) => Object(Object(params).update).sessionUpdate ?? (result ? "answer" : "?"));
    expect(told).toEqual(
      ["user_message_chunk", "agent_thought_chunk", "agent_message_chunk", "tool_call", "answer"].concat(
        told.slice(5),
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

  test("session/resume tells nothing of the past and takes the next prompt", async () => {
    const { connect, path } = await acpBench({ scripts: [[{ text: "hello" }], [{ text: "again" }]] });
    const first = await connect();
    const sessionId = await first.begin(path);
    await first.prompt(sessionId, "greet me");
    const second = await connect();
    await second.request("session/resume", { sessionId, cwd: path });
    expect(await second.prompt(sessionId, "and again")).toEqual({ stopReason: "end_turn" });
    expect(second.said).toBe("again");
    expect(second.of("user_message_chunk")).toEqual([]);
    expect(first.of("user_message_chunk")).toMatchObject([{ content: { type: "text", text: "and again" } }]);
  });

  test("session/load and session/resume tell how full the context is and what the session cost so far", async () => {
    const cost = { amount: 0.5, currency: "USD" };
    const usage = { usage: { inputTokens: 10, outputTokens: 5 }, modelContextWindow: 1000, cost };
    const { connect, path } = await acpBench({ scripts: [[{ text: "hello" }, usage]] });
    const first = await connect();
    const sessionId = await first.begin(path);
    await first.prompt(sessionId, "greet me");
    for (const method of ["session/load", "session/resume"]) {
      const late = await connect();
      await late.request(method, { sessionId, cwd: path, mcpServers: [] });
      expect(late.of("usage_update")).toEqual([
        { sessionUpdate: "usage_update", used: 15, size: 1000, cost },
      ]);
    }
  });

  test("session/list pages through the sessions of a folder, with titles [S3-5]", async () => {
    const { connect, path } = await acpBench({});
    const client = await connect();
    const sessionId = await client.begin(path);
    await client.prompt(sessionId, "a title\nand more");
    const { sessions } = await client.request("session/list", { cwd: path });
    expect(sessions).toMatchObject([
      { sessionId, cwd: path, title: "a title and more", updatedAt: expect.stringMatching(/Z$/) },
    ]);
    expect(await client.request("session/list", { cwd: "/elsewhere" })).toEqual({ sessions: [] });
  });

  test("session/delete removes a session; session/close leaves it, and a prompt then needs it opened again", async () => {
    const { connect, path } = await acpBench({});
    const client = await connect();
    const sessionId = await client.begin(path);
    await client.request("session/close", { sessionId });
    await expect(client.prompt(sessionId, "hello")).rejects.toMatchObject({ code: -32002 });
    await client.request("session/resume", { sessionId, cwd: path });
    expect(await client.prompt(sessionId, "hello")).toEqual({ stopReason: "end_turn" });
    await client.request("session/delete", { sessionId });
    expect(await client.request("session/list", {})).toEqual({ sessions: [] });
    await expect(client.prompt(sessionId, "hello")).rejects.toMatchObject({ code: -32002 });
  });

  test("closing a session stops its work if nobody else follows it, and lets it go on otherwise", async () => {
    const wait = new Gate();
    const { connect, path } = await acpBench({ scripts: [[{ wait }, { text: "done" }]] });
    const first = await connect();
    const second = await connect();
    const sessionId = await first.begin(path);
    const answer = first.prompt(sessionId, "go");
    await wait.reached;
    await second.request("session/resume", { sessionId, cwd: path });
    await first.request("session/close", { sessionId });
    expect(await answer).toEqual({ stopReason: "cancelled" });
    wait.open();
    await second.until(() => (second.said === "done" ? true : undefined));
  });

  test.each(NO_SESSIONS)("the session id %j is not found, whatever is asked about it", async (sessionId) => {
    const { connect, path } = await acpBench({});
    const client = await connect();
    const place = { cwd: path, mcpServers: [] };
    const prompt = [{ type: "text", text: "x" }];
    const asked: [string, object][] = [
      ["session/load", place],
      ["session/resume", place],
      ["session/prompt", { prompt }],
      ["session/set_mode", { modeId: "ask" }],
      ["session/fork", place],
      ["session/status", {}],
      ["_session/steering", { prompt }],
    ];
    for (const [method, params] of asked) {
      const refused = client.request(method, { sessionId, ...params });
      await expect(refused, method).rejects.toMatchObject({
        code: -32002,
        message: expect.stringMatching(/^Resource not found/),
      });
    }
  });

  test("unknown methods, also extensions, are refused with -32601 and wrong params with -32602", async () => {
    const { connect } = await acpBench({});
    const client = await connect();
    await expect(client.request("no/such/method", {})).rejects.toMatchObject({ code: -32601 });
    await expect(client.request("_nobody/extension", {})).rejects.toMatchObject({ code: -32601 });
    await expect(client.request("session/new", { cwd: "src", mcpServers: [] })).rejects.toMatchObject({
      code: -32602,
    });
    await expect(client.request("session/new", { cwd: "/" })).rejects.toMatchObject({ code: -32602 });
  });

  test("a session can be forked, named and looked at [S3-5]", async () => {
    const { connect, path } = await acpBench({});
    const client = await connect();
    const sessionId = await client.begin(path);
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

  test("MCP servers of the client reach the agents of its session only, and their keys no log [S3-4]", async () => {
    const { connect, path, driver } = await acpBench({ scripts: (text) => [{ text }] });
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
    expect(client.said).toBe("tell [redacted:secret] and [redacted:secret]");
    await client.prompt(await client.begin(path), "other");
    expect(driver.sessions[1]?.mcpServers).toEqual([]);
    const sse = [{ type: "sse", name: "old", url: "https://example.org/sse", headers: [] }];
    const refused = client.request("session/new", { cwd: path, mcpServers: sse });
    await expect(refused).rejects.toMatchObject({
      code: -32602,
      message: expect.stringMatching(/old speaks sse/),
    });
  });

  test("further folders may be written in, unless nothing may be written", async () => {
    const { connect, path, driver } = await acpBench({});
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
    "%s that fails leaves an open session as it was, also what is asked and waited for in it",
    async (method) => {
      const { connect, path } = await acpBench({ scripts: [[{ command: "ls" }, { text: "done" }]] });
      const answers = [new Gate(), new Gate()];
      const client = await connect({
        permission: async () => {
          await answers[client.permissions.length - 1]?.wait();
          return "allow_once";
        },
      });
      const sessionId = await client.begin(path);
      const answer = client.prompt(sessionId, "go");
      await answers[0]?.reached;
      const failed = client.request(method, { sessionId, cwd: `${path}/none`, mcpServers: [] });
      await expect(failed).rejects.toMatchObject({ code: -32602 });
      await answers[1]?.reached;
      answers[1]?.open();
      expect(await answer).toEqual({ stopReason: "end_turn" });
      expect(client.said).toBe("done");
      answers[0]?.open();
    },
  );

  test.each(["session/load", "session/resume"])("%s that fails opens nothing", async (method) => {
    const { connect, path } = await acpBench({ scripts: (text) => [{ text }] });
    const first = await connect();
    const sessionId = await first.begin(path);
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

  test("a folder around everything is refused where nobody is asked, and no session is left of it", async () => {
    const { connect, path } = await acpBench(
      {},
      { approvalPolicy: "never", sandboxPolicy: { type: "workspaceWrite" } },
    );
    const client = await connect();
    const wide = { cwd: path, mcpServers: [], additionalDirectories: ["/"] };
    const refusal = { code: -32602, message: expect.stringContaining("--allow-unconfined") };
    await expect(client.request("session/new", wide)).rejects.toMatchObject(refusal);
    expect(await client.request("session/list", {})).toEqual({ sessions: [] });
    const sessionId = await client.begin(path);
    await client.prompt(sessionId, "hello");
    await expect(client.request("session/fork", { ...wide, sessionId })).rejects.toMatchObject(refusal);
    expect((await client.request("session/list", {})).sessions).toMatchObject([{ sessionId }]);
    await expect(client.request("session/load", { ...wide, sessionId })).rejects.toMatchObject(refusal);
    expect(await client.prompt(sessionId, "still there")).toEqual({ stopReason: "end_turn" });
  });

  test.each([
    ["a folder around everything", {}, ["/"]],
    ["a sandbox that is not Flint's", { sandboxPolicy: { type: "externalSandbox" } }, []],
  ] as const)("a mode that asks nothing cannot be chosen with %s", async (_name, options, folders) => {
    const { connect, path } = await acpBench({}, options);
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

  test("a client may add to the instructions of the agent, and not replace them", async () => {
    const { connect, path, driver } = await acpBench({});
    const client = await connect();
    const content = [{ type: "text", text: "Answer in verse." }];
    const place = { cwd: path, mcpServers: [] };
    const append = { ...place, systemPrompt: { mode: "append", content } };
    const { sessionId } = await client.request("session/new", append);
    await client.prompt(sessionId, "hello");
    expect(driver.sessions[0]?.settings.developerInstructions).toBe("Answer in verse.");
    const replaced = client.request("session/new", { ...place, systemPrompt: { mode: "override", content } });
    await expect(replaced).rejects.toMatchObject({ code: -32602 });
  });

  test.each([
    ["more to know", { append: "Answer in verse." }, "Answer in verse."],
    ["a text", "Answer in verse.", "Answer in verse."],
    ["something else", { append: 7 }, undefined],
    ["nothing", { append: "" }, undefined],
  ])("instructions under the key that came before the protocol had one: %s", async (_name, given, heard) => {
    const { connect, path, driver } = await acpBench({});
    const client = await connect();
    const place = { cwd: path, mcpServers: [], _meta: { systemPrompt: given } };
    const { sessionId } = await client.request("session/new", place);
    await client.prompt(sessionId, "hello");
    expect(driver.sessions[0]?.settings.developerInstructions).toBe(heard);
  });

  test("an account can be asked for, and there is nothing to log out of", async () => {
    const account = { account: { type: "apiKey", label: "me" }, requiresLogin: false };
    const { connect } = await acpBench({ account });
    const client = await connect();
    expect(await client.request("authenticate", { methodId: "claude-login" })).toEqual({});
    await expect(client.request("authenticate", { methodId: "nobody" })).rejects.toMatchObject({
      code: -32602,
    });
    await expect(client.request("logout", {})).rejects.toMatchObject({
      message: expect.stringMatching(/claude auth logout/),
    });
  });
});
