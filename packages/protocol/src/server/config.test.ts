import { describe, expect, test } from "vitest";
import { METHODS } from "../methods.ts";
import {
  ConfigOption,
  ConfigSelectOption,
  configValueWords,
  effortValue,
  isConfigValue,
  Model,
  modelDescription,
  SandboxState,
} from "./config.ts";

const missing = (schema: { safeParse(value: unknown): { success: boolean } }, value: object): string[] =>
  Object.keys(value).filter((field) => !schema.safeParse({ ...value, [field]: undefined }).success);

const choice = { id: "high", name: "High" };
const selector = {
  type: "select",
  id: "reasoning_effort",
  name: "Reasoning effort",
  options: [{ id: "low", name: "Low" }, choice],
  value: "high",
};

describe("a model", () => {
  test("has an id, a display name and a default flag; description and meta are optional [S0-70]", () => {
    const model = { id: "flint/offline", displayName: "Offline", isDefault: true };
    const described = {
      ...model,
      description: "Needs no network.",
      meta: { contextLength: 8192, tags: ["free"] },
    };
    expect([Model.parse(model), Model.parse(described)]).toEqual([model, described]);
    expect(missing(Model, described)).toEqual(["id", "displayName", "isDefault"]);
  });

  test("is listed with others, up to the limit [S0-69]", () => {
    const { params, result } = METHODS["model/list"];
    expect([params.parse({}), params.parse({ limit: 5 })]).toEqual([{}, { limit: 5 }]);
    expect([0, -1, 1.5, 201, "5"].filter((limit) => params.safeParse({ limit }).success)).toEqual([]);
    const data = [{ id: "flint/offline", displayName: "Offline", isDefault: true }];
    expect(result.parse({ data })).toEqual({ data });
  });
});

describe("a selector", () => {
  test("has type, id, name, choices and a value; other fields are optional [S0-72]", () => {
    const full = {
      ...selector,
      description: "How long it thinks.",
      group: "Model",
      modelIds: ["claude/opus"],
    };
    expect([ConfigOption.parse(selector), ConfigOption.parse(full)]).toEqual([selector, full]);
    expect(missing(ConfigOption, full)).toEqual(["type", "id", "name", "options", "value"]);
  });

  test("has choices with an id, a name and an optional description [S0-73]", () => {
    const described = { ...choice, description: "Slow and thorough." };
    expect([ConfigSelectOption.parse(choice), ConfigSelectOption.parse(described)]).toEqual([
      choice,
      described,
    ]);
    expect(missing(ConfigSelectOption, described)).toEqual(["id", "name"]);
  });

  test("is a select or a boolean, and nothing else", () => {
    const flag = { ...selector, type: "boolean", options: [], value: "true" };
    expect(ConfigOption.parse(flag)).toEqual(flag);
    expect(ConfigOption.safeParse({ ...selector, type: "slider" }).success).toBe(false);
  });
});

describe("the methods for selectors", () => {
  test("config/list takes nothing, a thread or a model, and answers with all selectors [S0-71]", () => {
    const { params, result } = METHODS["config/list"];
    for (const requested of [{}, { threadId: "t1" }, { model: "claude/opus" }])
      expect(params.parse(requested)).toEqual(requested);
    expect(params.safeParse({ model: 7 }).success).toBe(false);
    expect(result.parse({ options: [selector] })).toEqual({ options: [selector] });
    expect(result.safeParse({}).success).toBe(false);
  });

  test("config/set takes an option and a value and answers with all selectors [S0-74]", () => {
    const { params, result } = METHODS["config/set"];
    const change = { id: "reasoning_effort", value: "low" };
    expect(params.parse(change)).toEqual(change);
    expect(missing(params, change)).toEqual(["id", "value"]);
    expect(params.safeParse({ ...change, value: 3 }).success).toBe(false);
    expect(result.parse({ options: [selector] })).toEqual({ options: [selector] });
    expect(result.safeParse({}).success).toBe(false);
  });
});

test("the state of the sandbox names its mechanism", () => {
  const state = { available: false, mechanism: "bubblewrap", detail: "Install bubblewrap." };
  expect(SandboxState.parse(state)).toEqual(state);
  expect(missing(SandboxState, state)).toEqual(["available", "mechanism"]);
});

describe("a reasoning effort", () => {
  const option = (id: string, category?: string) =>
    ConfigOption.parse({ ...selector, id, ...(category === undefined ? {} : { category }) });

  test("is set by the option with its id or its category", () => {
    expect(effortValue([option("mode"), option("reasoning_effort")], "high")).toEqual({
      reasoning_effort: "high",
    });
    expect(effortValue([option("mode"), option("thoughts", "thought_level")], "low")).toEqual({
      thoughts: "low",
    });
  });

  test("that the agent does not offer is not set", () => {
    expect(effortValue([option("reasoning_effort")], "ultra")).toBeUndefined();
    expect(effortValue([option("mode")], "high")).toBeUndefined();
  });
});

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

const heat: ConfigOption = {
  ...{ type: "number", id: "heat", name: "Heat", options: [], value: "0.3" },
  ...{ min: 0, max: 1, step: 0.1 },
};

test.each(["0", "1", "0.35", " 0.5", "1e-1"])("%j is a value of a number", (value) =>
  expect(isConfigValue(heat, value)).toBe(true),
);

test.each(["-0.1", "1.1", "", " ", "warm", "NaN", "Infinity"])("%j is none", (value) =>
  expect(isConfigValue(heat, value)).toBe(false),
);

test("a number without bounds takes every number, and says so", () => {
  const free = { ...heat, min: undefined, max: undefined };
  expect(isConfigValue(free, "-1e9")).toBe(true);
  expect(isConfigValue(free, "Infinity")).toBe(false);
  expect([heat, free].map(configValueWords)).toEqual(["numbers from 0 up to 1", "numbers"]);
});
