import { expect, test } from "vitest";
import { choicesOf, claudeModel, modelRows, qualifiedModel, selectors } from "./models.ts";

test("[S0-75] offers reasoning effort and thinking tokens, both chosen by Claude by default", () => {
  const [effort, thinking] = selectors("claude/opus", { max_thinking_tokens: "16000" }, []);
  expect(effort).toMatchObject({ id: "reasoning_effort", value: "default" });
  expect(effort?.options.map(({ id }) => id)).toEqual(["default", "low", "medium", "high"]);
  expect(thinking).toMatchObject({ id: "max_thinking_tokens", value: "16000" });
  expect(thinking?.options.map(({ id }) => id)).toEqual(["default", "8000", "16000", "32000"]);
});

test("ignores a value that is not offered", () => {
  const [effort] = selectors("claude/opus", { reasoning_effort: "heroic" }, []);
  expect(effort?.value).toBe("default");
});

test("translates the values of a thread to Claude's settings", () => {
  expect(choicesOf({})).toEqual({ effort: undefined, thinkingTokens: undefined, mode: "default" });
  const config = { reasoning_effort: "high", max_thinking_tokens: "8000", mode: "plan" };
  expect(choicesOf(config)).toEqual({ effort: "high", thinkingTokens: 8000, mode: "plan" });
});

test("lists models by their aliases before Claude was started", () => {
  const ids = ["claude/default", "claude/opus", "claude/sonnet", "claude/haiku"];
  expect(modelRows([]).map(({ id }) => id)).toEqual(ids);
  expect(modelRows([]).filter(({ isDefault }) => isDefault)).toHaveLength(1);
  expect(ids.map(claudeModel)).toEqual([undefined, "opus", "sonnet", "haiku"]);
});

test.each([
  ["claude/anything", "claude/anything"],
  ["opus", "claude/opus"],
  ["claude-opus-9[1m]", "claude/claude-opus-9[1m]"],
  ["default", undefined],
  ["gpt-9", undefined],
  ["claude/", undefined],
])("resolves the name %s to the model %s", (name, id) => {
  expect(qualifiedModel(name)).toBe(id);
});
