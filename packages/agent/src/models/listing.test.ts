import { TestClock } from "@flint/testkit";
import { afterEach, expect, test } from "vitest";
import type { ModelAccess } from "../options.ts";
import { ModelListing } from "./listing.ts";
import { findModel, providersOf } from "./providers.ts";
import { type Answer, FakeEndpoint, NO_RESPONSE, refuse } from "./testing/fake-endpoint.ts";

const open: FakeEndpoint[] = [];
afterEach(async () => {
  for (const endpoint of open.splice(0)) await endpoint.close();
});

async function serving(...answers: Answer[]): Promise<FakeEndpoint> {
  const endpoint = await FakeEndpoint.start(...answers);
  open.push(endpoint);
  return endpoint;
}

/** An address without a listener. */
const NOWHERE = "http://127.0.0.1:1";

function listing(access: Partial<ModelAccess>, clock = new TestClock()): ModelListing {
  const all = { ollama: { baseUrl: NOWHERE }, others: [], ...access };
  return new ModelListing(providersOf(all), clock);
}

const ids = async (list: ModelListing) =>
  (await list.models()).map(({ id, isDefault }) => (isDefault ? `* ${id}` : id));
const names = (...list: string[]) => refuse(200, { object: "list", data: list.map((id) => ({ id })) });

test("has the offline model if nothing is set up", async () => {
  const list = listing({});
  expect(await list.models()).toMatchObject([
    { id: "flint/offline", displayName: "Flint offline model", isDefault: true },
  ]);
  expect(await list.defaultModel()).toBe("flint/offline");
});

test("lists Ollama's models, with the first as default", async () => {
  const ollama = await serving(refuse(200, { models: [{ name: "qwen3:8b" }, { name: "llama4" }] }));
  const list = listing({ ollama: { baseUrl: ollama.url } });
  expect(await ids(list)).toEqual(["* flint/ollama/qwen3:8b", "flint/ollama/llama4", "flint/offline"]);
  expect(await list.defaultModel()).toBe("flint/ollama/qwen3:8b");
  expect(ollama.requests.map(({ path }) => path)).toEqual(["/api/tags"]);
});

test("lists hosted models first and without a request", async () => {
  const broken = await serving(refuse(500, "down"));
  const access = { baseUrl: broken.url, apiKey: "key-1234" };
  const other = { name: "mine", baseUrl: NOWHERE, models: ["a/b:c"] };
  const list = listing({ openai: access, anthropic: access, others: [other] });
  expect(await list.defaultModel()).toBe("flint/anthropic/claude-opus-5-5");
  expect(broken.requests).toEqual([]);
  const listed = await ids(list);
  expect(listed[0]).toBe("* flint/anthropic/claude-opus-5-5");
  expect(listed).toEqual(
    expect.arrayContaining(["flint/openai/gpt-6.1-sol", "flint/mine/a/b:c", "flint/offline"]),
  );
  expect(broken.requests.map(({ headers }) => headers["x-api-key"] ?? headers.authorization).sort()).toEqual([
    "Bearer key-1234",
    "key-1234",
  ]);
});

test("lists further models of a provider, without those that cannot chat", async () => {
  const openai = await serving(names("gpt-6.1-sol", "gpt-7", "whisper-1", "text-embedding-4"));
  const list = listing({ openai: { baseUrl: openai.url, apiKey: "k" } });
  const listed = await ids(list);
  expect(listed.filter((id) => id.includes("gpt-6.1-sol"))).toHaveLength(1);
  expect(listed).toContain("flint/openai/gpt-7");
  expect(listed.join()).not.toMatch(/whisper|embedding/);
});

test("caches a list for a minute and an empty one for moments", async () => {
  const clock = new TestClock();
  const mine = await serving(names(), names("one"), names("two"));
  const list = listing({ others: [{ name: "mine", baseUrl: mine.url }] }, clock);
  const now = async () => (await ids(list)).join(" ");
  expect(await now()).toBe("* flint/mine/first-listed flint/offline");
  await clock.advance(5000);
  expect(await now()).toBe("* flint/mine/one flint/offline");
  await clock.advance(59_000);
  expect(await now()).toBe("* flint/mine/one flint/offline");
  await clock.advance(1000);
  expect(await now()).toBe("* flint/mine/two flint/offline");
});

test("does not wait for a provider that does not answer", async () => {
  const clock = new TestClock();
  const silent = await serving(NO_RESPONSE);
  const list = listing({ ollama: { baseUrl: silent.url } }, clock);
  const requested = silent.next();
  const models = list.models();
  const request = await requested;
  await clock.advance(300);
  expect(await models).toHaveLength(1);
  await request.gone;
});

test("treats malformed lists as empty", async () => {
  for (const answer of [
    refuse(200, "<html>"),
    refuse(200, { data: [7, { id: "" }, null] }),
    refuse(200, "[]"),
  ]) {
    const mine = await serving(answer);
    expect(await ids(listing({ others: [{ name: "mine", baseUrl: mine.url }] }))).toEqual([
      "* flint/mine/first-listed",
      "flint/offline",
    ]);
  }
});

/** Answers by path; everything else is not found. */
const paths =
  (answers: Readonly<Record<string, unknown>>): Answer =>
  (response, request) => {
    const body = answers[request.path];
    (body === undefined ? refuse(404, "no") : refuse(200, body))(response, request);
  };

function modelOf(id: string, access: Partial<ModelAccess>) {
  const model = findModel(id, providersOf({ ollama: { baseUrl: NOWHERE }, others: [], ...access }));
  if (model === undefined) throw new Error("There is no such model.");
  return model;
}

test("asks Ollama once for a model's context window and thinking", async () => {
  const shown = {
    parameters: "stop <eot>\nnum_ctx 16384",
    model_info: { "qwen3.context_length": 40_960 },
    capabilities: ["tools", "thinking"],
  };
  const ollama = await serving(paths({ "/api/show": shown, "/api/ps": { models: [] } }));
  const access = { ollama: { baseUrl: ollama.url } };
  const list = listing(access);
  const model = modelOf("flint/ollama/qwen3", access);
  expect(list.factsNow(model)).toMatchObject({ contextWindow: undefined, efforts: [] });
  const facts = await list.facts(model);
  expect(facts).toMatchObject({ contextWindow: 16_384, efforts: ["none", "low", "medium", "high"] });
  expect(await list.facts(model)).toEqual(facts);
  expect(list.factsNow(model)).toEqual(facts);
  expect(ollama.requests.map(({ path }) => path).sort()).toEqual(["/api/ps", "/api/show"]);
});

test("takes the context that Ollama runs a model with over what the model supports", async () => {
  const ollama = await serving(
    paths({
      "/api/show": { model_info: { "qwen3.context_length": 40_960 } },
      "/api/ps": { models: [{ name: "qwen3", context_length: 4096 }] },
    }),
  );
  const access = { ollama: { baseUrl: ollama.url } };
  const facts = await listing(access).facts(modelOf("flint/ollama/qwen3", access));
  expect(facts.contextWindow).toBe(4096);
});

test("asks LM Studio's own API where the list has no context window", async () => {
  const studio = await serving(
    paths({
      "/v1/models": { data: [{ id: "m" }] },
      "/api/v0/models": { data: [{ id: "m", max_context_length: 32_768, loaded_context_length: 8192 }] },
    }),
  );
  const access = { others: [{ name: "custom", baseUrl: `${studio.url}/v1` }] };
  expect((await listing(access).facts(modelOf("flint/custom/m", access))).contextWindow).toBe(8192);
});

test("asks an endpoint again that could not be asked before", async () => {
  const clock = new TestClock();
  const flaky = await serving(
    refuse(500, "down"),
    paths({ "/v1/models": { data: [{ id: "m", max_model_len: 9000 }] } }),
  );
  const access = { others: [{ name: "custom", baseUrl: `${flaky.url}/v1` }] };
  const list = listing(access, clock);
  const model = modelOf("flint/custom/m", access);
  expect((await list.facts(model)).contextWindow).toBeUndefined();
  await clock.advance(60_000);
  expect((await list.facts(model)).contextWindow).toBe(9000);
});

test("prefers what the user configured over what an endpoint says", async () => {
  const row = { id: "m", context_length: 9000, pricing: { prompt: "0.000001", completion: "0.000002" } };
  const router = await serving(paths({ "/v1/models": { data: [row] } }));
  const access = { others: [{ name: "custom", baseUrl: `${router.url}/v1` }] };
  const model = modelOf("flint/custom/m", access);
  const price = { input: 5, output: 6, cacheRead: 5, cacheWrite: 5 };
  const own = new Map([["custom/m", { contextWindow: 7000, price }]]);
  const providers = providersOf({ ollama: { baseUrl: NOWHERE }, ...access });
  expect(await new ModelListing(providers, new TestClock(), own).facts(model)).toMatchObject({
    ...{ contextWindow: 7000, price },
  });
  expect(await new ModelListing(providers, new TestClock()).facts(model)).toMatchObject({
    contextWindow: 9000,
    price: { input: 1, output: 2, cacheRead: 1, cacheWrite: 1 },
  });
});

test("never replaces a configured endpoint that does not answer", async () => {
  const refused = await serving(refuse(401, "no"), refuse(401, "no"));
  const cases = [
    [{ others: [{ name: "custom", baseUrl: `${NOWHERE}/v1` }] }, "custom", /ECONNREFUSED/],
    [{ ollama: { baseUrl: NOWHERE, isConfigured: true } }, "ollama", /ECONNREFUSED.*ollama serve/],
    [
      { others: [{ name: "gate", baseUrl: refused.url, keyVariable: "GATE_KEY" }] },
      "gate",
      /HTTP 401; GATE_KEY is not set/,
    ],
    [{ others: [{ name: "none", baseUrl: NOWHERE, models: [] }] }, "none", /lists no model\./],
  ] as const;
  for (const [access, name, reason] of cases) {
    const list = listing(access);
    const id = await list.defaultModel();
    expect(id).toBe(`flint/${name}/first-listed`);
    const model = findModel(id, providersOf({ ollama: { baseUrl: NOWHERE }, others: [], ...access }));
    if (model === undefined) throw new Error("There is no such model.");
    const failure = list.resolved(model);
    await expect(failure).rejects.toThrow(reason);
    await expect(failure).rejects.toThrow(`--model ${name}/MODEL, or use --offline`);
  }
});

test("uses the first model of an endpoint that starts later", async () => {
  const mine = await serving(names(), names("one", "two"));
  const access = { ollama: { baseUrl: NOWHERE }, others: [{ name: "mine", baseUrl: mine.url }] };
  const list = listing(access);
  const model = findModel(await list.defaultModel(), providersOf(access));
  if (model === undefined) throw new Error("There is no such model.");
  expect(await list.resolved(model)).toMatchObject({ id: "flint/mine/one", name: "one" });
});
