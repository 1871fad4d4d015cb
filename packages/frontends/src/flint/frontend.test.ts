import { describeFrontend } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { decisionOf, events } from "./events.ts";
import { flintFrontend } from "./frontend.ts";

const CONSENTS = [
  { decision: "accept" },
  { decision: "acceptForSession" },
  { decision: "acceptAlways" },
  { decision: { outcome: "allow" } },
];
const REFUSALS = [{ decision: "decline" }, { decision: "cancel" }, { decision: { outcome: "deny" } }];
const APPROVALS = [
  "item/commandExecution/requestApproval",
  "item/fileChange/requestApproval",
  "item/toolCall/requestApproval",
];

describeFrontend("the Flint door", flintFrontend(), {
  consents: Object.fromEntries(APPROVALS.map((ask) => [ask, CONSENTS])),
  refusals: Object.fromEntries(APPROVALS.map((ask) => [ask, REFUSALS])),
});

describe("the Flint door", () => {
  test("tells an event under its own name, with its place in the log", () => {
    const data = { threadId: "t", name: "n" };
    expect(events({ type: "thread/name/updated", data, seq: 7, at: 5 })).toEqual([
      { kind: "notification", method: "thread/name/updated", params: { ...data, seq: 7, at: 5 } },
    ]);
    expect(events({ type: "thread/name/updated", data, at: 5 })).toEqual([
      { kind: "notification", method: "thread/name/updated", params: data },
    ]);
  });

  test("gives an agent's own notification its own name, with the thread beside it [S0-86]", () => {
    const told = (method: string) =>
      events({ type: "extension/notified", at: 1, data: { threadId: "t", method, params: { hits: 3 } } });
    expect(told("anthropic/cache_updated")).toEqual([
      { kind: "notification", method: "anthropic/cache_updated", params: { hits: 3, threadId: "t" } },
    ]);
    expect(told("turn/completed")).toMatchObject([{ method: "agent/turn/completed" }]);
    expect(told("plain")).toMatchObject([{ method: "agent/plain" }]);
  });

  test("[S2-76] has a client run its tool, and takes what is no result for a failure", () => {
    const call = { turnId: "u", itemId: "i", tool: "lamp", arguments: { room: "hall" } };
    const request = { id: "c", ...call, requestedAtMs: 1, expiresAtMs: 2 };
    const [ask] = events({ type: "tool/requested", data: { threadId: "t", request }, at: 1 });
    if (ask?.kind !== "ask") throw new Error("nobody is asked");
    expect(ask).toMatchObject({ method: "item/tool/call", params: { threadId: "t", callId: "c", ...call } });
    const result = { success: true, content: [{ type: "text", text: "lit" }] };
    const respond = { method: "tool/respond", params: { threadId: "t", callId: "c", result } };
    expect(ask.answered(result)).toMatchObject(respond);
    for (const junk of [undefined, {}, { success: "yes", content: [] }, { success: true }])
      expect(ask.answered(junk)).toMatchObject({ params: { result: { success: false } } });
    expect(ask.refused("gone")).toMatchObject({ params: { result: { success: false } } });
  });

  test("asks with the rules that an answer may take, and takes no other", () => {
    const match = { type: "prefix" as const, words: ["npm", "test"] };
    const suggestions = [{ id: "r1", project: "/w", agent: "flint", tool: "command", match }];
    const action = { kind: "command" as const, itemId: "i", command: "npm test", cwd: "/w" };
    const approval = { id: "a", turnId: "u", action, suggestions, requestedAtMs: 1, expiresAtMs: 2 };
    const [ask] = events({ type: "approval/requested", data: { threadId: "t", approval }, at: 1 });
    expect(ask).toMatchObject({ kind: "ask", params: { command: "npm test", suggestions } });
    const taking = (rule: string) => ({ decision: { outcome: "allow", scope: "always", rule } });
    expect(decisionOf(taking("r1"), suggestions)).toEqual({ outcome: "allow", scope: "always", rule: "r1" });
    expect(decisionOf(taking("r2"), suggestions).outcome).toBe("deny");
    expect(decisionOf(taking("r1")).outcome).toBe("deny");
  });

  test.each([
    [{ decision: "accept" }, { outcome: "allow", scope: "once" }],
    [{ decision: "acceptForSession" }, { outcome: "allow", scope: "session" }],
    [{ decision: "acceptAlways" }, { outcome: "allow", scope: "always" }],
    [{ decision: "decline" }, { outcome: "deny", scope: "once" }],
    [
      { decision: "decline", message: "no" },
      { outcome: "deny", scope: "once", message: "no" },
    ],
    [{ decision: "cancel" }, { outcome: "cancel", scope: "once" }],
    [
      { decision: { outcome: "allow", rule: "npm test" } },
      { outcome: "allow", scope: "once", rule: "npm test" },
    ],
  ])("reads the answer %j [S0-54, S0-60, S4-42]", (answer, decision) => {
    expect(decisionOf(answer)).toEqual(decision);
  });

  test.each([
    undefined,
    null,
    "accept",
    true,
    {},
    { decision: true },
    { decision: "yes" },
    { decision: ["accept"] },
  ])("takes %j for a no", (answer) => {
    expect(decisionOf(answer)).toMatchObject({ outcome: "deny" });
  });
});
