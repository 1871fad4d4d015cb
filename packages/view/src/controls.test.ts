import type { ConfigOption } from "@flint/protocol";
import { expect, test } from "vitest";
import { controlsOf, nextValue, problemWith } from "./controls.ts";

const effort: ConfigOption = {
  type: "select",
  id: "effort",
  name: "Effort",
  group: "Thinking",
  options: [
    { id: "low", name: "Low" },
    { id: "high", name: "High", description: "thinks longer" },
  ],
  value: "high",
};
const fast: ConfigOption = { type: "boolean", id: "fast", name: "Fast mode", options: [], value: "true" };
const opus: ConfigOption = { ...effort, id: "opus", name: "", modelIds: ["claude/opus"] };
const bounds = { min: 0, max: 1, step: 0.1 };
const heat: ConfigOption = { ...fast, type: "number", id: "heat", value: "0.3", ...bounds };
const options = [effort, fast, opus, heat];

const shown = (model: string, isRunning = false) => controlsOf(options, { model, isRunning });

test("shows every selector of the model as a control, grouped, none known by name [S0-101]", () => {
  const words = (model: string) => shown(model).map(({ id, kind, shown: text }) => `${id} ${kind} ${text}`);
  expect(words("codex/x")).toEqual(["effort select High", "fast boolean on", "heat number 0.3"]);
  expect(words("claude/opus")).toEqual([
    "effort select High",
    "opus select High",
    "fast boolean on",
    "heat number 0.3",
  ]);
  expect(shown("claude/opus").map(({ label }) => label)).toContain("opus");
});

test("a change during a turn applies from the next turn, unless the agent says otherwise", () => {
  expect(shown("x").every(({ applies }) => applies === "now")).toBe(true);
  expect(shown("x", true).every(({ applies }) => applies === "nextTurn")).toBe(true);
  const atOnce = controlsOf([{ ...fast, _meta: { applies: "now" } }], { model: "x", isRunning: true });
  expect(atOnce[0]?.applies).toBe("now");
});

test("steps through the values of a control", () => {
  const [select, boolean, number] = shown("x");
  expect([select, boolean, number].map((control) => control && nextValue(control, 1))).toEqual([
    "low",
    "false",
    "0.4",
  ]);
  expect(number && nextValue({ ...number, value: "1" }, 1)).toBeUndefined();
  expect(number && nextValue({ ...number, value: "" }, 1)).toBeUndefined();
});

test("says why a value cannot be chosen", () => {
  const [select, boolean, number] = shown("x");
  expect(select && problemWith(select, "huge")).toBe('Effort must be one of low, high, not "huge".');
  expect(select && problemWith(select, "low")).toBeUndefined();
  expect(boolean && problemWith(boolean, "maybe")).toBe("Fast mode must be on or off.");
  expect(number && problemWith(number, "2")).toBe("Fast mode must be at most 1.");
  expect(number && problemWith(number, "warm")).toBe("Fast mode must be a number.");
});
