import type { Script } from "@flint/testkit";
import { type TestClient, type TestEngineOptions, testEngine, UnreliableStore } from "@flint/testkit";
import { describe, expect, test } from "vitest";

const ALLOW = { outcome: "allow", scope: "once" } as const;

/** The nth approval that a client was asked for. */
async function asked(client: TestClient, place = 0) {
  await client.waitFor("approval/requested", () => client.eventsOf("approval/requested").length > place);
  const event = client.eventsOf("approval/requested")[place];
  if (event === undefined) throw new Error("There is no such approval.");
  return event.data.approval;
}

/** A thread in which an approval expired without an answer. */
async function expired(script: Script, options: TestEngineOptions = {}) {
  const engine = testEngine({ cwd: "/repo", approvalTimeoutMs: 1_000, scripts: [script], ...options });
  const client = engine.connect();
  const threadId = await client.startThread();
  const turnId = await client.startTurn(threadId, "go");
  const approval = await asked(client);
  await engine.clock.advance(1_000);
  const turn = await client.turnEnd(turnId);
  return { engine, client, threadId, approval, turn };
}

describe("an answer that comes after the approval expired", () => {
  test("allows exactly that command once, says so, and informs the agent in its next turn", async () => {
    const { engine, client, threadId, approval, turn } = await expired([{ command: "make all" }]);
    expect(turn.declined).toEqual([
      { itemId: approval.action.itemId, what: "make all", by: "timeout", reason: expect.any(String) },
    ]);
    const { grant } = await client.call("approval/respond", {
      ...{ threadId, approvalId: approval.id, decision: ALLOW },
    });
    expect(grant).toMatchObject({ scope: "once", words: "run: make all (in /repo)", agent: "scripted" });
    engine.driver.enqueue([{ command: "make all" }, { command: "make all" }, { command: "make it" }]);
    await client.startTurn(threadId, "again");
    expect((await asked(client, 1)).action).toMatchObject({ command: "make all" });
    expect(JSON.stringify(engine.driver.sessions.at(-1)?.turns.at(-1))).toContain(
      "The user has allowed now, once: run: make all (in /repo).",
    );
    expect(client.eventsOf("grant/changed").map(({ data }) => data.status)).toEqual(["added", "used"]);
  });

  test("is kept when the thread is loaded again, and ends after a day", async () => {
    const store = new UnreliableStore();
    const { engine, client, threadId, approval } = await expired([{ command: "make all" }], { store });
    await client.call("approval/respond", { threadId, approvalId: approval.id, decision: ALLOW });
    await engine.close();
    const scripts: Script[] = [[{ command: "make all" }]];
    const later = testEngine({ cwd: "/repo", store, scripts });
    const next = later.connect();
    await next.runTurn(threadId, "again");
    expect(next.eventsOf("approval/requested")).toEqual([]);
  });

  test("accepts one late answer and no other", async () => {
    const { client, threadId, approval } = await expired([{ command: "make all" }]);
    const respond = (decision: typeof ALLOW | { readonly outcome: "deny" }) =>
      client.call("approval/respond", { threadId, approvalId: approval.id, decision });
    await expect(respond({ outcome: "deny" })).rejects.toMatchObject({ kind: "approvalNotFound" });
    await respond(ALLOW);
    await expect(respond(ALLOW)).rejects.toMatchObject({ kind: "approvalNotFound" });
    const tool = await expired([
      { approve: { kind: "tool", itemId: "x", server: "docs", tool: "read", arguments: {} } },
    ]);
    const late = { threadId: tool.threadId, approvalId: tool.approval.id, decision: ALLOW };
    await expect(tool.client.call("approval/respond", late)).rejects.toMatchObject({
      kind: "approvalNotFound",
    });
  });

  test("keeps at most eight grants for one time", async () => {
    const script: Script = Array.from({ length: 10 }, (_, at) => ({ command: `make ${at}` }));
    const engine = testEngine({ cwd: "/repo", approvalTimeoutMs: 1_000, scripts: [script] });
    const client = engine.connect();
    const threadId = await client.startThread();
    const turnId = await client.startTurn(threadId, "go");
    for (let place = 0; place < 10; place += 1) {
      const { id } = await asked(client, place);
      await engine.clock.advance(1_000);
      await client.waitFor("approval/resolved", () => client.eventsOf("approval/resolved").length > place);
      await client.call("approval/respond", { threadId, approvalId: id, decision: ALLOW });
    }
    await client.turnEnd(turnId);
    engine.driver.enqueue([{ command: "make 9" }, { command: "make 2" }, { command: "make 1" }]);
    await client.startTurn(threadId, "again");
    expect((await asked(client, 10)).action).toMatchObject({ command: "make 1" });
  });
});

test("a turn lists what was declined without a question, with the reason", async () => {
  const needs = { network: { hosts: ["registry.example:443"] } };
  const command = { kind: "command", itemId: "x", command: "npm i", cwd: "/repo" } as const;
  const engine = testEngine({
    ...{ cwd: "/repo", approvalPolicy: "never" },
    scripts: [[{ approve: { ...command, running: true, needs } }]],
  });
  const client = engine.connect();
  const { declined } = await client.runTurn(await client.startThread(), "go");
  expect(declined).toEqual([
    {
      ...{ itemId: "x", what: "registry.example:443 (npm i)", by: "rule" },
      reason:
        "Approvals are off, so it may not connect to registry.example (port 443). Allow it with --network registry.example.",
    },
  ]);
});
