import type { Decision, ThreadSettings } from "@flint/protocol";
import { CodexCommandDecision } from "@flint/protocol/codex";
import { RecordingTurn } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { sessionSpec } from "../testing/session-spec.ts";
import { AMENDMENT } from "./server-requests.ts";
import { FakeCodex, fakeSession, SETTINGS, TURN_IDS, type WireMessage } from "./testing/fake-codex.ts";

/** A turn that has begun. */
async function running(fake: FakeCodex, decide?: () => Decision, settings: ThreadSettings = SETTINGS) {
  const { opened, driver } = await fakeSession(fake, onTestFinished);
  const turn = new RecordingTurn({ text: "go", settings, ...(decide === undefined ? {} : { decide }) });
  const outcome = opened.run(turn);
  outcome.catch(() => undefined);
  await fake.received(({ method }) => method === "turn/start");
  return { opened, driver, turn, outcome };
}

/** Asks as the fake program does, and returns the answer. */
async function answerTo(method: string, params: object, decide?: () => Decision): Promise<WireMessage> {
  const fake = new FakeCodex();
  const { turn } = await running(fake, decide);
  fake.send({ id: "ask-7", method, params: { ...TURN_IDS, ...params } });
  const answer = await fake.received(({ id }) => id === "ask-7");
  turn.stop();
  fake.endTurn("interrupted");
  return answer;
}

describe("server requests", () => {
  const command = { itemId: "c", command: "/bin/bash -lc 'make all'", cwd: "/workspace" };

  test.each([
    ["allow", "once", "accept"],
    ["allow", "session", "acceptForSession"],
    ["allow", "always", "accept"],
    ["deny", "once", "decline"],
    ["cancel", "once", "cancel"],
  ] as const)(
    "[S3-72] [S3-74] [S4-11] answers a command request (%s, %s) with %s",
    async (outcome, scope, decision) => {
      const answer = await answerTo("item/commandExecution/requestApproval", command, () => ({
        outcome,
        scope,
      }));
      expect(answer).toEqual({ id: "ask-7", result: { decision } });
      expect(CodexCommandDecision.safeParse(decision).success).toBe(true);
    },
  );

  test.each([
    ["allow", "once", "accept"],
    ["allow", "session", "accept"],
    ["deny", "once", "decline"],
    ["cancel", "once", "cancel"],
  ] as const)("a file change: %s, %s is answered with %s", async (outcome, scope, decision) => {
    const answer = await answerTo("item/fileChange/requestApproval", { itemId: "f" }, () => ({
      ...{ outcome, scope },
    }));
    expect(answer).toEqual({ id: "ask-7", result: { decision } });
  });

  test.each([
    ["allow", { action: "accept", content: {}, _meta: null }],
    ["deny", { action: "decline", content: null, _meta: null }],
    ["cancel", { action: "cancel", content: null, _meta: null }],
  ] as const)("the call of an MCP tool: %s is answered as such", async (outcome, result) => {
    const ask = {
      ...{ serverName: "lamps", message: 'Allow the tool "dim"?', mode: "form" },
      requestedSchema: { type: "object", properties: {} },
      _meta: { codex_approval_kind: "mcp_tool_call", tool_params: { level: 3 } },
    };
    const decide = () => ({ outcome, scope: "once" }) as const;
    expect(await answerTo("mcpServer/elicitation/request", ask, decide)).toEqual({ id: "ask-7", result });
  });

  test.each([
    ["allow", "once", "approved"],
    ["allow", "session", "approved_for_session"],
    ["deny", "once", { denied: { rejection: "The user declined." } }],
    ["cancel", "once", "abort"],
  ] as const)(
    "[S3-73] [S4-45] answers the older command request (%s, %s) with the older decision",
    async (outcome, scope, decision) => {
      const old = {
        conversationId: "thread-1",
        callId: "c",
        command: ["bash", "-lc", "make"],
        cwd: "/",
        parsedCmd: [],
      };
      const answer = await answerTo("execCommandApproval", old, () => ({ outcome, scope }));
      expect(answer).toEqual({ id: "ask-7", result: { decision } });
    },
  );

  /** As Codex asked before it took this request away: without saying in which thread. */
  const skill = {
    id: "skill-1",
    method: "skill/requestApproval",
    params: { itemId: "s", skillName: "lamps" },
  };

  test.each([
    ["allow", "approve"],
    ["deny", "decline"],
    ["cancel", "decline"],
  ] as const)(
    "[S2-75] answers the skill request of an older Codex (%s) with %s",
    async (outcome, decision) => {
      const fake = new FakeCodex();
      const { turn } = await running(fake, () => ({ outcome, scope: "once" }));
      fake.send(skill);
      const answer = await fake.received(({ id }) => id === skill.id);
      expect(answer).toEqual({ id: skill.id, result: { decision } });
      expect(turn.actions).toEqual([
        { kind: "tool", itemId: "s", tool: "skill", arguments: { skill: "lamps" } },
      ]);
      fake.endTurn();
    },
  );

  test("[S2-75] rejects a skill request if no turn runs, or if it could be for several", async () => {
    const fake = new FakeCodex();
    const { driver, turn, outcome } = await running(fake);
    const answers = {
      thread: { id: "thread-2", preview: "", cwd: "/workspace", turns: [] },
      model: "model-1",
    };
    fake.answers.set("thread/start", answers);
    const other = await driver.open(sessionSpec(SETTINGS, fake, { threadId: "another-thread" }));
    onTestFinished(() => other.close());
    const second = new RecordingTurn({ text: "go", settings: SETTINGS });
    const ended = other.run(second);
    await fake.received(({ params }) => Object(params).threadId === "thread-2");
    fake.send(skill);
    expect(await fake.received(({ id }) => id === skill.id)).toEqual({
      id: skill.id,
      error: { code: -32602, message: expect.stringContaining("turns run in 2 threads") },
    });
    fake.endTurn();
    await outcome;
    fake.send({ ...skill, id: "skill-2" });
    expect(await fake.received(({ id }) => id === "skill-2")).toMatchObject({
      result: { decision: "approve" },
    });
    fake.send({
      method: "turn/completed",
      params: { threadId: "thread-2", turn: { id: "turn-1", status: "completed", items: [] } },
    });
    await ended;
    fake.send({ ...skill, id: "skill-3" });
    expect(await fake.received(({ id }) => id === "skill-3")).toMatchObject({ error: { code: -32602 } });
    expect([turn.actions.length, second.actions.length]).toEqual([0, 1]);
  });

  test("rejects a request for another thread, also if only one turn runs", async () => {
    const fake = new FakeCodex();
    const { turn } = await running(fake);
    fake.send({ ...skill, params: { ...skill.params, threadId: "of another thread" } });
    expect(await fake.received(({ id }) => id === skill.id)).toMatchObject({ error: { code: -32602 } });
    expect(turn.actions).toEqual([]);
    fake.endTurn();
  });

  const forCodex: Decision = { outcome: "allow", scope: "always", _meta: { [AMENDMENT]: true } };
  const amendment = ["make", "all"];

  test("[S3-72] makes the proposed execpolicy amendment only on explicit request", async () => {
    const proposal = { ...command, proposedExecpolicyAmendment: amendment };
    const method = "item/commandExecution/requestApproval";
    const decision = { acceptWithExecpolicyAmendment: { execpolicy_amendment: amendment } };
    expect(await answerTo(method, proposal, () => forCodex)).toEqual({ id: "ask-7", result: { decision } });
    expect(CodexCommandDecision.safeParse(decision).success).toBe(true);
    const plain = [
      await answerTo(method, proposal, () => ({ outcome: "allow", scope: "always" })),
      await answerTo(method, proposal, () => ({ ...forCodex, scope: "once" })),
      await answerTo(method, command, () => forCodex),
    ];
    expect(plain.map(({ result }) => result)).toEqual(
      Array.from({ length: 3 }, () => ({ decision: "accept" })),
    );
  });

  test("[S3-73] makes the amendment of the older request in its own form", async () => {
    const old = {
      ...{ conversationId: "thread-1", callId: "c", command: ["make", "all"], cwd: "/", parsedCmd: [] },
      proposed_execpolicy_amendment: amendment,
    };
    const decision = { approved_execpolicy_amendment: { proposed_execpolicy_amendment: amendment } };
    const answer = await answerTo("execCommandApproval", old, () => forCodex);
    expect(answer).toEqual({ id: "ask-7", result: { decision } });
  });

  test("makes no amendment for a sandboxed thread", async () => {
    const fake = new FakeCodex();
    const confined: ThreadSettings = { ...SETTINGS, sandboxPolicy: { type: "workspaceWrite" } };
    await running(fake, () => forCodex, confined);
    const params = { ...TURN_IDS, ...command, proposedExecpolicyAmendment: amendment };
    fake.send({ id: 3, method: "item/commandExecution/requestApproval", params });
    const answer = await fake.received(({ id, method }) => id === 3 && method === undefined);
    expect(answer).toEqual({ id: 3, result: { decision: "accept" } });
    fake.endTurn();
  });

  test("[S3-73] requests approval of the older patch request with complete diffs", async () => {
    const fake = new FakeCodex();
    const { turn } = await running(fake);
    const fileChanges = { "/workspace/a": { type: "add", content: "x\n" } };
    const params = { conversationId: "thread-1", callId: "p", fileChanges, reason: null, grantRoot: null };
    fake.send({ id: 3, method: "applyPatchApproval", params });
    expect(await fake.received(({ id, method }) => id === 3 && method === undefined)).toEqual({
      id: 3,
      result: { decision: "approved" },
    });
    const changes = [{ path: "a", kind: "add", diff: "--- /dev/null\n+++ b/a\n@@ -0,0 +1,1 @@\n+x\n" }];
    expect(turn.actions).toEqual([{ kind: "fileChange", itemId: "p", changes }]);
    fake.endTurn();
  });

  test("requests approval of the command without its shell wrapper", async () => {
    const fake = new FakeCodex();
    const { turn } = await running(fake);
    fake.send({
      id: 3,
      method: "item/commandExecution/requestApproval",
      params: { ...TURN_IDS, ...command },
    });
    expect(await turn.firstAction()).toEqual({
      kind: "command",
      itemId: "c",
      command: "make all",
      cwd: "/workspace",
    });
    fake.endTurn();
  });

  test("asks the user about a command that is to leave the sandbox, and says that it stays in it", async () => {
    const fake = new FakeCodex();
    const confined: ThreadSettings = { ...SETTINGS, sandboxPolicy: { type: "workspaceWrite" } };
    const { turn } = await running(fake, undefined, confined);
    const params = { ...TURN_IDS, ...command, reason: "I need the network." };
    fake.send({ id: 3, method: "item/commandExecution/requestApproval", params });
    expect(await turn.firstAction()).toMatchObject({
      kind: "command",
      command: "make all",
      reason: expect.stringMatching(/^I need the network\. .*it stays in the sandbox/),
    });
    fake.endTurn();
  });

  test("[S2-79] [S4-11] answers an unsupported request with an error", async () => {
    const unknown = await answerTo("account/chatgptAuthTokens/refresh", {});
    expect(unknown).toMatchObject({
      id: "ask-7",
      error: { message: "Flint does not support account/chatgptAuthTokens/refresh." },
    });
  });

  test("[S2-76] calls a client-provided tool, and returns its result as Codex expects it", async () => {
    const fake = new FakeCodex();
    const { opened } = await fakeSession(fake, onTestFinished);
    const content = [
      { type: "text" as const, text: "lit" },
      { type: "image" as const, url: "data:image/png;base64,AAAA" },
    ];
    const turn = new RecordingTurn({
      text: "go",
      settings: SETTINGS,
      toolResult: { success: false, content },
    });
    const outcome = opened.run(turn);
    await fake.received(({ method }) => method === "turn/start");
    const params = {
      ...TURN_IDS,
      callId: "c",
      namespace: "house",
      tool: "lamp",
      arguments: { room: "hall" },
    };
    fake.send({ id: 3, method: "item/tool/call", params });
    const answer = await fake.received(({ id, method }) => id === 3 && method === undefined);
    expect(answer.result).toEqual({
      success: false,
      contentItems: [
        { type: "inputText", text: "lit" },
        { type: "inputImage", imageUrl: "data:image/png;base64,AAAA" },
      ],
    });
    expect(turn.toolCalls).toMatchObject([{ tool: "lamp", namespace: "house", arguments: { room: "hall" } }]);
    fake.endTurn();
    await outcome;
  });

  test("[S4-11] asks the user's input by question id, and returns the answers", async () => {
    const fake = new FakeCodex();
    const { opened } = await fakeSession(fake, onTestFinished);
    const turn = new RecordingTurn({ text: "go", settings: SETTINGS, answers: { q: { answers: ["blue"] } } });
    const outcome = opened.run(turn);
    await fake.received(({ method }) => method === "turn/start");
    const options = [{ label: "red", description: "Warm." }];
    const question = {
      id: "q",
      header: "Colour",
      question: "Which?",
      isOther: true,
      isSecret: true,
      options,
    };
    const params = { ...TURN_IDS, itemId: "ask", questions: [question], isBlocking: true };
    fake.send({ id: 3, method: "item/tool/requestUserInput", params });
    const answer = await fake.received(({ id, method }) => id === 3 && method === undefined);
    expect(answer.result).toEqual({ answers: { q: { answers: ["blue"] } } });
    expect(turn.questions).toEqual([
      [{ id: "q", header: "Colour", question: "Which?", options, secret: true }],
    ]);
    fake.endTurn();
    await outcome;
  });

  test("asks the form of an MCP server as questions, and accepts with the answers", async () => {
    const fake = new FakeCodex();
    const { opened } = await fakeSession(fake, onTestFinished);
    const answers = { colour: { answers: ["Red"] }, count: { answers: ["3"] } };
    const turn = new RecordingTurn({ text: "go", settings: SETTINGS, answers });
    const outcome = opened.run(turn);
    await fake.received(({ method }) => method === "turn/start");
    const requestedSchema = {
      type: "object",
      properties: {
        colour: { type: "string", title: "Colour", oneOf: [{ const: "red", title: "Red" }] },
        count: { type: "integer", description: "How many?" },
        note: { type: "string" },
      },
      required: ["colour", "count"],
    };
    const params = {
      ...TURN_IDS,
      serverName: "lamps",
      mode: "form",
      message: "Which lamp?",
      requestedSchema,
      _meta: null,
    };
    fake.send({ id: 3, method: "mcpServer/elicitation/request", params });
    const answer = await fake.received(({ id, method }) => id === 3 && method === undefined);
    expect(answer.result).toEqual({ action: "accept", content: { colour: "red", count: 3 }, _meta: null });
    expect(turn.questions[0]).toMatchObject([
      { id: "colour", header: "Colour", options: [{ label: "Red" }] },
      { id: "count", question: "count: How many? (a whole number)" },
      { id: "note", question: "note (optional)" },
    ]);
    fake.endTurn();
    await outcome;
  });
});
