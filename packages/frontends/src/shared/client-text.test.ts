import { expect, test } from "vitest";
import { modelDescription } from "./client-text.ts";

const model = { id: "flint/openai/gpt", displayName: "GPT", isDefault: false };

test.each([
  [{}, undefined],
  [{ description: "By OpenAI." }, "By OpenAI."],
  [{ meta: { other: 1 } }, undefined],
  [{ description: "Fast.", meta: { contextWindow: 400_000 } }, "Fast. 400K tokens of context."],
  [
    { meta: { contextWindow: 1_050_000, price: { input: 1.25, output: 10 } } },
    "1.1M tokens of context. $1.25 in, $10 out per million tokens.",
  ],
])("a picker shows what is known of a model: %j [S0-70]", (fields, text) => {
  expect(modelDescription({ ...model, ...fields })).toBe(text);
});
