import { expect, test } from "vitest";
import { factsOf, type ProviderKind, thinkingFacts } from "./model-facts.ts";
import { selectorsOf } from "./selectors.ts";

const offered = (kind: ProviderKind, name: string) =>
  Object.fromEntries(
    selectorsOf(factsOf(kind, name)).map(({ id, values, defaultValue }) => [
      id,
      `${values.join("|")} = ${defaultValue}`,
    ]),
  );

const UP_TO_128K = "4096|8192|16384|32768|65536|131072";

test("offers the contexts and efforts of a hosted model", () => {
  expect(offered("anthropic", "claude-opus-5-5")).toEqual({
    context_length: `${UP_TO_128K}|262144|524288 = 131072`,
    reasoning_effort: "low|medium|high = medium",
  });
  expect(offered("anthropic", "claude-haiku-4-5-20251001")).toEqual({
    temperature: "0.0|0.3|0.7|1.0 = 0.0",
    context_length: `${UP_TO_128K} = 131072`,
    reasoning_effort: "none|low|medium|high = none",
  });
  expect(offered("openai", "gpt-4o")).toEqual({
    temperature: "0.0|0.3|0.7|1.0 = 0.0",
    context_length: "4096|8192|16384|32768|65536 = 65536",
  });
});

test.each([
  ["gpt-6.1-sol", "low|medium|high = medium"],
  ["gpt-5", "minimal|low|medium|high = medium"],
  ["gpt-5.2", "none|low|medium|high = medium"],
  ["gpt-5.3-codex", "low|medium|high = medium"],
  ["o3-mini", "low|medium|high = medium"],
  ["gpt-5-chat-latest", undefined],
  ["gpt-4.1", undefined],
])("%s has the efforts %s", (name, efforts) => {
  expect(offered("openai", name).reasoning_effort).toBe(efforts);
  expect("temperature" in offered("openai", name)).toBe(efforts === undefined);
});

test("has a context of 128K for a model of which nothing is known", () => {
  expect(offered("compatible", "maker/model")).toEqual({
    temperature: "0.0|0.3|0.7|1.0 = 0.0",
    context_length: `${UP_TO_128K} = 131072`,
  });
  expect(offered("ollama", "qwen3:8b").context_length).toBe(`${UP_TO_128K} = 131072`);
  expect(offered("compatible", "openai/gpt-5").reasoning_effort).toBe("minimal|low|medium|high = medium");
});

test("offers efforts for a local model that can reason", () => {
  const facts = thinkingFacts({ ...factsOf("ollama", "qwen3"), contextWindow: 2048 }, "qwen3");
  expect(selectorsOf(facts).map(({ id, values }) => [id, values.join("|")])).toEqual([
    ["temperature", "0.0|0.3|0.7|1.0"],
    ["context_length", "4096"],
    ["reasoning_effort", "none|low|medium|high"],
  ]);
});
