import { expect, test } from "vitest";
import { ollamaWindow, settingsInList, settingsInRow } from "./endpoint-facts.ts";

test.each([
  ["vLLM", { id: "m", max_model_len: 32_768 }, 32_768],
  ["llama.cpp", { id: "m", meta: { n_ctx_train: 131_072, n_ctx: 4096 } }, 4096],
  ["LM Studio", { id: "m", max_context_length: 131_072, loaded_context_length: 4096 }, 4096],
  ["OpenRouter", { id: "m", context_length: 200_000, top_provider: { context_length: 128_000 } }, 128_000],
  ["Groq", { id: "m", context_window: 8192 }, 8192],
  ["an endpoint that says nothing", { id: "m" }, undefined],
  ["nonsense", { id: "m", context_length: -5, max_model_len: "many" }, undefined],
])("reads the context window of %s", (_name, row, window) => {
  expect(settingsInRow(row).contextWindow).toBe(window);
});

test("reads OpenRouter's prices, and no variable ones", () => {
  const pricing = { prompt: "0.000003", completion: "0.000015", input_cache_read: "0.0000003" };
  expect(settingsInRow({ pricing }).price).toEqual({ input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3 });
  expect(settingsInRow({ pricing: { prompt: "-1", completion: "-1" } })).toEqual({});
  expect(settingsInRow({ pricing: { prompt: 3, completion: 15 } })).toEqual({});
});

test("survives lists of any shape", () => {
  for (const list of [undefined, null, 5, {}, { data: "x" }, [null, 5, {}]])
    expect(settingsInList(list, 10).size).toBe(0);
  expect(settingsInList({ models: [{ name: "a", context_length: 5 }, "b"] }, 10)).toEqual(
    new Map([["a", { contextWindow: 5 }]]),
  );
  expect(ollamaWindow("m", "no list", 7)).toBeUndefined();
});
