import type { TaskAsk, TaskEventBody, TrackedFinding } from "@flint/protocol";
import { expect, test } from "vitest";
import { FakeTasks } from "../../testing/fake-tasks.ts";
import { SessionFixture } from "../../testing/session-fixture.ts";

const ENTER = "\r";
const ESCAPE = "\u001b";
const DOWN = "\u001b[B";
const COMMIT = "a".repeat(40);
const TREE = "b".repeat(40);
const usage = { seconds: 60, cost: { amount: 0.42, currency: "USD" } };
const turn = { threadId: "thread-1" };

const finding = { id: "F1", severity: "major" as const, file: "a.txt", line: 3, what: "wrong word" };
const tracked = {
  ...finding,
  ...{ round: 1, contests: 0, blocking: true },
  source: "reviewer" as const,
  state: "open" as const,
};

/** A round whose work is done, with a check that failed or passed. */
function worked(round: number, exitCode: number, findings: TrackedFinding[] = []): TaskEventBody[] {
  const check = { name: "npm test", exitCode, timedOut: false, seconds: 3, output: "1 test failed\n" };
  return [
    { type: "round/started", data: { round, executor: 0, clientId: `c${round}` } },
    {
      type: "round/executed",
      data: { turn, commit: COMMIT, tree: TREE, summary: `work of round ${round}`, contested: [], usage },
    },
    { type: "round/checked", data: { results: [check], findings } },
  ];
}

const rejected: TaskEventBody = {
  type: "round/reviewed",
  data: {
    ...{ reviewer: 0, findings: [tracked], usage },
    verdict: { verdict: "reject", summary: "one thing is wrong", findings: [finding], earlier: [] },
  },
};

const needsApproval: TaskEventBody[] = [
  ...worked(1, 1),
  rejected,
  { type: "round/rejected", data: { findings: [tracked] } },
  ...worked(2, 0, [{ ...tracked, state: "resolved" }]),
  { type: "task/reviewed", data: { commit: COMMIT, tree: TREE } },
];

function asks(ask: Partial<TaskAsk>): TaskEventBody {
  const whole = { id: "ask-1", reason: "question" as const, message: "Which port?", ...ask };
  return { type: "task/asking", data: { ask: whole } };
}

/** A session with these tasks on its server, on the page of tasks. */
async function open(tasks: FakeTasks, typed = "/tasks") {
  const session = await SessionFixture.open({ columns: 100, rows: 40, tasks });
  await session.keys(typed, ENTER);
  const screen = () => session.terminal.screen.map((row) => row.trimEnd()).join("\n");
  return { session, screen, keys: session.keys.bind(session) };
}

test("tasks that need the user are on top, and the list changes while nothing is pressed", async () => {
  const tasks = new FakeTasks();
  const first = tasks.add("Port the config");
  tasks.add("Fix the parser", needsApproval);
  const { session, screen } = await open(tasks);
  const rows = screen().split("\n");
  expect(rows[0]).toBe("Tasks  1 needs you");
  expect(rows[1]).toMatch(
    /^▸ ! needs approval {2}#2 Fix the parser {2}2\/3 · alpha → beta · \$1\.26, 3m 00s$/,
  );
  expect(rows[2]).toMatch(/^ {2}○ ready +#1 Port the config {2}alpha → beta$/);
  tasks.happened(first, asks({}));
  await session.settle();
  expect(screen()).toContain("Tasks  2 need you");
  expect(screen()).toMatch(/needs an answer +#1 Port the config/);
  expect(screen()).toMatch(/▸ ! needs approval +#2/);
});

test("a page that is open waits for one answer, and sets no timer; once closed it asks no more", async () => {
  const tasks = new FakeTasks();
  const id = tasks.add("Port the config");
  const { session, keys } = await open(tasks);
  expect([tasks.waiting, session.timers]).toEqual([1, 0]);
  await keys("q");
  expect(session.terminal.isAlternate).toBe(false);
  tasks.happened(id, asks({}));
  await session.settle();
  expect(tasks.waiting).toBe(0);
});

test("the page of a task shows what is wanted, its rounds with checks, verdicts and findings, and its log", async () => {
  const tasks = new FakeTasks();
  tasks.add("Fix the parser", needsApproval);
  const { screen, keys } = await open(tasks);
  await keys(ENTER);
  for (const shown of [
    ...["#1 Fix the parser", "The result needs your approval.", "Used      $1.26, 3m 00s", "Executor  alpha"],
    ...["Round 1", "✓ alpha: work of round 1", "✗ npm test failed with 1 after 3.0s", "1 test failed"],
    ...["✗ beta rejects: one thing is wrong (1 finding)", "✓ F1 major, resolved  a.txt:3 wrong word"],
    ...["Round 2", "✓ npm test passed after 3.0s", "added by ann", "back to the executor with 1 finding"],
    "a approve · r request changes · d diff · l log · o thread · c cancel",
  ])
    expect(screen()).toContain(shown);
  await keys("l");
  expect(screen()).toContain("Log of task 1");
  await keys("q", "q");
  expect(screen()).toContain("Tasks  1 needs you");
});

test("a result is approved on its diff, and only that result", async () => {
  const tasks = new FakeTasks();
  tasks.diff = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n";
  const id = tasks.add("Fix the parser", needsApproval);
  const { screen, keys } = await open(tasks);
  await keys(ENTER, "a");
  expect(screen()).toMatch(/Result of task 1\n.*a\.txt \+1 −1\n[\s\S]*-one\n\+two/);
  expect(tasks.decided).toEqual([]);
  await keys("a");
  expect(tasks.decided).toEqual([["task/approve", expect.objectContaining({ taskId: id, tree: TREE })]]);
  expect(screen()).toContain("Approved.");
  expect(screen()).toContain("Status    done");
});

test("a key that comes with the one that opened the result does not approve it", async () => {
  const tasks = new FakeTasks();
  tasks.add("Fix the parser", needsApproval);
  const { session, screen, keys } = await open(tasks);
  await keys(ENTER);
  session.terminal.type("a");
  await session.settle(10);
  session.terminal.type("a");
  await session.settle(10);
  expect(screen()).toContain("Result of task 1");
  expect(tasks.decided).toEqual([]);
});

test("changes are requested with a comment, which can be edited, and not without one", async () => {
  const tasks = new FakeTasks();
  tasks.add("Fix the parser", needsApproval);
  const { screen, keys } = await open(tasks);
  await keys(ENTER, "r", ENTER);
  expect(screen()).toContain("What should change?");
  await keys("keep the keyx", "\u007f", ENTER);
  expect(tasks.decided).toMatchObject([["task/reject", { comments: "keep the key" }]]);
  await keys("r", "never mind", ESCAPE, "q");
  expect(tasks.decided).toHaveLength(1);
  expect(screen()).toContain("Tasks");
});

test.each([
  ["a question", {}, ["r", "the second", ENTER], { choice: "continue", message: "the second" }],
  [
    "an approval",
    { reason: "approval" as const },
    ["a"],
    { choice: "continue", response: { outcome: "allow" } },
  ],
  [
    "an approval that is declined",
    { reason: "approval" as const },
    ["r", ENTER],
    { choice: "continue", response: { outcome: "deny" } },
  ],
  ["a limit", { reason: "rounds" as const }, ["x", "x"], { choice: "fail" }],
])("%s is answered", async (_what, ask, pressed, answer) => {
  const tasks = new FakeTasks();
  tasks.add("Fix the parser", [asks(ask)]);
  const { screen, keys } = await open(tasks);
  expect(screen()).toContain("Which port?");
  await keys(ENTER, ...pressed);
  expect(tasks.decided).toMatchObject([["task/answer", { askId: "ask-1", answer }]]);
});

test("what was written is kept if it is refused, with the reason", async () => {
  const tasks = new FakeTasks();
  tasks.add("Fix the parser", needsApproval);
  tasks.refusal = "Task 1 is running and does not need an approval.";
  const { screen, keys } = await open(tasks);
  await keys(ENTER, "r", "keep the key", ENTER);
  expect(screen()).toContain("Task 1 is running and does not need an approval.");
  expect(screen()).toContain("› keep the key");
  tasks.refusal = undefined;
  await keys(ENTER);
  expect(tasks.decided).toMatchObject([["task/reject", { comments: "keep the key" }]]);
});

test("a key that was pressed before a command was asked about does not allow it", async () => {
  const tasks = new FakeTasks();
  const id = tasks.add("Fix the parser");
  const { session, screen, keys } = await open(tasks);
  await keys(ENTER);
  tasks.happened(id, asks({ reason: "approval" }));
  await session.settle(100);
  expect(screen()).toContain("a allow once");
  session.terminal.type("a");
  await session.settle();
  expect(tasks.decided).toEqual([]);
  await keys("a");
  expect(tasks.decided).toHaveLength(1);
});

test("a command that waits for approval is shown in full", async () => {
  const command = `make ${"very ".repeat(60)}long`;
  const action = { kind: "command" as const, itemId: "i1", command, cwd: "/code" };
  const request = { id: "approval-1", turnId: "turn-1", action, requestedAtMs: 0, expiresAtMs: 1 };
  const tasks = new FakeTasks();
  tasks.add("Fix the parser", [asks({ reason: "approval", message: "Approve: make…", request })]);
  const { screen, keys } = await open(tasks);
  await keys(ENTER);
  expect(screen().match(/very/g)).toHaveLength(60);
  expect(screen()).toContain("a allow once · r decline · x give up");
});

test("a result that was done without a merge is merged on its diff", async () => {
  const tasks = new FakeTasks();
  const done: TaskEventBody = { type: "task/ended", data: { status: "done" } };
  const id = tasks.add("Fix the parser", [...worked(1, 0), done]);
  const { screen, keys } = await open(tasks, "/tasks 1");
  expect(screen()).toContain("m merge");
  await keys("m");
  expect(screen()).toContain("Result of task 1");
  await keys("m");
  expect(tasks.decided).toEqual([["task/merge", { taskId: id, tree: TREE }]]);
  expect(screen()).toContain("It is being merged.");
});

test("a task is suspended at once, cancelled only by pressing the key twice, and then offers to run again", async () => {
  const tasks = new FakeTasks();
  tasks.add("Fix the parser", [asks({})]);
  const id = tasks.add("Port the config");
  const { screen, keys } = await open(tasks);
  await keys(DOWN, ENTER, "p");
  expect(screen()).toContain("p resume");
  await keys("c");
  expect(screen()).toContain("Press c again to cancel this task.");
  await keys("j", "c");
  expect(tasks.decided.map(([method]) => method)).toEqual(["task/suspend"]);
  await keys("c");
  expect(tasks.decided.map(([method]) => method)).toEqual(["task/suspend", "task/cancel"]);
  expect(screen()).toContain("t run again");
  await keys("t", "x1", ENTER);
  expect(screen()).toContain("Write a round as r2");
  await keys("\u007f\u007f", "a1.r2", ENTER);
  expect(tasks.decided.at(-1)).toEqual(["task/retry", { taskId: id, fromAttempt: 1, fromRound: 2 }]);
  await keys("q", ".");
  expect(screen()).toMatch(/cancelled +#2 Port the config/);
});

test("all tasks are suspended or resumed by pressing a key twice", async () => {
  const tasks = new FakeTasks();
  const id = tasks.add("Port the config");
  const { session, screen, keys } = await open(tasks);
  expect(screen()).toContain("s suspend all");
  await keys("s");
  expect(screen()).toContain("Press s again to suspend all tasks.");
  await keys("j", "s");
  expect(tasks.decided).toEqual([]);
  await keys("s");
  expect(tasks.decided).toEqual([["task/suspendAll", {}]]);
  expect(screen()).toContain("1 task suspended.");
  tasks.happened(id, { type: "task/suspended", data: { reason: "user" } });
  await session.settle();
  await keys("s", "s");
  expect(tasks.decided.at(-1)).toEqual(["task/resumeAll", {}]);
});

test("a number opens that task, and one that does not exist is said", async () => {
  const tasks = new FakeTasks();
  tasks.add("Fix the parser");
  tasks.add("Port the config");
  expect((await open(tasks, "/tasks 2")).screen()).toMatch(/^#2 Port the config/);
  expect((await open(tasks, "/tasks 7")).screen()).toContain("There is no task 7.");
});

test("a number opens that task, whatever numbers others have and name", async () => {
  const tasks = new FakeTasks();
  for (let count = 1; count <= 23; count += 1) tasks.add(`Fix file f${count + 1}`);
  const { screen } = await open(tasks, "/tasks 2");
  expect(screen()).toMatch(/^#2 Fix file f3/);
});

test("the executor's thread is opened from the task", async () => {
  const tasks = new FakeTasks();
  const session = await SessionFixture.open({
    tasks,
    scripts: [[{ text: "the executor's words" }]],
  });
  const thread = await (await session.connect()).startThread({});
  await thread.run("work");
  tasks.add("Fix it", [
    { type: "round/started", data: { round: 1, executor: 0, clientId: "c" } },
    { type: "round/turn", data: { role: "executor", turn: { threadId: thread.id } } },
  ]);
  await session.keys("/tasks", ENTER, ENTER);
  expect(session.terminal.everything).not.toContain("the executor's words");
  await session.keys("o");
  expect(session.terminal.isAlternate).toBe(false);
  expect(session.terminal.everything).toContain("the executor's words");
});

test("a server that runs no tasks is said, with the way out", async () => {
  const session = await SessionFixture.open({ columns: 120 });
  await session.keys("/tasks", ENTER);
  expect(session.terminal.screen.join(" ")).toContain(
    "runs no tasks: only the shared server does. Use flint tasks",
  );
  await session.keys("q");
  expect(session.terminal.isAlternate).toBe(false);
});

test("after the connection broke, the list is asked for again", async () => {
  const tasks = new FakeTasks();
  tasks.add("Fix the parser");
  const { session, screen } = await open(tasks);
  await session.cut();
  await session.settle(2_000);
  tasks.add("Port the config");
  await session.settle();
  expect(screen()).toContain("#2 Port the config");
});
