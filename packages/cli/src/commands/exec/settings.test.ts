import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { permissionsIn, permissionWarning, turnBudget } from "./settings.ts";

test("a folder without configuration gets the permissions of the command line, the configuration, or the defaults", async () => {
  const { path } = await temporaryFolder();
  const usual = {
    ...{ approvalPolicy: "unlessTrusted", sandboxPolicy: { type: "workspaceWrite" } },
    ...{ network: { hosts: [] }, git: "ask", acceptEdits: false },
  };
  expect(await permissionsIn(path, { root: path, cwd: path })).toEqual({ ...usual, budget: undefined });
  const budget = { turn: { steps: 3 } };
  expect(await permissionsIn(path, { root: path, cwd: path, approvalPolicy: "never", budget })).toEqual({
    ...usual,
    approvalPolicy: "never",
    budget,
  });
});

test("drops a limit of an earlier run unless it is given again or configured", () => {
  expect(turnBudget(undefined, {}, { turn: { steps: 1 } })).toEqual({ turn: {} });
  expect(turnBudget({ turn: { costUsd: 1 } }, { limits: { steps: 2 } }, undefined)).toEqual({
    turn: { costUsd: 1, steps: 2 },
  });
});

test("resends the budget of a thread only if it changes", () => {
  const thread = { turns: 5, tokens: 9 };
  expect(turnBudget({ thread }, {}, { thread: { tokens: 9, turns: 5 } })).toEqual({ turn: {} });
  expect(turnBudget({ thread }, {}, { thread: { turns: 4 } })).toEqual({ turn: {}, thread });
  expect(turnBudget(undefined, {}, { thread })).toEqual({ turn: {}, thread: {} });
});

test("warns if approvals or the sandbox are off", () => {
  const usual = { approvalPolicy: "always", sandboxPolicy: { type: "readOnly" } } as const;
  const open = { type: "dangerFullAccess" } as const;
  expect(permissionWarning(usual)).toBeUndefined();
  expect(permissionWarning({ ...usual, approvalPolicy: "never" })).toBe("Approvals are off.");
  expect(permissionWarning({ ...usual, sandboxPolicy: open })).toBe("The sandbox is off.");
  expect(permissionWarning({ approvalPolicy: "never", sandboxPolicy: open })).toBe(
    "Approvals and the sandbox are off.",
  );
});
