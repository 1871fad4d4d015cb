import type { Action, Approval, Decision, Permission } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { approvalAsk } from "./approvals.ts";

const COMMAND = { kind: "command", itemId: "i", command: "npm install", cwd: "/w" } as const;
const ALLOW: Decision = { outcome: "allow", scope: "once" };
const THREAD: Decision = { outcome: "allow", scope: "session" };
const DENY: Decision = { outcome: "deny", scope: "once" };

function asked(action: Action, suggestions: Approval["suggestions"] = []) {
  const approval = { id: "a", turnId: "u", action, suggestions, requestedAtMs: 1, expiresAtMs: 2 };
  const ask = approvalAsk({ threadId: "t", approval });
  const decision = (answer: unknown) => Object(ask.answered(answer)).params?.decision;
  return { method: ask.method, params: Object(ask.params), decision };
}

describe("an answer of a Codex client", () => {
  const changes = [{ path: "/w/a", kind: "modify", diff: "" }] as const;
  const FILES: Action = { kind: "fileChange", itemId: "i", changes: [...changes] };
  const CANCEL: Decision = { outcome: "cancel", scope: "once" };

  test.each<[string, Decision]>([
    ["accept", ALLOW],
    ["acceptForSession", THREAD],
    ["decline", DENY],
    ["cancel", CANCEL],
  ])("decides about a file change and a command alike: %s", (answer, decision) => {
    expect(asked(FILES).decision({ decision: answer })).toEqual(decision);
    expect(asked(COMMAND).decision({ decision: answer })).toEqual(decision);
  });
});

describe("a command that needs more than its sandbox", () => {
  const SUGGESTED = [
    {
      id: "r",
      project: "/w",
      agent: "x",
      tool: "command",
      match: { type: "prefix", words: ["npm", "install"] },
    },
  ] as const;

  test.each<[string, Permission, object]>([
    [
      "a host",
      { network: { hosts: ["registry.example:443"] } },
      {
        networkApprovalContext: { host: "registry.example", protocol: "https" },
        proposedNetworkPolicyAmendments: [{ host: "registry.example", action: "allow" }],
      },
    ],
    [
      "every host",
      { network: "all" },
      { additionalPermissions: { network: { enabled: true }, fileSystem: null } },
    ],
    [
      "a folder",
      { write: ["/cache"] },
      { additionalPermissions: { network: null, fileSystem: { read: null, write: ["/cache"] } } },
    ],
    ["to leave the sandbox", { unconfined: true }, { reason: "Because." }],
  ])("is asked about with Codex's own fields: %s", (_, needs, fields) => {
    const { method, params } = asked({ ...COMMAND, needs, reason: "Because." });
    expect(method).toBe("item/commandExecution/requestApproval");
    expect(params).toMatchObject({ command: expect.stringContaining("npm install"), ...fields });
  });

  test("is asked about with the words of the agent, once", () => {
    const needs = { unconfined: true } as const;
    const reason = (action: { readonly reason?: string; readonly why?: string }) =>
      asked({ ...COMMAND, needs, ...action }).params.reason;
    expect(reason({ reason: "Because.", why: "It is outside." })).toBe(
      "Because. The agent says: It is outside.",
    );
    expect(reason({ reason: "It is outside.", why: "It is outside." })).toBe("It is outside.");
    expect(reason({})).toBeNull();
  });

  test("offers no rule for the start of the command, and takes none", () => {
    const words = ["npm", "install"];
    const suggestions = SUGGESTED.map((rule) => ({ ...rule, match: { ...rule.match, words } }));
    const plain = asked(COMMAND, suggestions);
    expect(plain.params.proposedExecpolicyAmendment).toEqual(words);
    const { params, decision } = asked({ ...COMMAND, needs: { unconfined: true } }, suggestions);
    expect(params.availableDecisions).toEqual(["accept", "acceptForSession", "decline", "cancel"]);
    expect(params.proposedExecpolicyAmendment).toBeUndefined();
    expect([decision({ decision: "accept" }), decision({ decision: "decline" })]).toEqual([ALLOW, DENY]);
  });

  test("grants the host that was shown, and no other", () => {
    const { params, decision } = asked({
      ...COMMAND,
      running: true,
      needs: { network: { hosts: ["h.example:443"] } },
    });
    const always = (host: string, action = "allow") =>
      decision({ decision: { applyNetworkPolicyAmendment: { network_policy_amendment: { host, action } } } });
    expect(params.availableDecisions).toHaveLength(5);
    expect(always("h.example")).toEqual({ outcome: "allow", scope: "always" });
    expect(always("other.example")).toEqual(ALLOW);
    expect(always("h.example", "deny")).toEqual(DENY);
    expect(decision({ decision: "acceptForSession" })).toEqual(THREAD);
  });
});

describe("permissions for the commands that follow", () => {
  const needs: Permission = { network: "all", write: ["/cache", "/data"] };
  const ask = () => asked({ kind: "tool", itemId: "i", tool: "permissions", reason: "To build.", needs });
  const all = { network: { enabled: true }, fileSystem: { read: null, write: ["/cache", "/data"] } };

  test("are asked for with Codex's own request", () => {
    const { method, params } = ask();
    expect(method).toBe("item/permissions/requestApproval");
    expect(params).toMatchObject({ itemId: "i", reason: "To build.", permissions: all });
  });

  test.each<[string, unknown, Decision]>([
    ["all of it for the turn", { permissions: all, scope: "turn" }, ALLOW],
    ["all of it for the session", { permissions: all, scope: "session" }, THREAD],
    ["nothing", { permissions: {}, scope: "turn" }, DENY],
    ["a part", { permissions: { ...all, fileSystem: { write: ["/cache"] } }, scope: "turn" }, DENY],
    ["no network", { permissions: { fileSystem: all.fileSystem }, scope: "turn" }, DENY],
  ])("are granted only as a whole: %s", (_, answer, decision) => {
    expect(ask().decision(answer)).toEqual(decision);
  });

  test("are declined by an answer of another kind", () => {
    expect(ask().decision({ decision: "accept" })).toMatchObject(DENY);
  });
});
