import { expect, test } from "vitest";
import type { ModelAccess } from "../options.ts";
import { findModel, isLoopback, providersOf, requireConfigured } from "./providers.ts";

const ACCESS: ModelAccess = { ollama: { baseUrl: "http://127.0.0.1:11434" }, others: [] };

const addresses = (access: Partial<ModelAccess>) =>
  Object.fromEntries(providersOf({ ...ACCESS, ...access }).map(({ id, baseUrl }) => [id, baseUrl]));

test("accepts URLs in the usual forms", () => {
  expect(addresses({})).toEqual({
    anthropic: "https://api.anthropic.com/v1",
    openai: "https://api.openai.com/v1",
    ollama: "http://127.0.0.1:11434/v1",
  });
  expect(
    addresses({
      anthropic: { baseUrl: "https://proxy.example/anthropic/" },
      openai: { baseUrl: "http://127.0.0.1:8080" },
      ollama: { baseUrl: "0.0.0.0:11434" },
      others: [
        { name: "one", baseUrl: "https://one.example/openai/v1/" },
        { name: "two", baseUrl: "https://two.example/custom" },
      ],
    }),
  ).toEqual({
    anthropic: "https://proxy.example/anthropic/v1",
    openai: "http://127.0.0.1:8080/v1",
    ollama: "http://127.0.0.1:11434/v1",
    one: "https://one.example/openai/v1",
    two: "https://two.example/custom",
  });
});

test("finds a model by provider and name, whatever the name contains", () => {
  const others = [
    { name: "gate", baseUrl: "https://gate.example/v1" },
    { name: "gate/eu", baseUrl: "https://eu.gate.example/v1" },
    { name: "openai", baseUrl: "https://attacker.example/v1" },
  ];
  const providers = providersOf({ ...ACCESS, others });
  const found = (id: string) => {
    const model = findModel(id, providers);
    return model && [model.id, model.provider.baseUrl, model.name];
  };
  expect(found("flint/ollama/qwen3:8b-q4_K_M")).toEqual([
    "flint/ollama/qwen3:8b-q4_K_M",
    "http://127.0.0.1:11434/v1",
    "qwen3:8b-q4_K_M",
  ]);
  expect(found("gate/maker/model:free")).toEqual([
    "flint/gate/maker/model:free",
    "https://gate.example/v1",
    "maker/model:free",
  ]);
  expect(found("flint/gate/eu/model")?.[1]).toBe("https://eu.gate.example/v1");
  expect(found("openai/gpt-6.1-sol")?.[1]).toBe("https://api.openai.com/v1");
  expect([found("flint/openai/"), found("flint/unknown/x"), found("gpt"), found("")]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test("names the missing variable of a provider that is not set up", () => {
  const model = findModel("flint/openai/gpt-6.1-sol", providersOf(ACCESS));
  expect(() => model && requireConfigured(model)).toThrow(
    'OpenAI is not set up for the model "gpt-6.1-sol". Set OPENAI_API_KEY to a valid key.',
  );
});

test("rejects an invalid URL at once with its setting", () => {
  const others = [
    { name: "custom", baseUrl: "not a url" },
    { name: "gate", baseUrl: "ftp://gate.example" },
  ];
  const providers = providersOf({ ...ACCESS, others, openai: { apiKey: "k", baseUrl: "api.example" } });
  const check = (id: string) => () => {
    const model = findModel(id, providers);
    if (model !== undefined) requireConfigured(model);
  };
  expect(check("custom/x")).toThrow(
    'The address of "custom", "not a url", is not an http or https URL. Set FLINT_MODEL_URL',
  );
  expect(check("gate/x")).toThrow("Set base_url of [providers.gate]");
  expect(check("openai/x")).toThrow("Set OPENAI_BASE_URL");
});

test("names the variable of a rejected key", () => {
  const baseUrl = "https://x.example/v1";
  const others = [
    { name: "a", baseUrl, apiKey: "k", keyVariable: "A_KEY" },
    { name: "b", baseUrl, keyVariable: "B_KEY" },
    { name: "c", baseUrl },
  ];
  const ways = providersOf({ ...ACCESS, others }).map(({ id, authHint }) => [id, authHint]);
  expect(Object.fromEntries(ways)).toMatchObject({
    a: "Check the key in A_KEY.",
    b: "B_KEY is not set: set it to a valid key.",
    c: "Name the variable with its key in api_key_env of [providers.c].",
  });
});

test("recognizes loopback URLs", () => {
  expect(["http://localhost:1", "http://127.8.0.1", "http://[::1]:8"].every(isLoopback)).toBe(true);
  expect(["http://127.0.0.1.example.com", "https://example.com", "malformed"].some(isLoopback)).toBe(false);
});
