import type { Permission, RuleSuggestion } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { decisionOf, permissionOptions } from "./permission.ts";

const OFFERED: RuleSuggestion = {
  ...{ id: "npm", project: "/w", agent: "scripted", tool: "command" },
  match: { type: "prefix", words: ["npm"] },
};

const selected = (optionId: unknown) => ({ outcome: { outcome: "selected", optionId } });
const REJECTED = { outcome: "deny", scope: "once", message: "The user rejected it." };
const NOT_UNDERSTOOD = {
  outcome: "deny",
  scope: "once",
  message: "The client's answer was not understood.",
};

describe("a response to a permission request", () => {
  test.each([
    [selected("allow_once"), { outcome: "allow", scope: "once" }],
    [selected("allow_always"), { outcome: "allow", scope: "always" }],
    [selected("allow_always:npm"), { outcome: "allow", scope: "always", rule: "npm" }],
    [selected("reject_once"), REJECTED],
    [selected("reject_always"), REJECTED],
    [
      { outcome: { outcome: "cancelled" } },
      { outcome: "cancel", scope: "once", message: "The user cancelled it." },
    ],
  ])("%j means %j", (response, decision) => {
    expect(decisionOf(response, [OFFERED])).toEqual(decision);
  });

  test.each([
    selected("allow_always:rm"),
    selected("allow_always:"),
    selected("yes"),
    selected(1),
    { outcome: { outcome: "selected" } },
    { outcome: "allow_once" },
    null,
  ])("%j was not offered and is a denial", (response) => {
    expect(decisionOf(response, [OFFERED])).toEqual(NOT_UNDERSTOOD);
  });

  test("with a rule is a denial if no rule was offered", () => {
    expect(decisionOf(selected("allow_always:npm"))).toEqual(NOT_UNDERSTOOD);
  });
});

test.each<[string, Permission | undefined, boolean]>([
  ["nothing beyond its sandbox", undefined, true],
  ["a folder", { write: ["/data"] }, true],
  ["to leave its sandbox", { unconfined: true }, false],
  ["to connect to any host", { network: "all" }, false],
])("an action that needs %s can be allowed for always: %j %s", (_what, needs, isOffered) => {
  const action = {
    kind: "command",
    itemId: "c",
    command: "make",
    cwd: "/w",
    ...(needs && { needs }),
  } as const;
  const approval = { id: "a", threadId: "t", turnId: "u", action, requestedAtMs: 0, expiresAtMs: 0 };
  const kinds = permissionOptions(approval).map(({ kind }) => kind);
  expect(kinds.includes("allow_always")).toBe(isOffered);
});
