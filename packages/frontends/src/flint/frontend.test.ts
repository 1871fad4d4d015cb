import { PassThrough } from "node:stream";
import { streamTransport } from "@flint/rpc/node";
import {
  describeFrontend,
  describeTranslation,
  ScriptedDriver,
  testEngine,
  WireClient,
} from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { ClientConnection } from "../shared/client-connection.ts";
import { CLIENT_SCRIPTS } from "../testing/client-scripts.ts";
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

describeFrontend("the Flint front end", {
  create: flintFrontend,
  connect: (frontend, engine, transport) => new ClientConnection(frontend, engine, transport),
  script: CLIENT_SCRIPTS.flint,
  notShown: { events: [], items: [] },
});

describeTranslation("the Flint front end", flintFrontend(), {
  consents: Object.fromEntries(APPROVALS.map((ask) => [ask, CONSENTS])),
  refusals: Object.fromEntries(APPROVALS.map((ask) => [ask, REFUSALS])),
});

describe("the Flint front end", () => {
  test("sends an event under its own name, with its position in the log", () => {
    const data = { threadId: "t", name: "n" };
    expect(events({ type: "thread/name/updated", data, seq: 7, at: 5 })).toEqual([
      { kind: "notification", method: "thread/name/updated", params: { ...data, seq: 7, at: 5 } },
    ]);
    expect(events({ type: "thread/name/updated", data, at: 5 })).toEqual([
      { kind: "notification", method: "thread/name/updated", params: data },
    ]);
  });

  test("sends an agent's own notification under its own name, with its thread [S0-86]", () => {
    const sent = (method: string) =>
      events({ type: "extension/notified", at: 1, data: { threadId: "t", method, params: { hits: 3 } } });
    expect(sent("anthropic/cache_updated")).toEqual([
      { kind: "notification", method: "anthropic/cache_updated", params: { hits: 3, threadId: "t" } },
    ]);
    expect(sent("turn/completed")).toMatchObject([{ method: "agent/turn/completed" }]);
    expect(sent("plain")).toMatchObject([{ method: "agent/plain" }]);
  });

  test("keeps notifications from a client that opted out of them, also an agent's own", async () => {
    const extension = (method: string) => ({ emit: { type: "extension", method, params: {} } }) as const;
    const driver = new ScriptedDriver({
      scripts: [[extension("a/one"), extension("a/two"), { text: "Hi." }]],
    });
    const [toServer, toClient] = [new PassThrough(), new PassThrough()];
    new ClientConnection(flintFrontend(), testEngine({ driver }).engine, streamTransport(toServer, toClient));
    const client = WireClient.over(toClient, toServer);
    const capabilities = { optOutNotificationMethods: ["a/one", "item/agentMessage/delta"] };
    await client.request("initialize", { clientInfo: { name: "quiet", version: "1" }, capabilities });
    const { thread } = Object(await client.request("thread/start", {}));
    await client.request("turn/start", { threadId: thread.id, input: [{ type: "text", text: "go" }] });
    await client.waitForMethod("turn/completed");
    const methods = client.since(0).map(({ method }) => method);
    expect(methods).toContain("a/two");
    expect(methods).not.toContain("a/one");
    expect(methods).not.toContain("item/agentMessage/delta");
  });

  test("[S2-76] has a client run its tool, and takes anything but a result for a failure", () => {
    const call = { turnId: "u", itemId: "i", tool: "lamp", arguments: { room: "hall" } };
    const request = { id: "c", ...call, requestedAtMs: 1, expiresAtMs: 2 };
    const [ask] = events({ type: "tool/requested", data: { threadId: "t", request }, at: 1 });
    if (ask?.kind !== "ask") throw new Error("no client is asked");
    expect(ask).toMatchObject({ method: "item/tool/call", params: { threadId: "t", callId: "c", ...call } });
    const result = { success: true, content: [{ type: "text", text: "lit" }] };
    const respond = { method: "tool/respond", params: { threadId: "t", callId: "c", result } };
    expect(ask.answered(result)).toMatchObject(respond);
    for (const junk of [undefined, {}, { success: "yes", content: [] }, { success: true }])
      expect(ask.answered(junk)).toMatchObject({ params: { result: { success: false } } });
    expect(ask.refused("gone")).toMatchObject({ params: { result: { success: false } } });
  });

  test("offers rules with an approval, and accepts no others", () => {
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
  ])("takes %j for a denial", (answer) => {
    expect(decisionOf(answer)).toMatchObject({ outcome: "deny" });
  });
});
