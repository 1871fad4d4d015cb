import type { ConfigOption } from "@flint/protocol";
import { expect, test } from "vitest";
import { effortValue } from "./effort.ts";

function selector(id: string, category?: string): ConfigOption {
  const options = ["low", "high"].map((value) => ({ id: value, name: value }));
  return {
    type: "select",
    id,
    name: id,
    options,
    value: "low",
    ...(category === undefined ? {} : { category }),
  };
}

test("an effort goes to the selector of the agent that is meant for it, by its id or its category", () => {
  expect(effortValue([selector("mode"), selector("reasoning_effort")], "high")).toEqual({
    reasoning_effort: "high",
  });
  expect(effortValue([selector("mode"), selector("thoughts", "thought_level")], "low")).toEqual({
    thoughts: "low",
  });
});

test("an effort that the agent does not offer is none", () => {
  expect(effortValue([selector("reasoning_effort")], "ultra")).toBeUndefined();
  expect(effortValue([selector("mode")], "high")).toBeUndefined();
});
