import type { ConfigOption } from "@flint/protocol";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { allowanceIn, boldness, effortValue, turnBudget } from "./settings.ts";

test("a folder without files of its own gets what was asked for, else what is configured, else the usual", async () => {
  const { path } = await temporaryFolder();
  const usual = { approvalPolicy: "unlessTrusted", sandboxPolicy: { type: "workspaceWrite" } };
  expect(await allowanceIn(path, { root: path, cwd: path })).toEqual({ ...usual, budget: undefined });
  const budget = { turn: { steps: 3 } };
  expect(await allowanceIn(path, { root: path, cwd: path, approvalPolicy: "never", budget })).toEqual({
    ...usual,
    approvalPolicy: "never",
    budget,
  });
});

test("a limit of an earlier run is lifted unless it is given again or configured", () => {
  expect(turnBudget(undefined, undefined, { turn: { steps: 1 } })).toEqual({ turn: {} });
  expect(turnBudget({ turn: { costUsd: 1 } }, { steps: 2 }, undefined)).toEqual({
    turn: { costUsd: 1, steps: 2 },
  });
});

test("how far a thread was let go on is only forgotten when its budget changes", () => {
  const thread = { turns: 5, tokens: 9 };
  expect(turnBudget({ thread }, undefined, { thread: { tokens: 9, turns: 5 } })).toEqual({ turn: {} });
  expect(turnBudget({ thread }, undefined, { thread: { turns: 4 } })).toEqual({ turn: {}, thread });
  expect(turnBudget(undefined, undefined, { thread })).toEqual({ turn: {}, thread: {} });
});

test("whoever lets an agent do more than usual is told so", () => {
  const usual = { approvalPolicy: "always", sandboxPolicy: { type: "readOnly" } } as const;
  const open = { type: "dangerFullAccess" } as const;
  expect(boldness(usual)).toBeUndefined();
  expect(boldness({ ...usual, approvalPolicy: "never" })).toContain("approval never");
  expect(boldness({ ...usual, sandboxPolicy: open })).toContain("danger-full-access");
  expect(boldness({ approvalPolicy: "never", sandboxPolicy: open })).toContain("nothing is confined");
});

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
