import type { Decision, ThreadSettings } from "@flint/protocol";
import { CodexCommandDecision } from "@flint/protocol/codex";
import { RecordingTurn } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { AMENDMENT } from "./server-requests.ts";
import { FakeCodex, fakeSession, PLACE, SETTINGS, specOf, type WireMessage } from "./testing/fake-codex.ts";

/** A turn that has begun. */
async function running(fake: FakeCodex, decide?: () => Decision, settings: ThreadSettings = SETTINGS) {
  const { opened, driver } = await fakeSession(fake, onTestFinished);
  const turn = new RecordingTurn({ text: "go", settings, ...(decide === undefined ? {} : { decide }) });
  const outcome = opened.run(turn);
  outcome.catch(() => undefined);
  await fake.told(({ method }) => method === "turn/start");
  return { opened, driver, turn, outcome };
}

/** What the fake program is answered when it asks this. */
async function answerTo(method: string, params: object, decide?: () => Decision): Promise<WireMessage> {
  const fake = new FakeCodex();
  const { turn } = await running(fake, decide);
  fake.say({ id: "ask-7", method, params: { ...PLACE, ...params } });
  const answer = await fake.told(({ id }) => id === "ask-7");
  turn.stop();
  fake.endTurn("interrupted");
  return answer;
}

describe("what Codex asks", () => {
  const command = { itemId: "c", command: "/bin/bash -lc 'make all'", cwd: "/workspace" };

  test.each([
    ["allow", "once", "accept"],
    ["allow", "session", "acceptForSession"],
    ["allow", "always", "accept"],
    ["deny", "once", "decline"],
    ["cancel", "once", "cancel"],
  ] as const)(
    "[S3-72] [S3-74] [S4-11] a command: %s, %s is answered with %s",
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
    ["allow", "once", "approved"],
    ["allow", "session", "approved_for_session"],
    ["deny", "once", { denied: { rejection: "The user declined." } }],
    ["cancel", "once", "abort"],
  ] as const)(
    "[S3-73] [S4-45] the older request: %s, %s is answered in the older words",
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
    "[S2-75] an older Codex that asks whether a skill may be used, %s, is answered with %s",
    async (outcome, decision) => {
      const fake = new FakeCodex();
      const { turn } = await running(fake, () => ({ outcome, scope: "once" }));
      fake.say(skill);
      const answer = await fake.told(({ id }) => id === skill.id);
      expect(answer).toEqual({ id: skill.id, result: { decision } });
      expect(turn.actions).toEqual([
        { kind: "tool", itemId: "s", tool: "skill", arguments: { skill: "lamps" } },
      ]);
      fake.endTurn();
    },
  );

  test("[S2-75] nobody is asked about a skill where no turn runs, or where it is not clear for which", async () => {
    const fake = new FakeCodex();
    const { driver, turn, outcome } = await running(fake);
    const answers = {
      thread: { id: "thread-2", preview: "", cwd: "/workspace", turns: [] },
      model: "model-1",
    };
    fake.answers.set("thread/start", answers);
    const other = await driver.open({ ...specOf(fake), threadId: "another-thread" });
    onTestFinished(() => other.close());
    const second = new RecordingTurn({ text: "go", settings: SETTINGS });
    const ended = other.run(second);
    await fake.told(({ params }) => Object(params).threadId === "thread-2");
    fake.say(skill);
    expect(await fake.told(({ id }) => id === skill.id)).toEqual({
      id: skill.id,
      error: { code: -32602, message: expect.stringContaining("turns run in 2 threads") },
    });
    fake.endTurn();
    await outcome;
    fake.say({ ...skill, id: "skill-2" });
    expect(await fake.told(({ id }) => id === "skill-2")).toMatchObject({ result: { decision: "approve" } });
    fake.say({
      method: "turn/completed",
      params: { threadId: "thread-2", turn: { id: "turn-1", status: "completed", items: [] } },
    });
    await ended;
    fake.say({ ...skill, id: "skill-3" });
    expect(await fake.told(({ id }) => id === "skill-3")).toMatchObject({ error: { code: -32602 } });
    expect([turn.actions.length, second.actions.length]).toEqual([0, 1]);
  });

  test("nobody is asked about a thread that is not theirs, also if theirs is the only one that works", async () => {
    const fake = new FakeCodex();
    const { turn } = await running(fake);
    fake.say({ ...skill, params: { ...skill.params, threadId: "of somebody else" } });
    expect(await fake.told(({ id }) => id === skill.id)).toMatchObject({ error: { code: -32602 } });
    expect(turn.actions).toEqual([]);
    fake.endTurn();
  });

  const forCodex: Decision = { outcome: "allow", scope: "always", _meta: { [AMENDMENT]: true } };
  const amendment = ["make", "all"];

  test("[S3-72] a rule that Codex proposed is made by who asks for just that", async () => {
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

  test("[S3-73] the older request makes it in the older words", async () => {
    const old = {
      ...{ conversationId: "thread-1", callId: "c", command: ["make", "all"], cwd: "/", parsedCmd: [] },
      proposed_execpolicy_amendment: amendment,
    };
    const decision = { approved_execpolicy_amendment: { proposed_execpolicy_amendment: amendment } };
    const answer = await answerTo("execCommandApproval", old, () => forCodex);
    expect(answer).toEqual({ id: "ask-7", result: { decision } });
  });

  test("a thread that is confined makes no rule in Codex: it would let commands out of the sandbox", async () => {
    const fake = new FakeCodex();
    const confined: ThreadSettings = { ...SETTINGS, sandboxPolicy: { type: "workspaceWrite" } };
    await running(fake, () => forCodex, confined);
    const params = { ...PLACE, ...command, proposedExecpolicyAmendment: amendment };
    fake.say({ id: 3, method: "item/commandExecution/requestApproval", params });
    const answer = await fake.told(({ id, method }) => id === 3 && method === undefined);
    expect(answer).toEqual({ id: 3, result: { decision: "accept" } });
    fake.endTurn();
  });

  test("[S3-73] the older request for a patch is asked with whole diffs", async () => {
    const fake = new FakeCodex();
    const { turn } = await running(fake);
    const fileChanges = { "/workspace/a": { type: "add", content: "x\n" } };
    const params = { conversationId: "thread-1", callId: "p", fileChanges, reason: null, grantRoot: null };
    fake.say({ id: 3, method: "applyPatchApproval", params });
    expect(await fake.told(({ id, method }) => id === 3 && method === undefined)).toEqual({
      id: 3,
      result: { decision: "approved" },
    });
    const changes = [{ path: "a", kind: "add", diff: "--- /dev/null\n+++ b/a\n@@ -0,0 +1,1 @@\n+x\n" }];
    expect(turn.actions).toEqual([{ kind: "fileChange", itemId: "p", changes }]);
    fake.endTurn();
  });

  test("a command is asked about as the user would type it", async () => {
    const fake = new FakeCodex();
    const { turn } = await running(fake);
    fake.say({ id: 3, method: "item/commandExecution/requestApproval", params: { ...PLACE, ...command } });
    expect(await turn.firstAction()).toEqual({
      kind: "command",
      itemId: "c",
      command: "make all",
      cwd: "/workspace",
    });
    fake.endTurn();
  });

  test("a command that is to leave the sandbox is declined without asking where the policy confines it", async () => {
    const fake = new FakeCodex();
    const confined: ThreadSettings = { ...SETTINGS, sandboxPolicy: { type: "workspaceWrite" } };
    const { turn } = await running(fake, undefined, confined);
    const params = { ...PLACE, ...command, reason: "I need the network." };
    fake.say({ id: 3, method: "item/commandExecution/requestApproval", params });
    const answer = await fake.told(({ id, method }) => id === 3 && method === undefined);
    expect(answer).toEqual({ id: 3, result: { decision: "decline" } });
    expect(turn.actions).toEqual([]);
    expect(turn.events).toContainEqual({
      type: "extension",
      method: "codex/warning",
      params: { message: expect.stringContaining('"make all" outside of the sandbox') },
    });
    fake.endTurn();
  });

  test("[S2-79] [S4-11] what Flint cannot do is answered with an error", async () => {
    const unknown = await answerTo("account/chatgptAuthTokens/refresh", {});
    expect(unknown).toMatchObject({
      id: "ask-7",
      error: { message: "Flint does not support account/chatgptAuthTokens/refresh." },
    });
  });

  test("[S2-76] a call of a client's tool is made there, and answered in the words of Codex", async () => {
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
    await fake.told(({ method }) => method === "turn/start");
    const params = { ...PLACE, callId: "c", namespace: "house", tool: "lamp", arguments: { room: "hall" } };
    fake.say({ id: 3, method: "item/tool/call", params });
    const answer = await fake.told(({ id, method }) => id === 3 && method === undefined);
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

  test("[S4-11] a question to the user is asked and answered by the ids of its parts", async () => {
    const fake = new FakeCodex();
    const { opened } = await fakeSession(fake, onTestFinished);
    const turn = new RecordingTurn({ text: "go", settings: SETTINGS, answers: { q: { answers: ["blue"] } } });
    const outcome = opened.run(turn);
    await fake.told(({ method }) => method === "turn/start");
    const options = [{ label: "red", description: "Warm." }];
    const question = {
      id: "q",
      header: "Colour",
      question: "Which?",
      isOther: true,
      isSecret: true,
      options,
    };
    const params = { ...PLACE, itemId: "ask", questions: [question], isBlocking: true };
    fake.say({ id: 3, method: "item/tool/requestUserInput", params });
    const answer = await fake.told(({ id, method }) => id === 3 && method === undefined);
    expect(answer.result).toEqual({ answers: { q: { answers: ["blue"] } } });
    expect(turn.questions).toEqual([
      [{ id: "q", header: "Colour", question: "Which?", options, secret: true }],
    ]);
    fake.endTurn();
    await outcome;
  });

  test("a form of an MCP server is asked as questions, and filled in with the answers", async () => {
    const fake = new FakeCodex();
    const { opened } = await fakeSession(fake, onTestFinished);
    const answers = { colour: { answers: ["Red"] }, count: { answers: ["3"] } };
    const turn = new RecordingTurn({ text: "go", settings: SETTINGS, answers });
    const outcome = opened.run(turn);
    await fake.told(({ method }) => method === "turn/start");
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
      ...PLACE,
      serverName: "lamps",
      mode: "form",
      message: "Which lamp?",
      requestedSchema,
      _meta: null,
    };
    fake.say({ id: 3, method: "mcpServer/elicitation/request", params });
    const answer = await fake.told(({ id, method }) => id === 3 && method === undefined);
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
