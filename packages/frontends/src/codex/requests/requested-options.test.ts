import { PassThrough } from "node:stream";
import { streamTransport } from "@flint/rpc/node";
import { scriptedDriver, testEngine, WireClient } from "@flint/testkit";
import { expect, test } from "vitest";
import { ClientConnection } from "../../shared/client-connection.ts";
import { CLIENT_SCRIPTS, fields } from "../../testing/client-scripts.ts";
import { codexFrontend } from "../frontend.ts";

const { initialize, turnEnd } = CLIENT_SCRIPTS.codex;
const SCHEMA = { type: "object", properties: { answer: { type: "string" } }, required: ["answer"] };

/** A Codex client of an engine with a scripted agent. */
async function connected(given = scriptedDriver()) {
  const { engine, driver } = testEngine({ driver: given });
  const [toServer, toClient] = [new PassThrough(), new PassThrough()];
  new ClientConnection(codexFrontend(), engine, streamTransport(toServer, toClient));
  const client = WireClient.over(toClient, toServer);
  await client.request(...initialize);
  const start = async (params: object = {}) => {
    const { thread } = fields(await client.request("thread/start", { cwd: "/code", ...params }));
    return fields(thread);
  };
  const run = async (threadId: unknown, params: object = {}) => {
    const after = client.mark;
    const input = [{ type: "text", text: "go" }];
    await client.request("turn/start", { threadId, input, ...params });
    await client.waitFor((message) => JSON.stringify(message).includes(turnEnd), { after });
  };
  return { client, driver, start, run };
}

test("the schema that a turn is started with reaches the agent, for that turn only", async () => {
  const { driver, start, run } = await connected();
  const { id } = await start();
  await run(id, { outputSchema: SCHEMA });
  await run(id);
  expect(driver.turns.map(({ outputSchema }) => outputSchema)).toEqual([SCHEMA, undefined]);
});

test("the instructions of thread/start and of thread/resume reach the agent", async () => {
  const { client, driver, start, run } = await connected();
  const { id } = await start({ developerInstructions: "Be brief." });
  await run(id);
  await client.request("thread/resume", { threadId: id, developerInstructions: "Be thorough." });
  await run(id);
  const given = driver.turns.map(({ settings }) => settings.developerInstructions);
  expect(given).toEqual(["Be brief.", "Be thorough."]);
});

test("personality and summary reach the agent, for the thread, from a turn on, and by configuration [S2-6] [S2-16]", async () => {
  const { client, driver, start, run } = await connected();
  const { id } = await start({ personality: "friendly" });
  await run(id);
  await run(id, { summary: "concise", personality: "pragmatic" });
  await run(id);
  await client.request("thread/resume", { threadId: id, config: { model_reasoning_summary: "detailed" } });
  await run(id);
  const given = driver.turns.map(({ settings: { personality, summary } }) => [personality, summary]);
  expect(given).toEqual([
    ["friendly", undefined],
    ["pragmatic", "concise"],
    ["pragmatic", "concise"],
    ["pragmatic", "detailed"],
  ]);
  const updates = client.messages.filter(({ method }) => method === "thread/settings/updated");
  expect(updates.map(({ params }) => fields(fields(params).threadSettings))).toMatchObject([
    { personality: "pragmatic", summary: "concise" },
    { personality: "pragmatic", summary: "detailed" },
  ]);
});

test("the effort reaches the agent, by configuration and from a turn on [S2-6] [S2-16]", async () => {
  const options = ["low", "medium", "high"].map((id) => ({ id, name: id }));
  const selector = { type: "select", id: "reasoning_effort", name: "Effort", options, value: "low" } as const;
  const { client, driver, start, run } = await connected(scriptedDriver({ selectors: () => [selector] }));
  const { id } = await start({ config: { model_reasoning_effort: "medium" } });
  await run(id);
  await run(id, { effort: "high" });
  await run(id);
  await client.request("thread/resume", { threadId: id, config: { model_reasoning_effort: "low" } });
  await run(id);
  const given = driver.turns.map(({ settings }) => settings.config.reasoning_effort);
  expect(given).toEqual(["medium", "high", "high", "low"]);
});

test("an ephemeral thread is ephemeral, and is not listed", async () => {
  const { client, start, run } = await connected();
  const [ephemeral, plain] = [await start({ ephemeral: true }), await start()];
  expect([ephemeral.ephemeral, plain.ephemeral]).toEqual([true, false]);
  for (const { id } of [ephemeral, plain]) await run(id);
  const { data } = fields(await client.request("thread/list", {}));
  expect(Array.isArray(data) ? data.map((thread) => fields(thread).id) : data).toEqual([plain.id]);
});

test("a fork of a thread can be ephemeral", async () => {
  const { client, start, run } = await connected();
  const { id } = await start();
  await run(id);
  const { thread } = fields(await client.request("thread/fork", { threadId: id, ephemeral: true }));
  expect(fields(thread).ephemeral).toBe(true);
});

test("the goal of a Codex client is pursued after its turn, until it is complete", async () => {
  const { client, driver, start, run } = await connected();
  driver.enqueue([{ text: "A start." }], [{ text: "GOAL REACHED" }]);
  const { id } = await start();
  const set = await client.request("thread/goal/set", { threadId: id, objective: "Green tests" });
  expect(fields(fields(set).goal)).toMatchObject({ objective: "Green tests", status: "active" });
  await run(id);
  const goal = async () => fields(fields(await client.request("thread/goal/get", { threadId: id })).goal);
  await expect.poll(async () => (await goal()).status, { timeout: 10_000 }).toBe("complete");
  expect(driver.turns).toHaveLength(2);
});

test.each([
  [
    "codex",
    [{ name: "steer", stage: "beta", displayName: "Steering", enabled: true, defaultEnabled: false }],
  ],
  ["other", []],
])(
  "experimentalFeature/list has the features of the agent behind, if that is Codex: %s [S2-29]",
  async (id, listed) => {
    const feature = { name: "steer", stage: "beta", displayName: "Steering", enabled: true };
    const features = async () => [{ ...feature, defaultEnabled: false }];
    const { client } = await connected(Object.assign(scriptedDriver({ id }), { features }));
    expect(await client.request("experimentalFeature/list", {})).toEqual({
      data: listed.map((each) => ({ ...each, description: null, announcement: null })),
      nextCursor: null,
    });
  },
);

const SKILL = {
  name: "lamps",
  description: "Changes lamps.",
  path: "/s/SKILL.md",
  scope: "user",
  enabled: true,
};

test("skills, features and the account of a second Codex are those of Codex, whatever its name", async () => {
  const agent = Object.assign(scriptedDriver({ id: "work" }), {
    kind: "codex",
    skills: async (cwd: string) => ({ cwd, skills: [SKILL], errors: [] }),
    features: async () => [{ name: "steer", stage: "beta", enabled: true, defaultEnabled: false }],
    account: async () => ({ account: { type: "chatgpt", label: "ann@example.org" }, requiresLogin: false }),
  });
  const { client } = await connected(agent);
  const { data } = fields(await client.request("skills/list", { cwds: ["/a"] }));
  expect(data).toMatchObject([{ cwd: "/a", skills: [{ name: "lamps" }] }]);
  expect(await client.request("experimentalFeature/list", {})).toMatchObject({ data: [{ name: "steer" }] });
  const { account } = fields(await client.request("account/read", {}));
  expect(account).toMatchObject({ type: "chatgpt", email: "ann@example.org" });
});

test.each([
  ["codex", [{ ...SKILL, interface: { displayName: "Lamps", shortDescription: null }, pluginId: null }]],
  ["other", []],
])(
  "skills/list has the skills of the agent behind in each folder, if that is Codex: %s [S2-84]",
  async (id, listed) => {
    const skills = async (cwd: string) => ({
      ...{ cwd, skills: cwd === "/a" ? [{ ...SKILL, displayName: "Lamps" }] : [] },
      errors: [],
    });
    const { client } = await connected(Object.assign(scriptedDriver({ id }), { skills }));
    const { data } = fields(await client.request("skills/list", { cwds: ["/a", "/b"] }));
    expect(data).toEqual([
      { cwd: "/a", skills: listed, errors: [] },
      { cwd: "/b", skills: [], errors: [] },
    ]);
  },
);

const HOOK = { key: "h", eventName: "preToolUse", source: "user", enabled: true, matcher: null };
const PLUGIN = { id: "lamps@house", name: "lamps", installed: false, enabled: false, keywords: ["light"] };

test.each([
  [
    "codex",
    [HOOK],
    [{ name: "house", path: "/m.json", interface: null, plugins: [PLUGIN] }],
    ["lamps@house"],
  ],
  ["other", [], [], []],
])(
  "hooks and plugins are those of the agent behind, if that is Codex: %s [S2-29]",
  async (id, hooks, marketplaces, featuredPluginIds) => {
    const agent = Object.assign(scriptedDriver({ id }), {
      hooks: async (cwd: string) => ({
        ...{ cwd, warnings: [], errors: [] },
        hooks: [{ name: "h", event: "preToolUse", source: "user", enabled: true, meta: HOOK }],
      }),
      plugins: async () => ({
        data: [
          {
            ...{ name: "house", path: "/m.json", meta: { interface: null } },
            plugins: [{ id: PLUGIN.id, name: "lamps", installed: false, enabled: false, meta: PLUGIN }],
          },
        ],
        errors: [],
        featured: [PLUGIN.id],
      }),
    });
    const { client } = await connected(agent);
    expect(await client.request("hooks/list", { cwds: ["/a"] })).toEqual({
      data: [{ cwd: "/a", hooks, warnings: [], errors: [] }],
    });
    expect(await client.request("plugin/list", {})).toEqual({
      ...{ marketplaces, marketplaceLoadErrors: [], featuredPluginIds },
    });
    expect(await client.request("plugin/installed", {})).toEqual({ marketplaces, marketplaceLoadErrors: [] });
  },
);
