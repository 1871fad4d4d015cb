import { CHAT, FakeEndpoint, MESSAGES, RecordedTurn, settingsIn, stream } from "@flint/agent/testing";
import type { SessionSpec } from "@flint/core/ports";
import { expect, test } from "vitest";
import { builtInDrivers } from "../index.ts";
import { NO_SANDBOX, sessionSpec } from "../testing/session-spec.ts";
import { NativeDriver } from "./driver.ts";

/** An address on which nothing listens. */
const ALONE = { ollama: { baseUrl: "http://127.0.0.1:1" }, others: [] };

const KEY = "sk-very-secret-key";

test("has Flint's own agent by default, with a model that needs no setup", async () => {
  const [driver] = builtInDrivers({ access: ALONE });
  expect(driver?.id).toBe("flint");
  expect(await driver?.models()).toMatchObject([
    { id: "flint/offline", displayName: "Flint offline model", isDefault: true },
  ]);
  expect(await driver?.defaultModel?.()).toBe("flint/offline");
  expect(await driver?.account?.()).toEqual({ account: null, requiresLogin: false });
  expect(await driver?.mcpServers?.()).toEqual([]);
});

test("offers temperature and context length, and ignores unknown values [S0-77]", async () => {
  const driver = new NativeDriver();
  const values = async (config: Record<string, string>) =>
    Object.fromEntries((await driver.options("flint/offline", config)).map(({ id, value }) => [id, value]));
  expect(await values({})).toEqual({ temperature: "0.0", context_length: "16384" });
  expect(await values({ temperature: "0.7", context_length: "99" })).toEqual({
    temperature: "0.7",
    context_length: "16384",
  });
  const [temperature, length] = await driver.options("flint/offline", {});
  expect(temperature?.options.map(({ id }) => id)).toEqual(["0.0", "0.3", "0.7", "1.0"]);
  expect(length?.options.map(({ id }) => id)).toEqual(["4096", "8192", "16384"]);
});

test("prefers a model with a key, and names its provider without the key", async () => {
  const access = { ...ALONE, anthropic: { apiKey: KEY } };
  const driver = new NativeDriver({ access });
  expect(await driver.defaultModel()).toBe("flint/anthropic/claude-opus-5-5");
  expect(await driver.account()).toEqual({
    account: { type: "apiKey", label: "Anthropic" },
    requiresLogin: false,
  });
});

test("accepts full and short model ids, and names what is not set up", async () => {
  const driver = new NativeDriver({ access: { ...ALONE, anthropic: { apiKey: KEY } } });
  expect(driver.qualify("flint/offline")).toBe("flint/offline");
  expect(driver.qualify("anthropic/claude-next")).toBe("flint/anthropic/claude-next");
  expect(driver.qualify("flint/ollama/qwen3:8b")).toBe("flint/ollama/qwen3:8b");
  expect(driver.qualify("gpt")).toBeUndefined();
  expect(() => driver.qualify("openai/gpt-6.1-sol")).toThrow("Set OPENAI_API_KEY to a valid key.");
});

test("keeps a thread's selectors if the provider of its model was removed", async () => {
  const driver = new NativeDriver({ access: ALONE });
  const shown = async (model: string) => (await driver.options(model, {})).map(({ id }) => id);
  expect(await shown("flint/gone/model")).toEqual(["temperature", "context_length"]);
  expect(await shown("flint/openai/gpt-6.1-sol")).toEqual(["context_length", "reasoning_effort"]);
});

function specFor(model: string, more: Partial<SessionSpec> = {}): SessionSpec {
  return sessionSpec({ ...settingsIn("/"), model }, NO_SANDBOX, more);
}

test("runs a turn on the thread's model with its reasoning effort", async () => {
  const endpoint = await FakeEndpoint.start(stream(MESSAGES.answer({ text: "Hello." })));
  const access = { ...ALONE, anthropic: { baseUrl: endpoint.url, apiKey: KEY } };
  const spec = specFor("flint/anthropic/claude-opus-5-5");
  const session = await new NativeDriver({ access }).open(spec);
  const settings = { ...spec.settings, config: { reasoning_effort: "high" } };
  expect(await session.run(new RecordedTurn("Hi", settings))).toEqual({ status: "completed" });
  expect(endpoint.requests.at(-1)?.body).toMatchObject({
    model: "claude-opus-5-5",
    output_config: { effort: "high" },
  });
  await session.close();
  await endpoint.close();
});

test("runs a local model with the temperature of the thread [S0-77]", async () => {
  const endpoint = await FakeEndpoint.start(stream(CHAT.answer({ text: "Hello." })));
  const others = [{ name: "custom", baseUrl: endpoint.url }];
  const spec = specFor("flint/custom/lamp");
  const session = await new NativeDriver({ access: { ...ALONE, others } }).open(spec);
  const settings = { ...spec.settings, config: { temperature: "0.7" } };
  expect(await session.run(new RecordedTurn("Hi", settings))).toEqual({ status: "completed" });
  expect(endpoint.requests.at(-1)?.body).toMatchObject({ model: "lamp", temperature: 0.7 });
  await session.close();
  await endpoint.close();
});

test("fails for a model that is not set up, and says how to set it up", async () => {
  const spec = specFor("flint/openai/gpt-6.1-sol");
  const session = await new NativeDriver({ access: ALONE }).open(spec);
  expect(await session.run(new RecordedTurn("Hi", spec.settings))).toMatchObject({
    status: "failed",
    error: { message: expect.stringContaining("Set OPENAI_API_KEY") },
  });
  await session.close();
});

test("fails a turn if the endpoint is down, with its URL, the reason and a fix", async () => {
  const others = [{ name: "custom", baseUrl: "http://127.0.0.1:1/v1" }];
  const driver = new NativeDriver({ access: { ...ALONE, others } });
  const spec = specFor(await driver.defaultModel());
  const session = await driver.open(spec);
  const turn = new RecordedTurn("run `date`", spec.settings);
  const outcome = await session.run(turn);
  expect(outcome).toMatchObject({
    status: "failed",
    error: {
      message:
        '"custom" at http://127.0.0.1:1/v1 lists no model (connect ECONNREFUSED 127.0.0.1:1). Check the network and the address. You can also name a model with --model custom/MODEL, or use --offline.',
    },
  });
  expect(turn.events).toEqual([]);
  await session.close();
});

test("reports an MCP server that cannot be started once per thread", async () => {
  const mcpServers = [{ type: "stdio", name: "files", command: "files", args: [], env: {} }] as const;
  const spec = specFor("flint/offline", { mcpServers });
  const session = await new NativeDriver({ access: ALONE }).open(spec);
  const reported = async () => {
    const turn = new RecordedTurn("count to 2", spec.settings);
    expect(await session.run(turn)).toEqual({ status: "completed" });
    return turn.events.filter((event) => event.type === "error");
  };
  expect(await reported()).toEqual([
    {
      type: "error",
      willRetry: true,
      error: {
        message: expect.stringMatching(
          /^The MCP server "files" failed, so its tools are not available: .*No sandbox is available/,
        ),
        errorInfo: "Other",
      },
    },
  ]);
  expect(await reported()).toEqual([]);
  await session.close();
});

test("lists the MCP servers of open sessions by unique name", async () => {
  const driver = new NativeDriver({ access: ALONE });
  const mcpServers = [{ type: "stdio", name: "files", command: "files", args: [], env: {} }] as const;
  const sessions = [
    await driver.open(specFor("flint/offline", { mcpServers })),
    await driver.open(specFor("flint/offline", { mcpServers })),
  ];
  expect((await driver.mcpServers()).map(({ name }) => name)).toEqual(["files"]);
  for (const session of sessions) await session.close();
  expect(await driver.mcpServers()).toEqual([]);
});
