import { describe, expect, test } from "vitest";
import type { EventBody } from "../events.ts";
import { after, approval, command, ofTurn, request, STARTED, turn } from "../testing/thread-events.ts";

describe("the status of a thread", () => {
  const resolution = { decision: { outcome: "deny", scope: "once" }, by: "client" } as const;
  const asked: EventBody[] = [
    { type: "approval/requested", data: { threadId: "t1", approval } },
    { type: "question/requested", data: { threadId: "t1", request } },
  ];
  const answered: EventBody[] = [
    { type: "approval/resolved", data: { ...ofTurn, approvalId: "a1", itemId: "i2", resolution } },
    {
      type: "question/resolved",
      data: { ...ofTurn, questionId: "q1", itemId: "i2", answers: {}, by: "client" },
    },
  ];
  const ended: EventBody = {
    type: "turn/completed",
    data: { threadId: "t1", turn: { ...turn, status: "interrupted" } },
  };

  test.each([
    ["no turn", STARTED.slice(0, 1), { type: "idle" }],
    ["a turn", STARTED, { type: "active", activeFlags: [] }],
    [
      "an approval",
      [...STARTED, ...asked.slice(0, 1)],
      { type: "active", activeFlags: ["waitingOnApproval"] },
    ],
    [
      "an approval and a question",
      [...STARTED, ...asked],
      { type: "active", activeFlags: ["waitingOnApproval", "waitingOnUserInput"] },
    ],
    [
      "a question",
      [...STARTED, ...asked, ...answered.slice(0, 1)],
      { type: "active", activeFlags: ["waitingOnUserInput"] },
    ],
    [
      "a turn whose questions are answered",
      [...STARTED, ...asked, ...answered],
      { type: "active", activeFlags: [] },
    ],
    ["a turn that ended with its questions", [...STARTED, ...asked, ended], { type: "idle" }],
  ])("%s", (_name, events, status) => {
    expect(after(events).thread.status).toEqual(status);
  });

  test("what is open ends with its turn", () => {
    const running = after([
      ...STARTED,
      { type: "item/started", data: { ...ofTurn, item: command } },
      ...asked,
    ]);
    expect([running.openItemIds, running.approvals, running.questions]).toEqual([
      ["i2"],
      [approval],
      [request],
    ]);
    const { approvals, questions, activeTurnId, openItemIds } = after([ended], running);
    expect({ approvals, questions, activeTurnId, openItemIds }).toEqual({
      approvals: [],
      questions: [],
      activeTurnId: undefined,
      openItemIds: [],
    });
  });
});

describe("an answer to an approval", () => {
  test.each([
    ["allow", "once", []],
    ["allow", "session", ["run: npm test (in /repo)"]],
    // What is allowed for always is stored as a rule, which can be removed.
    ["allow", "always", []],
    ["deny", "session", []],
    ["cancel", "always", []],
  ] as const)("%s for %s grants %j", (outcome, scope, grants) => {
    const resolution = { decision: { outcome, scope }, by: "client" } as const;
    const resolved: EventBody = {
      type: "approval/resolved",
      data: { ...ofTurn, approvalId: "a1", itemId: "i2", resolution },
    };
    const state = after([
      ...STARTED,
      { type: "approval/requested", data: { threadId: "t1", approval } },
      resolved,
    ]);
    expect(state.grants.map(({ words }) => words)).toEqual(grants);
    expect(
      after([{ type: "approval/requested", data: { threadId: "t1", approval } }, resolved], state).grants,
    ).toHaveLength(grants.length);
  });
});

describe("a suggestion", () => {
  const suggestion = {
    ...{ id: "r1", project: "/repo", agent: "flint", tool: "command" },
    match: { type: "prefix" as const, words: ["npm", "test"] },
  };

  test.each([
    ["session", "r1", ["run commands that begin with: npm test"]],
    ["session", "r2", ["run: npm test (in /repo)"]],
    ["always", "r1", []],
    ["once", "r1", []],
  ] as const)("accepted for %s as %s is stored in the thread as %j", (scope, rule, words) => {
    const resolution = { decision: { outcome: "allow", scope, rule }, by: "client" } as const;
    const state = after([
      ...STARTED,
      {
        type: "approval/requested",
        data: { threadId: "t1", approval: { ...approval, suggestions: [suggestion] } },
      },
      { type: "approval/resolved", data: { ...ofTurn, approvalId: "a1", itemId: "i2", resolution } },
    ]);
    expect(state.grants.map((grant) => grant.words)).toEqual(words);
  });
});
