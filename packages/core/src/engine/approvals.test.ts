import type { TurnContext, TurnOutcome } from "@flint/core/ports";
import type { FileUpdateChange } from "@flint/protocol";
import {
  BareDriver,
  Gate,
  MemoryRules,
  type Script,
  ScriptedDriver,
  settled,
  type TestClient,
  type TestEngineOptions,
  testEngine,
  UnreliableStore,
  verifies,
} from "@flint/testkit";
import { describe, expect, test } from "vitest";

const ALLOW = { outcome: "allow" } as const;
const DENY = { outcome: "deny" } as const;

/** The nth approval that was requested from a client. */
async function asked(client: TestClient, place = 0) {
  const known = () => client.eventsOf("approval/requested")[place];
  await client.waitFor("approval/requested", () => known() !== undefined);
  const event = known();
  if (event === undefined) throw new Error("no approval was requested");
  return event.data.approval;
}

/** A turn that waits for its first approval. */
async function waiting(script: Script, options: TestEngineOptions = {}) {
  const server = testEngine({ scripts: [script], ...options });
  const client = server.connect();
  const threadId = await client.startThread();
  const turnId = await client.startTurn(threadId, "go");
  const approval = await asked(client);
  const respond = (decision: {
    outcome: "allow" | "deny" | "cancel";
    scope?: "once" | "session" | "always";
  }) => client.call("approval/respond", { threadId, approvalId: approval.id, decision });
  return { server, client, threadId, turnId, approval, respond };
}

/** An agent that requests approval, watches nothing else, and records the outcome. */
function asking(outcomes: string[]): BareDriver {
  const run = async (turn: TurnContext): Promise<TurnOutcome> => {
    const decision = await turn.approve({ kind: "command", itemId: "x", command: "make", cwd: "/code" });
    outcomes.push(decision.outcome);
    return turn.signal.aborted ? { status: "interrupted" } : { status: "completed" };
  };
  return new BareDriver({ run });
}

describe("an action that needs approval", () => {
  verifies("S0-2", "is shown exactly, and happens on the server only after a client allowed it", async () => {
    const { server, client, threadId, turnId, approval, respond } = await waiting([
      { command: "make", output: ["ok"] },
    ]);
    expect(approval).toMatchObject({
      turnId,
      action: {
        kind: "command",
        command: "make",
        cwd: "/code",
        reason: "The command is not known to be read-only.",
      },
      requestedAtMs: server.clock.now(),
      expiresAtMs: server.clock.now() + 600_000,
    });
    expect(client.eventsOf("item/commandExecution/outputDelta")).toEqual([]);
    expect((await client.call("thread/read", { threadId })).thread.status).toEqual({
      type: "active",
      activeFlags: ["waitingOnApproval"],
    });
    await respond(ALLOW);
    const turn = await client.turnEnd(turnId);
    expect(turn.items.at(-1)).toMatchObject({ command: "make", status: "completed", aggregatedOutput: "ok" });
    expect((await client.waitFor("approval/resolved")).data).toEqual({
      threadId,
      turnId,
      approvalId: approval.id,
      itemId: approval.action.itemId,
      resolution: {
        decision: { outcome: "allow", scope: "once" },
        by: "client",
        clientId: client.session.id,
      },
    });
    const order = client.order.slice(client.order.indexOf("<- approval/respond"));
    expect(order.slice(0, 3)).toEqual(["<- approval/respond", "approval/resolved", "thread/status/changed"]);
  });

  test("does not happen when it is denied, and the agent gets the reason", async () => {
    const { server, client, threadId, turnId, approval } = await waiting([
      { command: "make" },
      { text: "ok then" },
    ]);
    const decision = { ...DENY, message: "Not on a Friday." };
    await client.call("approval/respond", { threadId, approvalId: approval.id, decision });
    const turn = await client.turnEnd(turnId);
    expect(turn.status).toBe("completed");
    expect(turn.items[1]).toMatchObject({ command: "make", status: "declined" });
    expect(server.driver.turns[0]?.decisions).toEqual([{ ...decision, scope: "once" }]);
  });

  test("ends the whole turn when it is cancelled, even if the agent would continue", async () => {
    const { client, turnId, respond } = await waiting([{ command: "make" }]);
    await respond({ outcome: "cancel" });
    expect((await client.turnEnd(turnId)).status).toBe("interrupted");

    const run = async (turn: TurnContext): Promise<TurnOutcome> => {
      await turn.approve({ kind: "command", itemId: "x", command: "make", cwd: "/code" });
      while (!turn.signal.aborted) await turn.ready();
      return { status: "interrupted" };
    };
    const stubborn = await waiting([], { driver: new BareDriver({ run }) });
    await stubborn.respond({ outcome: "cancel" });
    expect((await stubborn.client.turnEnd(stubborn.turnId)).status).toBe("interrupted");
  });

  verifies("S0-67", "is asked about as the policy says", async () => {
    const script: Script = [{ command: "ls" }, { command: "make" }];
    const never = testEngine({ scripts: [script], approvalPolicy: "never" });
    const client = never.connect();
    await client.runTurn(await client.startThread(), "go");
    expect(client.eventsOf("approval/requested")).toEqual([]);

    const unlessTrusted = await waiting(script, { approvalPolicy: "unlessTrusted" });
    expect(unlessTrusted.approval.action).toMatchObject({ command: "make" });
    const always = await waiting(script, { approvalPolicy: "always" });
    expect(always.approval.action).toMatchObject({ command: "ls", reason: "Every action needs approval." });
  });

  test("is asked about even if it changes no file", async () => {
    const { approval } = await waiting([{ fileChange: [] }], { approvalPolicy: "always" });
    expect(approval.action).toMatchObject({ kind: "fileChange", changes: [] });
  });

  test("keeps the reason that the agent gave", async () => {
    const { approval } = await waiting([{ command: "make", reason: "It must be built." }]);
    expect(approval.action.reason).toBe("It must be built.");
  });
});

describe("a decision", () => {
  const file = (path: string): FileUpdateChange[] => [{ path, kind: "modify", diff: "@@" }];

  /**
   * Returns the actions of a script that are asked about when the first one is answered like this, and all
   * others with no.
   */
  async function askedAfter(scope: "once" | "session" | "always", script: Script, rules = new MemoryRules()) {
    const server = testEngine({ scripts: [script], rules, approvalPolicy: "unlessTrusted" });
    const client = server.connect();
    const threadId = await client.startThread();
    const turnId = await client.startTurn(threadId, "go");
    const ended = client.turnEnd(turnId).then(() => true);
    const subjects: string[] = [];
    for (let place = 0; !(await Promise.race([ended, asked(client, place).then(() => false)])); place += 1) {
      const { id, action } = await asked(client, place);
      subjects.push(action.kind === "command" ? `${action.cwd}$ ${action.command}` : action.kind);
      const decision = place === 0 ? { ...ALLOW, scope } : DENY;
      await client.call("approval/respond", { threadId, approvalId: id, decision });
    }
    return { subjects, client, threadId, rules };
  }

  const COMMANDS: Script = [
    { command: "make" },
    { command: "make" },
    { command: "make all" },
    { command: "make " },
    { approve: { kind: "command", itemId: "x", command: "make", cwd: "/elsewhere" } },
  ];

  test("with scope once applies to this action only", async () => {
    const { subjects } = await askedAfter("once", COMMANDS);
    expect(subjects).toEqual([
      "/code$ make",
      "/code$ make",
      "/code$ make all",
      "/code$ make ",
      "/elsewhere$ make",
    ]);
  });

  test("with scope session applies to exactly the same command in the same folder", async () => {
    const { subjects, rules } = await askedAfter("session", COMMANDS);
    expect(subjects).toEqual(["/code$ make", "/code$ make all", "/code$ make ", "/elsewhere$ make"]);
    expect(rules.list()).toEqual([]);
  });

  test("with scope always applies to other threads of the same folder and agent, and nowhere else", async () => {
    const { subjects, rules } = await askedAfter("always", COMMANDS);
    expect(subjects).toEqual(["/code$ make", "/code$ make all", "/code$ make ", "/elsewhere$ make"]);
    const again = await askedAfter("once", COMMANDS, rules);
    expect(again.subjects).toEqual(["/code$ make all", "/code$ make ", "/elsewhere$ make"]);

    const elsewhere = testEngine({ rules, cwd: "/other", scripts: [[{ command: "make" }]] });
    const client = elsewhere.connect();
    await client.startTurn(await client.startThread(), "go");
    expect((await asked(client)).action).toMatchObject({ command: "make", cwd: "/other" });

    const driver = new ScriptedDriver({ id: "another", scripts: [[{ command: "make" }]] });
    const another = testEngine({ rules, driver }).connect();
    await another.startTurn(await another.startThread(), "go");
    expect((await asked(another)).action).toMatchObject({ command: "make", cwd: "/code" });
  });

  test("about files applies to their paths, all of which must have been allowed", async () => {
    const both = [...file("/project/a"), ...file("/project/b")];
    const script: Script = [
      { fileChange: file("/project/a") },
      { fileChange: file("/project/a") },
      { fileChange: both },
    ];
    const { subjects } = await askedAfter("session", script);
    expect(subjects).toEqual(["fileChange", "fileChange"]);
  });

  test("with scope session still applies after the thread was loaded again", async () => {
    const store = new UnreliableStore();
    const first = testEngine({ store, scripts: [[{ command: "make" }]] });
    const client = first.connect();
    const threadId = await client.startThread();
    const turnId = await client.startTurn(threadId, "go");
    const { id } = await asked(client);
    await client.call("approval/respond", {
      threadId,
      approvalId: id,
      decision: { ...ALLOW, scope: "session" },
    });
    await client.turnEnd(turnId);
    await first.close();
    const later = testEngine({ store, scripts: [[{ command: "make" }]] }).connect();
    expect((await later.runTurn(threadId, "again")).items.at(-1)).toMatchObject({ status: "completed" });
    expect(later.eventsOf("approval/requested")).toEqual([]);
  });
});

describe("every approval ends", () => {
  verifies("P14", "by its time limit, as declined, naming what was declined, and nothing runs", async () => {
    const { server, client, threadId, turnId, respond } = await waiting([{ command: "rm -r build" }], {
      approvalTimeoutMs: 2_000,
    });
    await server.clock.advance(1_999);
    expect(client.eventsOf("approval/resolved")).toEqual([]);
    await server.clock.advance(1);
    const turn = await client.turnEnd(turnId);
    expect(turn.items.at(-1)).toMatchObject({ command: "rm -r build", status: "declined" });
    const message = "There was no answer within 2 s, so it was declined: rm -r build";
    expect((await client.waitFor("approval/resolved")).data.resolution).toEqual({
      decision: { outcome: "deny", scope: "once", message },
      by: "timeout",
    });
    expect(server.driver.turns[0]?.decisions).toMatchObject([{ message }]);
    expect(await respond(ALLOW)).toMatchObject({
      grant: { scope: "once", words: expect.stringContaining("rm -r build") },
    });
    expect((await client.call("thread/attach", { threadId })).approvals).toEqual([]);
    expect(server.driver.turns).toHaveLength(1);
  });

  verifies("P14", "at once with an interrupt, and a later answer is ignored", async () => {
    const { client, threadId, turnId, approval, respond } = await waiting([
      { command: "make", startsFirst: true },
    ]);
    const interrupted = client.call("turn/interrupt", { threadId });
    const answered = interrupted.then(() => respond(ALLOW));
    await expect(answered).rejects.toMatchObject({ kind: "approvalNotFound" });
    const turn = await client.turnEnd(turnId);
    expect(turn.status).toBe("interrupted");
    expect(turn.items.at(-1)).toMatchObject({ command: "make", status: "declined" });
    const { data } = await client.waitFor("approval/resolved");
    expect(data).toMatchObject({
      approvalId: approval.id,
      resolution: { decision: { outcome: "cancel" }, by: "interrupt" },
    });
    expect(client.eventsOf("approval/resolved")).toHaveLength(1);
  });

  test("with the first answer; a second one is rejected as too late", async () => {
    const { server, client, threadId, turnId, approval, respond } = await waiting([{ command: "make" }]);
    const other = server.connect();
    await other.call("thread/attach", { threadId });
    const responding = respond(ALLOW);
    const second = other.call("approval/respond", { threadId, approvalId: approval.id, decision: DENY });
    const [first, late] = await Promise.allSettled([responding, second]);
    expect(first.status).toBe("fulfilled");
    expect(late).toMatchObject({ status: "rejected", reason: { kind: "approvalNotFound" } });
    expect((await client.turnEnd(turnId)).items.at(-1)).toMatchObject({ status: "completed" });
    expect(other.eventsOf("approval/resolved")).toHaveLength(1);
  });

  test("and leaves no timer behind", async () => {
    const { server, client, turnId, respond } = await waiting([{ command: "make" }]);
    const before = server.clock.pending;
    await respond(ALLOW);
    await client.turnEnd(turnId);
    expect(server.clock.pending).toBe(before - 1);
  });

  test("and an answer for another thread is rejected", async () => {
    const { client, approval } = await waiting([{ command: "make" }]);
    const threadId = await client.startThread();
    await expect(
      client.call("approval/respond", { threadId, approvalId: approval.id, decision: ALLOW }),
    ).rejects.toMatchObject({ kind: "approvalNotFound" });
  });
});

describe("with several clients", () => {
  test("any subscriber is asked and can answer, not only the one that started the turn", async () => {
    const gate = new Gate();
    const server = testEngine({ scripts: [[{ wait: gate }, { command: "make" }]] });
    const [owner, other] = [server.connect(), server.connect()];
    const threadId = await owner.startThread();
    const turnId = await owner.startTurn(threadId, "go");
    await other.call("thread/attach", { threadId });
    gate.open();
    const { id } = await asked(other);
    await other.call("approval/respond", { threadId, approvalId: id, decision: ALLOW });
    expect((await owner.turnEnd(turnId)).items.at(-1)).toMatchObject({ status: "completed" });
    expect((await owner.waitFor("approval/resolved")).data.resolution.clientId).toBe(other.session.id);
  });

  test("a client that attaches late is asked too, once", async () => {
    const { server, threadId, approval } = await waiting([{ command: "make" }]);
    const [attached, resumed] = [server.connect(), server.connect()];
    const { approvals } = await attached.call("thread/attach", { threadId });
    expect(approvals).toEqual([approval]);
    await resumed.call("thread/resume", { threadId });
    await settled();
    for (const client of [attached, resumed]) {
      expect(client.eventsOf("approval/requested").map((event) => event.data.approval)).toEqual([approval]);
    }
  });

  test("a client that leaves does not take the request with it", async () => {
    const { server, client, threadId, approval } = await waiting([{ command: "make" }]);
    client.session.close();
    const other = server.connect();
    await other.call("thread/attach", { threadId });
    await other.call("approval/respond", { threadId, approvalId: approval.id, decision: ALLOW });
    expect((await other.waitFor("turn/completed")).data.turn.items.at(-1)).toMatchObject({
      status: "completed",
    });
    expect(client.eventsOf("approval/resolved")).toEqual([]);
  });
});

describe("a decision is on the disk before it has any effect", () => {
  test("it is stored, synced, answered and sent before it is acted upon", async () => {
    const store = new UnreliableStore();
    const { server, client, turnId, respond } = await waiting([{ command: "make" }], { store });
    const disk = new Gate();
    store.syncWaits = () => disk.wait();
    const responding = respond(ALLOW);
    await disk.reached;
    await settled();
    expect(store.journal.at(-1)).toBe("approval/resolved");
    expect(client.order).not.toContain("<- approval/respond");
    expect(client.order).not.toContain("approval/resolved");
    expect(server.driver.turns[0]?.decisions).toEqual([]);
    disk.open();
    await responding;
    await client.turnEnd(turnId);
    expect(store.journal.slice(store.journal.indexOf("approval/resolved")).slice(0, 3)).toEqual([
      "approval/resolved",
      "sync",
      "item/started",
    ]);
  });

  test("nothing is done and the turn fails if it cannot be synced", async () => {
    const store = new UnreliableStore();
    const { server, client, turnId, respond } = await waiting([{ command: "make" }], { store });
    store.syncFails = true;
    await respond(ALLOW);
    const turn = await client.turnEnd(turnId);
    expect(turn).toMatchObject({ status: "failed", error: { errorInfo: "StorageFailed" } });
    expect(JSON.stringify(turn.items)).not.toContain("make");
    expect(server.driver.turns[0]?.decisions.map((decision) => decision.outcome)).not.toContain("allow");
    expect((await client.waitFor("warning")).data.reason).toBe("syncFailed");
  });

  test("the answer is rejected, nothing is done and the turn fails if it cannot be stored", async () => {
    const store = new UnreliableStore();
    const { server, client, turnId, respond } = await waiting([{ command: "make" }], { store });
    store.refuses = (bodies) => bodies.some((body) => body.type === "approval/resolved");
    await expect(respond(ALLOW)).rejects.toMatchObject({ kind: "storageFailed" });
    store.refuses = () => false;
    expect(await client.turnEnd(turnId)).toMatchObject({
      status: "failed",
      error: { message: "The disk is full." },
    });
    expect(server.driver.turns[0]?.decisions.map((decision) => decision.outcome)).not.toContain("allow");
  });

  test("nothing is done if the turn is interrupted while it is synced", async () => {
    const store = new UnreliableStore();
    const outcomes: string[] = [];
    const { client, threadId, turnId, respond } = await waiting([], { store, driver: asking(outcomes) });
    const disk = new Gate();
    store.syncWaits = () => disk.wait();
    const responding = respond(ALLOW);
    await disk.reached;
    await client.call("turn/interrupt", { threadId });
    disk.open();
    await responding;
    expect((await client.turnEnd(turnId)).status).toBe("interrupted");
    expect(outcomes).toEqual(["cancel"]);
  });

  test("an agent that waits for nothing else is released if it cannot be stored", async () => {
    const store = new UnreliableStore();
    const outcomes: string[] = [];
    const { client, turnId, respond } = await waiting([], { store, driver: asking(outcomes) });
    store.refuses = (bodies) => bodies.some((body) => body.type === "approval/resolved");
    await expect(respond(ALLOW)).rejects.toMatchObject({ kind: "storageFailed" });
    store.refuses = () => false;
    expect((await client.turnEnd(turnId)).status).toBe("failed");
    expect(outcomes).toEqual(["cancel"]);
  });

  test("the turn ends if its time limit cannot be stored", async () => {
    const store = new UnreliableStore();
    const { server, client, turnId } = await waiting([{ command: "make" }], { store });
    store.refuses = () => true;
    await server.clock.advance(600_000);
    expect((await client.turnEnd(turnId)).error?.errorInfo).toBe("StorageFailed");
  });

  test("a question that cannot be stored is not asked", async () => {
    const store = new UnreliableStore();
    store.refuses = (bodies) => bodies.some((body) => body.type === "approval/requested");
    const server = testEngine({ store, scripts: [[{ command: "make" }]] });
    const client = server.connect();
    const turn = await client.runTurn(await client.startThread(), "go");
    expect(turn).toMatchObject({ status: "failed", error: { errorInfo: "StorageFailed" } });
    expect(client.eventsOf("approval/requested")).toEqual([]);
    expect(JSON.stringify(turn.items)).not.toContain("make");
  });
});
