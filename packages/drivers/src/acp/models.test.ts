import { expect, test } from "vitest";
import { acpProfile } from "./descriptor.ts";
import {
  asOptions,
  modelsOf,
  NO_SELECTORS,
  presetSelectors,
  selectorsOf,
  withOptions,
  withValue,
} from "./models.ts";
import { GENERIC } from "./profile.ts";

const GROUPED = {
  ...{ id: "mode", name: "Mode", category: "mode", type: "select", currentValue: "plan" },
  options: [
    { group: "a", name: "A", options: [{ value: "ask", name: "Ask", description: "Asks" }] },
    { group: "b", name: "B", options: [{ value: "free", name: "Free" }] },
  ],
};
const MODEL = {
  ...{ id: "llm", name: "Model", category: "model", type: "select", currentValue: "m/1" },
  options: [
    { value: "m/1", name: "One" },
    { value: "m/2", name: "Two", description: "Larger" },
  ],
};

test("reads grouped options, booleans and a value that is not listed", () => {
  const { others } = selectorsOf({
    configOptions: [GROUPED, { id: "loud", type: "boolean", currentValue: true }],
  });
  expect(others.map(({ option }) => option)).toEqual([
    {
      ...{ type: "select", id: "mode", name: "Mode", category: "mode", value: "plan" },
      options: [
        { id: "ask", name: "Ask", description: "Asks" },
        { id: "free", name: "Free" },
        { id: "plan", name: "plan" },
      ],
    },
    {
      ...{ type: "boolean", id: "loud", name: "loud", value: "true" },
      options: [
        { id: "true", name: "On" },
        { id: "false", name: "Off" },
      ],
    },
  ]);
});

const AGENT = acpProfile("x", []);

test("lists the models of their option, and always the agent's own choice", () => {
  const selectors = selectorsOf({ configOptions: [MODEL] });
  expect(modelsOf(AGENT, selectors).map(({ id, isDefault }) => [id, isDefault])).toEqual([
    ["x/default", true],
    ["x/m/1", false],
    ["x/m/2", false],
  ]);
  expect(modelsOf(AGENT, NO_SELECTORS)).toHaveLength(1);
});

test("uses the older fields only where no option replaces them", () => {
  const modes = { currentModeId: "old", availableModes: [{ id: "old", name: "Old" }] };
  const models = { currentModelId: "m", availableModels: [{ modelId: "m", name: "M" }] };
  expect(selectorsOf({ modes, models }).others).toMatchObject([{ kind: "mode", option: { value: "old" } }]);
  const both = selectorsOf({ modes, models, configOptions: [GROUPED, MODEL] });
  expect(both.others).toMatchObject([{ kind: "option", option: { value: "plan" } }]);
  expect(both.model).toMatchObject({ kind: "option", option: { id: "llm" } });
});

test("replaces the options with an update, and keeps the older fields", () => {
  const models = { currentModelId: "m", availableModels: [{ modelId: "m", name: "M" }] };
  const known = selectorsOf({ models, configOptions: [GROUPED] });
  const next = withOptions(known, [{ ...GROUPED, currentValue: "ask" }]);
  expect(next.model).toEqual(known.model);
  expect(next.others).toMatchObject([{ option: { value: "ask" } }]);
  expect(withValue(next, "mode", "free").others).toMatchObject([{ option: { value: "free" } }]);
});

test("applies a value only where it is offered", () => {
  const selectors = selectorsOf({ configOptions: [GROUPED] });
  expect(asOptions(selectors, { mode: "ask", other: "x" })).toMatchObject([{ value: "ask" }]);
  expect(asOptions(selectors, { mode: "nothing" })).toMatchObject([{ value: "plan" }]);
});

test("offers the modes of the profile before the agent has run", () => {
  const [mode] = asOptions(presetSelectors(acpProfile("gemini", [])), { mode: "plan" });
  expect(mode).toMatchObject({ id: "mode", value: "plan" });
  expect(presetSelectors(GENERIC)).toEqual(NO_SELECTORS);
});

test("ignores malformed selectors", () => {
  expect(
    selectorsOf({ configOptions: [null, 5, { id: 7 }, { id: "x", type: "select" }], modes: "x" }),
  ).toEqual(NO_SELECTORS);
});
