import type { TaskEventBody } from "@flint/protocol";
import { ScriptedDriver } from "@flint/testkit";
import { expect, test } from "vitest";
import { FakeTasks } from "../../testing/fake-tasks.ts";
import { SessionFixture, type SessionFixtureOptions } from "../../testing/session-fixture.ts";

const ENTER = "\r";
const DOWN = "\u001b[B";
const [COMMIT, TREE] = ["a".repeat(40), "b".repeat(40)];
const usage = { seconds: 60, cost: { amount: 0.42, currency: "USD" } };
const diffTo = (word: string) =>
  `diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n-one\n+${word}\n+more\n`;

/** An agent whose work is done, with a check that ended so; without findings, its result waits for approval. */
function worked(exitCode: number): TaskEventBody[] {
  const turn = { threadId: "thread-1" };
  const check = { name: "npm test", exitCode, timedOut: false, seconds: 3, output: "" };
  return [
    { type: "round/started", data: { round: 1, executor: 0, clientId: "c" } },
    {
      type: "round/executed",
      data: { turn, commit: COMMIT, tree: TREE, summary: "done", contested: [], usage },
    },
    { type: "round/checked", data: { results: [check], findings: [] } },
    { type: "task/reviewed", data: { commit: COMMIT, tree: TREE } },
  ];
}

const TYPED = "/compare fix it --agents claude,codex --check npm test";

async function open(tasks: FakeTasks, typed = TYPED, options: SessionFixtureOptions = {}) {
  const session = await SessionFixture.open({ columns: 100, rows: 30, tasks, ...options });
  await session.keys(typed, ENTER);
  const screen = () => session.terminal.screen.map((row) => row.trimEnd()).join("\n");
  return { session, screen, keys: session.keys.bind(session) };
}

test("each agent gets a task of its own, whose row changes while nothing is pressed", async () => {
  const tasks = new FakeTasks();
  const { session, screen } = await open(tasks);
  expect(screen()).toMatch(/^Comparison: fix it\n +AGENT +STATUS +USED +CHANGES +CHECKS\n/);
  expect(screen()).toMatch(/\n▸ ○ claude +ready +0\.0s +none +not run yet +#1\n {2}○ codex +ready/);
  tasks.diffs.set("task-2", diffTo("two"));
  tasks.happened("task-2", ...worked(1));
  await session.settle();
  expect(screen()).toMatch(
    / {2}! codex +needs approval +\$0\.420, 1m 00s +1 file, \+2 -1 +1 of 1 check failed +#2/,
  );
  expect(screen()).not.toContain("a keep");
});

test("what a running agent changes is read again, and the diffs of the others are not", async () => {
  const tasks = new FakeTasks();
  const { session, screen, keys } = await open(tasks);
  const [started] = worked(0);
  const lease = { runId: "run-1", worker: "local", fence: 1, leaseId: "lease-1" };
  tasks.happened("task-2", { type: "run/leased", data: lease }, ...(started === undefined ? [] : [started]));
  await session.settle();
  expect(screen()).toMatch(/codex +preparing .* none/);
  const before = tasks.diffReads;
  tasks.diffs.set("task-2", diffTo("two"));
  await keys("j", "k");
  expect(tasks.diffReads).toBe(before);
  await session.settle(5_000);
  await keys("j");
  expect(screen()).toMatch(/codex +preparing .* 1 file, \+2 -1/);
  expect(tasks.diffReads).toBe(before + 1);
});

test("changes that could not be read are read again later, and not with every frame", async () => {
  const tasks = new FakeTasks();
  tasks.isUnreadable = true;
  const { session, screen, keys } = await open(tasks);
  await keys("j", "k");
  expect(tasks.diffReads).toBe(2);
  tasks.isUnreadable = false;
  await session.settle(5_000);
  await keys("j");
  expect(screen()).toMatch(/claude +ready .* none/);
  expect(tasks.diffReads).toBe(4);
});

test("after the connection broke, changes are read again", async () => {
  const tasks = new FakeTasks();
  const { session, screen } = await open(tasks);
  await session.cut();
  await session.settle(2_000);
  tasks.diffs.set("task-1", diffTo("two"));
  tasks.happened("task-1", ...worked(0));
  await session.settle();
  expect(screen()).toMatch(/claude +needs approval .* 1 file, \+2 -1/);
});

test.each([
  ["task-1\ntask-9", "There is nothing to compare it with."],
  ["task-9", "Its tasks were removed."],
])("tasks that were removed are left out (%j)", async (noted, shown) => {
  const tasks = new FakeTasks();
  tasks.add("fix it (claude)");
  const notes = new Map([["comparison", noted]]);
  const { screen, keys } = await open(tasks, "/compare", { notes });
  await keys("s");
  expect(screen()).toContain(shown);
});

test("the result that is kept is the one whose diff was shown, and the other task is cancelled", async () => {
  const tasks = new FakeTasks();
  const { session, screen, keys } = await open(tasks);
  tasks.diffs.set("task-2", diffTo("two"));
  tasks.happened("task-2", ...worked(0));
  await session.settle();
  await keys("a");
  expect(screen()).toContain("claude has no result that can be kept.");
  await keys(DOWN);
  expect(screen()).toContain("Enter open · d diff · s side by side · a keep · q close");
  await keys("a");
  expect(screen()).toMatch(/^Changes of codex \(task 2\)\n[\s\S]*\+two/);
  expect(tasks.decided).toEqual([]);
  await keys("a");
  expect(tasks.decided).toEqual([
    ["task/approve", expect.objectContaining({ taskId: "task-2", tree: TREE })],
    ["task/cancel", expect.objectContaining({ taskId: "task-1", reason: "Another result was kept." })],
  ]);
  expect(screen()).toContain("Kept the result of codex.");
  expect(screen()).toMatch(/claude +cancelled[\s\S]*codex +done/);
});

test("ignores a second key typed together with the one that opened the diff", async () => {
  const tasks = new FakeTasks();
  const { session, screen } = await open(tasks);
  tasks.happened("task-1", ...worked(0));
  await session.settle();
  for (const key of ["a", "a"]) {
    session.terminal.type(key);
    await session.settle(10);
  }
  expect(screen()).toContain("Changes of claude (task 1)");
  expect(tasks.decided).toEqual([]);
});

test("shows an error and cancels no task", async () => {
  const tasks = new FakeTasks();
  const { session, screen, keys } = await open(tasks);
  tasks.happened("task-1", ...worked(0));
  tasks.refusal = "Task 1 is running and does not need an approval.";
  await session.settle();
  await keys("a", "a");
  expect(screen()).toContain(tasks.refusal);
  expect(screen()).toMatch(/codex +ready/);
});

test("two diffs are side by side, with the next agent by the same key; below each other without room", async () => {
  const tasks = new FakeTasks();
  const typed = "/compare fix it --agents claude,codex,flint";
  const { session, screen, keys } = await open(tasks, typed);
  for (const [at, word] of ["uno", "due", "tre"].entries()) {
    tasks.diffs.set(`task-${at + 1}`, diffTo(word));
    tasks.happened(`task-${at + 1}`, ...worked(0));
  }
  await session.settle();
  await keys("s");
  expect(screen()).toMatch(/claude +│ codex[\s\S]*\+uno +│ \+due/);
  await keys("s");
  expect(screen()).toMatch(/claude +│ flint[\s\S]*\+uno +│ \+tre/);
  session.terminal.resize(60, 30);
  await session.settle();
  expect(screen()).toMatch(/\nclaude\n[\s\S]*\+uno[\s\S]*\nflint\n[\s\S]*\+tre/);
  await keys("q");
  expect(screen()).toContain("Comparison: fix it");
});

test("Enter opens the task, where it can be answered, and closing that comes back", async () => {
  const tasks = new FakeTasks();
  const { session, screen, keys } = await open(tasks);
  const ask = { id: "ask-1", reason: "question" as const, message: "Which port?" };
  tasks.happened("task-2", { type: "task/asking", data: { ask } });
  await session.settle();
  await keys("2");
  expect(screen()).toContain("Which port?");
  await keys(ENTER, "r", "80", ENTER);
  expect(tasks.decided).toMatchObject([["task/answer", { taskId: "task-2", askId: "ask-1" }]]);
  await keys("q");
  expect(screen()).toContain("Comparison: fix it");
});

test("without --agents, the user chooses among those of the server; /compare alone shows it again", async () => {
  const tasks = new FakeTasks();
  const otherDrivers = [new ScriptedDriver({ id: "other" }), new ScriptedDriver({ id: "third" })];
  const { session, screen, keys } = await open(tasks, "/compare fix it", { otherDrivers });
  expect(screen()).toMatch(/Compare 3 agents: .*\n▸ Start {2}\w+, other, third\n/);
  await keys(DOWN, DOWN, ENTER);
  expect(screen()).toContain("Compare 2 agents");
  await keys("\u001b[A", "\u001b[A", ENTER);
  expect(screen()).toMatch(/third +ready/);
  expect(screen()).not.toMatch(/other +ready/);
  await keys("q");
  expect(session.terminal.isAlternate).toBe(false);
  await keys("/compare", ENTER);
  expect(screen()).toContain("Comparison: fix it");
});

test.each([
  ["/compare", "No comparison yet. /compare PROMPT starts one."],
  ["/compare --agents a,b", "What should the agents do? /compare PROMPT"],
  ["/compare fix it --agents claude", "--agents needs at least two different agents"],
  ["/compare fix it --agents claude,claude", "--agents needs at least two different agents"],
  ["/compare fix it", "is available. Compare models with --agents NAME,NAME."],
])("%s says what is missing", async (typed, shown) => {
  const { screen, session } = await open(new FakeTasks(), typed, { columns: 120 });
  expect(screen()).toContain(shown);
  expect(session.terminal.isAlternate).toBe(false);
});

test("a server that runs no tasks is said, with the way out, and what was typed is kept", async () => {
  const session = await SessionFixture.open({ columns: 120 });
  await session.keys(TYPED, ENTER);
  expect(session.terminal.everything).toContain("runs no tasks: only the shared server does.");
  expect(session.terminal.everything).toContain("› /compare fix it --agents claude,codex --check npm test");
});

test("plain lines are numbered and labelled, and only what changes is printed again", async () => {
  const tasks = new FakeTasks();
  const { session } = await open(tasks, TYPED, { screen: "plain" });
  const printed = () => session.terminal.writes.join("");
  expect(printed()).toContain(
    "Selected: 1. Agent: claude. Status: ready. Used: 0.0s. Changes: none. Checks: not run yet. Task 1\r\n",
  );
  expect(printed()).toContain("\r\n2. Agent: codex. Status: ready.");
  const before = session.terminal.writes.length;
  tasks.diffs.set("task-2", diffTo("two"));
  tasks.happened("task-2", ...worked(0));
  await session.settle();
  const since = session.terminal.writes.slice(before).join("");
  expect(since).toContain(
    "2. Agent: codex. Status: needs approval. Used: $0.420, 1m 00s. Changes: 1 file, +2 -1.",
  );
  expect(since).not.toContain("claude");
});
