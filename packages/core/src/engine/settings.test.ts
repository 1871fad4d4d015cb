import { ALL_CAPABILITIES } from "@flint/core/ports";
import type { ConfigOption, ConfigValues, ParamsInput, UserInput } from "@flint/protocol";
import { Gate, ScriptedDriver, settled, testEngine, UnreliableStore, verifies } from "@flint/testkit";
import { describe, expect, test } from "vitest";

const input: UserInput[] = [{ type: "text", text: "go" }];

describe("the overrides of a turn", () => {
  verifies(
    "S0-5, S0-31, S0-32, S0-33",
    "reach the agent (model, folder, policies and selectors) and stay in force for later turns",
    async () => {
      const server = testEngine();
      const client = server.connect();
      const threadId = await client.startThread();
      const { turn } = await client.call("turn/start", {
        threadId,
        input,
        model: "scripted/swift",
        cwd: "/elsewhere",
        approvalPolicy: "never",
        sandboxPolicy: { type: "readOnly" },
        config: { thinking: "true", effort: "high" },
      });
      await client.turnEnd(turn?.id ?? "");
      await client.runTurn(threadId, "again");
      const settings = {
        model: "scripted/swift",
        cwd: "/elsewhere",
        approvalPolicy: "never",
        sandboxPolicy: { type: "readOnly" },
        config: { thinking: "true", effort: "high" },
      };
      expect(server.driver.turns.map((record) => record.settings)).toEqual([settings, settings]);
      expect(client.eventsOf("thread/settings/updated").map((event) => event.data)).toEqual([
        { threadId, settings },
      ]);
      const start = client.order.indexOf("<- turn/start");
      expect(client.order.slice(start, start + 3)).toEqual([
        "<- turn/start",
        "thread/settings/updated",
        "turn/started",
      ]);
      const { thread } = await client.call("thread/read", { threadId });
      expect(thread).toMatchObject({ model: "scripted/swift", cwd: "/elsewhere", modelProvider: "scripted" });
    },
  );

  verifies(
    "S2-16",
    "an agent without a setting that a client sends is named, once for each value",
    async () => {
      const server = testEngine();
      const client = server.connect();
      const threadId = await client.startThread();
      const run = async (chosen: Partial<ParamsInput<"turn/start">>) => {
        const { turn } = await client.call("turn/start", { threadId, input, ...chosen });
        await client.turnEnd(turn?.id ?? "");
      };
      await run({ summary: "auto" });
      for (const chosen of [{ summary: "concise" }, {}, { personality: "friendly" }] as const)
        await run(chosen);
      expect(server.driver.turns.at(-1)?.settings).toMatchObject({
        summary: "concise",
        personality: "friendly",
      });
      expect(client.eventsOf("warning").map(({ data }) => [data.reason, data.message])).toEqual([
        [
          "ignoredSetting",
          'scripted has no setting for summaries of its reasoning: "concise" has no effect.',
        ],
        ["ignoredSetting", 'scripted has no setting for a personality: "friendly" has no effect.'],
      ]);
    },
  );

  verifies(
    "S2-16",
    "a setting that the agent has is passed on without a word, a personality as its selector",
    async () => {
      const personality: ConfigOption = {
        ...{ type: "select", id: "personality", name: "Personality", value: "default" },
        options: ["default", "friendly"].map((id) => ({ id, name: id })),
      };
      const driver = new ScriptedDriver({ selectors: () => [personality] });
      const server = testEngine({
        driver: Object.assign(driver, { passedSettings: () => ["summary"] as const }),
      });
      const client = server.connect();
      const threadId = await client.startThread({ summary: "concise", personality: "friendly" });
      await client.runTurn(threadId, "go");
      const [record] = driver.turns;
      expect(record?.settings).toMatchObject({ summary: "concise", config: { personality: "friendly" } });
      expect(record?.settings.personality).toBeUndefined();
      expect(client.eventsOf("warning")).toEqual([]);
    },
  );

  verifies("S0-20", "are still in force after a restart", async () => {
    const store = new UnreliableStore();
    const first = testEngine({ store });
    const client = first.connect();
    const threadId = await client.startThread();
    const { turn } = await client.call("turn/start", { threadId, input, model: "swift", cwd: "/elsewhere" });
    await client.turnEnd(turn?.id ?? "");
    await first.close();
    const second = testEngine({ store });
    await second.connect().runTurn(threadId, "again");
    const session = second.driver.sessions[0];
    expect(session?.settings).toMatchObject({ model: "scripted/swift", cwd: "/elsewhere" });
    expect(session?.history.map((known) => [known.status, known.items.length])).toEqual([["completed", 2]]);
  });

  test("have no effect, and start no turn, if any of them does not exist; the error names what does", async () => {
    const client = testEngine({ folders: ["/code"] }).connect();
    const threadId = await client.startThread();
    const wrong = [
      [{ model: "gpt" }, { field: "model", known: ["scripted/steady", "scripted/swift"] }],
      [{ model: "scripted/gpt" }, { field: "model", known: ["scripted/steady", "scripted/swift"] }],
      [{ cwd: "/gone" }, { field: "cwd" }],
      [{ config: { nothing: "x" } }, { field: "config", known: ["thinking"] }],
      [{ config: { thinking: "maybe" } }, { field: "thinking", known: ["true", "false"] }],
    ] as const;
    for (const [params, data] of wrong) {
      await expect(client.call("turn/start", { threadId, input, ...params })).rejects.toMatchObject({
        kind: "invalidParams",
        data,
      });
      await expect(client.call("thread/start", params)).rejects.toMatchObject({ kind: "invalidParams" });
      await expect(client.call("thread/resume", { threadId, ...params })).rejects.toMatchObject({
        kind: "invalidParams",
      });
    }
    expect(client.eventsOf("turn/started")).toEqual([]);
    expect(client.eventsOf("thread/settings/updated")).toEqual([]);
    expect((await client.call("thread/list", {})).data).toHaveLength(1);
  });

  test("are not sent as a change if they change nothing", async () => {
    const client = testEngine().connect();
    const threadId = await client.startThread();
    const { turn } = await client.call("turn/start", {
      threadId,
      input,
      model: "scripted/steady",
      cwd: "/code",
    });
    await client.turnEnd(turn?.id ?? "");
    expect(client.eventsOf("thread/settings/updated")).toEqual([]);
  });

  test("open a session of the new agent and close the old one when the model belongs to another", async () => {
    const other = new ScriptedDriver({ id: "other", nativeId: "theirs" });
    const driver = new ScriptedDriver({ nativeId: "ours" });
    const server = testEngine({ driver, otherDrivers: [other] });
    const client = server.connect();
    const threadId = await client.startThread();
    await client.runTurn(threadId, "one");
    const { turn } = await client.call("turn/start", { threadId, input, model: "other/steady" });
    await client.turnEnd(turn?.id ?? "");
    expect(driver.sessions[0]?.closes).toBe(1);
    expect(other.sessions[0]?.history).toHaveLength(1);
    const back = await client.call("turn/start", { threadId, input, model: "scripted/steady" });
    await client.turnEnd(back.turn?.id ?? "");
    expect(driver.sessions[1]?.nativeId).toBe("ours");
    expect((await client.call("thread/read", { threadId })).thread.modelProvider).toBe("scripted");
  });

  test("drop selectors that the new model does not offer", async () => {
    const plain = new ScriptedDriver({ id: "plain", selectors: () => [] });
    const server = testEngine({ otherDrivers: [plain] });
    const client = server.connect();
    const threadId = await client.startThread({ config: { thinking: "true", effort: "high" } });
    const { turn } = await client.call("turn/start", { threadId, input, model: "plain/steady" });
    await client.turnEnd(turn?.id ?? "");
    expect(plain.turns[0]?.settings.config).toEqual({});
  });
});

describe("selectors", () => {
  verifies(
    "S0-74, S0-12, S0-71",
    "are all returned by config/set, since one may make another appear, at any time",
    async () => {
      const gate = new Gate();
      const client = testEngine({ scripts: [[{ wait: gate }]] }).connect();
      const threadId = await client.startThread();
      const turnId = await client.startTurn(threadId, "go");
      await gate.reached;
      const ids = (options: readonly { id: string; value: string }[]) =>
        options.map(({ id, value }) => `${id}=${value}`);
      expect(ids((await client.call("config/list", { threadId })).options)).toEqual(["thinking=false"]);
      const set = await client.call("config/set", { threadId, id: "thinking", value: "true" });
      expect(ids(set.options)).toEqual(["thinking=true", "effort=low"]);
      await settled();
      const answer = client.order.indexOf("<- config/set");
      expect(client.order.slice(answer)).toEqual([
        "<- config/set",
        "thread/settings/updated",
        "config/updated",
      ]);
      expect((await client.waitFor("config/updated")).data).toEqual({ threadId, options: set.options });
      gate.open();
      await client.turnEnd(turnId);
    },
  );

  test("that are set at the same time are both set", async () => {
    const client = testEngine().connect();
    const threadId = await client.startThread({ config: { thinking: "true" } });
    await Promise.all([
      client.call("config/set", { threadId, id: "effort", value: "high" }),
      client.call("config/set", { threadId, id: "thinking", value: "true" }),
      client.call("turn/start", { threadId, input, cwd: "/elsewhere" }),
    ]);
    const { options, cwd } = await client.call("config/read", { threadId });
    expect([options.map(({ value }) => value), cwd]).toEqual([["true", "high"], "/elsewhere"]);
  });

  test("without a thread are the defaults of new threads, including those that depend on others", async () => {
    const server = testEngine();
    const client = server.connect();
    await Promise.all([
      client.call("config/set", { id: "thinking", value: "true" }),
      client.call("config/set", { id: "effort", value: "high" }),
    ]);
    expect((await client.call("config/list", {})).options.map(({ value }) => value)).toEqual([
      "true",
      "high",
    ]);
    await client.runTurn(await client.startThread(), "go");
    expect(server.driver.turns[0]?.settings.config).toEqual({ thinking: "true", effort: "high" });
  });

  test("of another model are shown before it is chosen, with the values that it offers too", async () => {
    const effort = (model: string, { effort: value = "low" }: ConfigValues): ConfigOption => ({
      ...{ type: "select", id: "effort", name: `Effort of ${model}`, value },
      options: ["low", "high"].map((id) => ({ id, name: id })),
    });
    const plain = new ScriptedDriver({ id: "plain", selectors: (...asked) => [effort(...asked)] });
    const client = testEngine({ otherDrivers: [plain] }).connect();
    const threadId = await client.startThread({ config: { thinking: "true", effort: "high" } });
    const model = "plain/swift";
    expect((await client.call("config/list", { model })).options).toEqual([effort(model, {})]);
    expect((await client.call("config/list", { threadId, model })).options).toEqual([
      effort(model, { effort: "high" }),
    ]);
    await expect(client.call("config/list", { model: "plain/none" })).rejects.toMatchObject({
      kind: "invalidParams",
      data: { field: "model" },
    });
    expect(plain.sessions).toEqual([]);
  });

  test("that do not exist are rejected with those that do", async () => {
    const client = testEngine().connect();
    const threadId = await client.startThread();
    for (const of of [{ threadId }, {}]) {
      await expect(client.call("config/set", { ...of, id: "colour", value: "red" })).rejects.toMatchObject({
        kind: "invalidParams",
        data: { known: ["thinking"] },
      });
    }
    await expect(client.call("config/list", { threadId: "unknown" })).rejects.toMatchObject({
      kind: "threadNotFound",
    });
  });
});

describe("reading the configuration", () => {
  verifies(
    "S0-79, S0-22",
    "shows model, folder, policies and selectors with config/read, of a thread or of new ones",
    async () => {
      const store = new UnreliableStore();
      const server = testEngine({ store, approvalPolicy: "always" });
      const client = server.connect();
      const { thread, modelProvider } = await client.call("thread/start", {
        cwd: "/there",
        sandbox: "read-only",
      });
      expect([thread.modelProvider, modelProvider]).toEqual(["scripted", "scripted"]);
      const common = {
        model: "scripted/steady",
        approvalPolicy: "always",
        sandbox: { available: true, mechanism: "fake" },
        durability: "none: this is a test",
      };
      const threadId = thread.id;
      const ofThread = { ...common, cwd: "/there", sandboxPolicy: { type: "readOnly" } };
      expect(await client.call("config/read", { threadId })).toMatchObject(ofThread);
      expect(await client.call("config/read", {})).toMatchObject({
        ...common,
        cwd: "/code",
        sandboxPolicy: { type: "workspaceWrite" },
      });
      await server.close();
      const later = testEngine({ store }).connect();
      expect(await later.call("config/read", { threadId })).toMatchObject({ cwd: "/there" });
    },
  );

  verifies(
    "S0-17, S0-18, S0-69",
    "shows the server with initialize, and the models with model/list",
    async () => {
      const client = testEngine().connect();
      expect(await client.call("initialize", { clientInfo: { name: "me", version: "1" } })).toEqual({
        agentInfo: { name: "flint", version: "0.0.0-test", provider: "scripted" },
        capabilities: { streaming: true, configOptions: true, reasoning: true, plans: true, review: true },
        agents: [
          { id: "scripted", displayName: "scripted", provider: "scripted", capabilities: ALL_CAPABILITIES },
        ],
      });
      expect((await client.call("model/list", {})).data.map((model) => model.id)).toEqual([
        "scripted/steady",
        "scripted/swift",
      ]);
      expect((await client.call("model/list", { limit: 1 })).data).toHaveLength(1);
    },
  );

  verifies(
    "S0-17, S0-18, S0-22, S0-23",
    "provider and capabilities are those of the agent of new threads, and threads have the provider of theirs",
    async () => {
      const silent = { ...ALL_CAPABILITIES, reasoning: false, plans: false };
      const other = Object.assign(new ScriptedDriver({ id: "other" }), {
        provider: (model: string) => (model === "other/swift" ? "swifts" : "anthropic"),
        capabilities: () => silent,
        isPreferred: async () => true,
      });
      const client = testEngine({ otherDrivers: [other] }).connect();
      const info = await client.call("initialize", { clientInfo: { name: "me", version: "1" } });
      expect([info.agentInfo.provider, info.capabilities]).toEqual(["anthropic", silent]);
      expect(info.agents?.map(({ id, provider }) => [id, provider])).toEqual([
        ["scripted", "scripted"],
        ["other", "anthropic"],
      ]);
      const { thread, modelProvider } = await client.call("thread/start", {});
      expect([thread.modelProvider, modelProvider]).toEqual(["anthropic", "anthropic"]);
      const threadId = thread.id;
      const providerAfter = async (params: Partial<ParamsInput<"turn/start">>) => {
        const { turn } = await client.call("turn/start", { threadId, input, ...params });
        await client.turnEnd(turn?.id ?? "");
        return (await client.call("thread/read", { threadId })).thread.modelProvider;
      };
      expect(await providerAfter({ model: "other/swift" })).toBe("swifts");
      expect(await providerAfter({ agent: "scripted" })).toBe("scripted");
      expect(await providerAfter({ agent: "other", model: "steady" })).toBe("anthropic");
      await expect(client.call("turn/start", { threadId, input, agent: "gone" })).rejects.toMatchObject({
        message: 'No agent "gone". Known: scripted, other.',
      });
    },
  );

  test("shows the accounts and MCP servers of the thread's agent [S2-22, S2-28]", async () => {
    const account = { account: { type: "apiKey", label: "mine" }, requiresLogin: true };
    const mcpServers = [{ name: "files", status: "failed", error: "no such program" }] as const;
    const other = new ScriptedDriver({ id: "other", account, mcpServers });
    const client = testEngine({ otherDrivers: [other] }).connect();
    expect(await client.call("account/read", {})).toEqual({
      account: null,
      requiresLogin: false,
      provider: "scripted",
      agent: "scripted",
    });
    expect((await client.call("mcpServerStatus/list", {})).data).toEqual([]);
    const threadId = await client.startThread({ model: "other/steady" });
    expect(await client.call("account/read", { threadId })).toEqual({
      ...account,
      provider: "other",
      agent: "other",
    });
    expect((await client.call("mcpServerStatus/list", { threadId })).data).toEqual(mcpServers);
  });

  test("shows the configured MCP servers before the agent starts, and if it does not report them", async () => {
    const own = { type: "http", name: "docs", url: "http://docs.example", headers: {} } as const;
    const client = testEngine({ mcpServers: [own] }).connect();
    const listed = async (thread: { threadId?: string }) =>
      (await client.call("mcpServerStatus/list", thread)).data;
    const threadId = await client.startThread();
    const notStarted = [{ name: "docs", status: "notStarted" }];
    expect([await listed({}), await listed({ threadId })]).toEqual([notStarted, notStarted]);
    await client.runTurn(threadId, "go");
    expect(await listed({ threadId })).toEqual([{ name: "docs", status: "unreported" }]);
  });
});

describe("turning off approvals and the sandbox at the same time", () => {
  const unconfined = { approvalPolicy: "never", sandbox: "dangerFullAccess" } as const;

  test("is rejected for clients, at once or step by step, unless the server allows it", async () => {
    const client = testEngine().connect();
    const refused = { kind: "invalidParams", message: expect.stringContaining("--allow-unconfined") };
    await expect(client.call("thread/start", unconfined)).rejects.toMatchObject(refused);
    const threadId = await client.startThread({ approvalPolicy: "never" });
    const params = { threadId, input, sandboxPolicy: "dangerFullAccess" } as const;
    await expect(client.call("turn/start", params)).rejects.toMatchObject(refused);
    expect(client.eventsOf("turn/started")).toEqual([]);
  });

  test.each<ParamsInput<"thread/start">>([
    { sandbox: { type: "externalSandbox" } },
    { sandbox: { type: "workspaceWrite", writableRoots: ["/"] } },
    { sandbox: { type: "workspaceWrite", writableRoots: ["/srv", "/home/"] } },
    { sandbox: { type: "workspaceWrite", writableRoots: ["/home/me"] } },
    { sandbox: { type: "workspaceWrite", writableRoots: ["/srv/../home"] } },
    { cwd: "/" },
  ])("is also rejected where the sandbox confines nothing: %j", async (wide) => {
    const client = testEngine({ home: "/home/me" }).connect();
    const refused = { kind: "invalidParams", message: expect.stringContaining("--allow-unconfined") };
    await expect(client.call("thread/start", { approvalPolicy: "never", ...wide })).rejects.toMatchObject(
      refused,
    );
    await client.call("thread/start", { approvalPolicy: "always", ...wide });
  });

  test("does not include a root beside or inside of the home folder", async () => {
    const client = testEngine({ home: "/home/me" }).connect();
    const writableRoots = ["/home/me/other", "/home/meadow", "/srv"];
    const sandbox = { type: "workspaceWrite" as const, writableRoots };
    await client.call("thread/start", { approvalPolicy: "never", sandbox });
  });

  test("is allowed when the server was started for it", async () => {
    const client = testEngine({ allowUnconfined: true }).connect();
    const { thread } = await client.call("thread/start", unconfined);
    const read = await client.call("config/read", { threadId: thread.id });
    expect(read).toMatchObject({ approvalPolicy: "never", sandboxPolicy: { type: "dangerFullAccess" } });
  });
});
