import type { TaskSpec, TaskState, UsageLimit } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { accountsOf, reportedAccounts } from "./accounts.ts";
import { event } from "./decide/decision.ts";
import { afterTurn, afterVerdict } from "./decide/run.ts";
import { cancel, resume } from "./decide/user-actions.ts";
import { due, nextDue, nextRecovery, plan, waitForReport, waitReason } from "./schedule.ts";
import { Random } from "./testing/random.ts";
import { testSpec } from "./testing/spec.ts";
import {
  added,
  after,
  atLimit,
  completed,
  context,
  executing,
  judged,
  NOW,
  resumedRun,
} from "./testing/task.ts";

/** A task of its own name that is ready. */
function task(id: string, change: Partial<TaskSpec> = {}, more: Partial<TaskState> = {}): TaskState {
  return { ...added(change), id, ...more };
}

/** A task that has met a usage limit of its agent. */
function limited(id: string, untilMs: number, change: Partial<TaskSpec> = {}): TaskState {
  const suspended = event("task/suspended", { reason: "usageLimit", untilMs, account: "claude" });
  return { ...after(executing(change), [suspended]), id };
}

/** The same, once its time has come. */
function retried(id: string): TaskState {
  return { ...after(limited(id, NOW - 1), [event("task/resumed", { by: "scheduler" })]), id };
}

const offered = (tasks: readonly TaskState[], now = NOW) =>
  plan(tasks, accountsOf(tasks), now).map((offer) => [offer.task.id, offer.probe]);

/** The same order, by looking through everything for each task. */
function oneByOne(tasks: readonly TaskState[]): TaskState[] {
  const running = new Map<string, number>();
  const count = (owner: string) => running.set(owner, (running.get(owner) ?? 0) + 1);
  for (const { phase, addedBy } of tasks) if (phase === "running") count(addedBy);
  const left = new Set(tasks.filter(({ phase }) => phase === "ready"));
  const order: TaskState[] = [];
  while (left.size > 0) {
    const load = ({ addedBy }: TaskState) => running.get(addedBy) ?? 0;
    const [best] = [...left].sort(
      (one, other) =>
        other.spec.priority - one.spec.priority ||
        load(one) - load(other) ||
        one.addedAt - other.addedAt ||
        one.number - other.number,
    );
    if (best === undefined) break;
    left.delete(best);
    count(best.addedBy);
    order.push(best);
  }
  return order;
}

describe("what is handed out", () => {
  test("orders by priority, then by the owner's running tasks, then by age", () => {
    const tasks = [
      task("a1", {}, { addedBy: "ann", addedAt: NOW }),
      task("a2", {}, { addedBy: "ann", addedAt: NOW + 1 }),
      task("b1", {}, { addedBy: "bob", addedAt: NOW + 2 }),
      task("high", { priority: 5 }, { addedBy: "ann", addedAt: NOW + 3 }),
    ];
    expect(offered(tasks).map(([id]) => id)).toEqual(["high", "b1", "a1", "a2"]);
  });

  test("is, of many tasks of many owners, each time the best of what is left", () => {
    const random = new Random(1);
    const tasks = Array.from({ length: 300 }, (_, index) =>
      task(
        `t${index}`,
        { priority: random.below(3) },
        {
          ...{ addedBy: `owner-${random.below(5)}`, addedAt: NOW + random.below(50), number: index },
          phase: random.chance(0.2) ? "running" : "ready",
        },
      ),
    );
    expect(offered(tasks).map(([id]) => id)).toEqual(oneByOne(tasks).map(({ id }) => id));
  });

  test("is nothing of an account that is at its limit, and everything of the others", () => {
    const tasks = [
      limited("sleeps", NOW + 1000),
      task("same"),
      task("other", { executors: [{ model: "codex" }] }),
    ];
    expect(offered(tasks)).toEqual([["other", false]]);
  });

  test("is one task of an account after its limit, until that one has got through", () => {
    const first = retried("first");
    const ready = [task("second"), task("third")];
    expect(offered([first, ...ready])).toEqual([["first", true]]);
    const running = { ...after(first, resumedRun(first)), id: "first" };
    expect(offered([running, ...ready])).toEqual([]);
    // Whatever is listed after them, and however long another one still sleeps.
    expect(offered([running, first, ...ready])).toEqual([]);
    expect(offered([limited("sleeps", NOW + 1000), first, ...ready])).toEqual([]);
    const through = { ...after(running, afterTurn(running, completed(), context)), id: "first" };
    expect(offered([through, ...ready])).toHaveLength(2);
  });

  test("is one task after a limit also if that one has met none itself", () => {
    const older = task("older", { priority: 1 });
    expect(offered([retried("first"), older])).toEqual([["older", true]]);
    const running = { ...after(older, resumedRun(older)), id: "older" };
    expect(offered([retried("first"), running, task("third")])).toEqual([]);
    const through = { ...after(executing(), afterTurn(executing(), completed(), context)), id: "older" };
    expect(offered([retried("first"), through, task("third")])).toHaveLength(2);
  });

  test("is everything again once a reviewer that met a limit has judged", () => {
    const state = executing({ reviewers: [{ model: "codex" }] });
    const executed = after(state, afterTurn(state, completed(), context));
    const suspended = after(executed, afterVerdict(executed, atLimit(NOW - 100_000), context));
    const again = after(suspended, [...resume(suspended, "scheduler"), ...resumedRun(suspended)]);
    const others = ["a", "b"].map((id) => task(id, { executors: [{ model: "codex" }] }));
    expect(offered([again, ...others])).toEqual([]);
    const approved = after(again, afterVerdict(again, judged({ verdict: "approve" }), context));
    expect(approved).toMatchObject({ phase: "approving", limitsInRow: 0 });
    expect(offered([approved, ...others])).toEqual([
      ["a", false],
      ["b", false],
    ]);
  });

  test("is nothing at a limit either if the task that met it was cancelled or went on with another agent", () => {
    const sleeping = limited("sleeps", NOW + 1000);
    const cancelled = { ...after(sleeping, cancel(sleeping, "ann")), id: "cancelled" };
    const state = executing({ executors: [{ model: "claude" }, { model: "codex" }] });
    const passedOn = { ...after(state, afterTurn(state, atLimit(NOW + 1000), context)), id: "passed-on" };
    expect(passedOn).toMatchObject({ phase: "running", executor: 1 });
    for (const evidence of [cancelled, passedOn]) {
      const tasks = [evidence, task("waits")];
      expect(offered(tasks)).toEqual([]);
      expect(nextRecovery(tasks, accountsOf(tasks), NOW)).toBe(NOW + 1000);
      expect(offered(tasks, NOW + 1000)).toEqual([["waits", true]]);
    }
  });

  test("is a task with an agent that is free, and one of another model than that of the limit", () => {
    const both = task("both", { executors: [{ model: "claude/opus" }, { model: "codex" }] });
    expect(offered([limited("sleeps", NOW + 1000), both])).toEqual([["both", false]]);
    const state = executing({ executors: [{ model: "claude/opus" }] });
    const ofModel = atLimit(NOW + 1000, { model: "opus" });
    const opus = { ...after(state, afterTurn(state, ofModel, context)), id: "opus" };
    const [same, other] = ["claude/opus", "claude/sonnet"].map((model) =>
      task(model, { executors: [{ model }] }),
    );
    expect(offered([opus, same, other].filter((each) => each !== undefined))).toEqual([
      ["claude/sonnet", false],
    ]);
  });

  test("is a task that the user has go on, whatever the time of the limit", () => {
    const sleeping = limited("sleeps", NOW + 1000);
    const cancelled = { ...after(sleeping, cancel(sleeping, "ann")), id: "cancelled" };
    const resumed = { ...after(sleeping, resume(sleeping, "ann")), id: "resumed" };
    expect(offered([cancelled, resumed, task("waits")])).toEqual([["resumed", true]]);
  });

  test("is not kept back by a task that no worker may take", () => {
    const unmatched = { ...retried("first"), spec: { ...testSpec(), pool: "gpu" } };
    expect(offered([unmatched, task("second"), task("third")])).toEqual([
      ["first", true],
      ["second", true],
    ]);
  });
});

describe("what waits for a time", () => {
  test("is due when that has come, also after the clock has jumped", () => {
    const tasks = [limited("soon", NOW + 1000), limited("late", NOW + 5000)];
    expect(nextDue(tasks)).toBe(NOW + 1000);
    expect(due(tasks, NOW).map(({ id }) => id)).toEqual([]);
    expect(due(tasks, NOW + 86_400_000).map(({ id }) => id)).toEqual(["soon", "late"]);
    expect(nextDue([task("ready")])).toBeUndefined();
  });
});

describe("a task that comes after others", () => {
  const states = new Map([
    ["done", task("done", {}, { phase: "done" })],
    ["failed", task("failed", {}, { phase: "failed", number: 7 })],
    ["open", task("open")],
  ]);
  const kept = (after: string[], change: Partial<TaskSpec> = {}) =>
    waitReason(task("t", { after, ...change }), (id) => states.get(id), NOW);

  test("waits for those that are open, and asks if one failed or is gone", () => {
    expect(kept(["done"])).toBeUndefined();
    expect(kept(["done", "open"])).toBe("dependencies");
    expect(kept(["failed"])).toEqual({ failed: 7 });
    expect(kept(["gone"])).toEqual({ failed: 0 });
    expect(kept(["failed"], { onDependencyFailed: "continue" })).toBeUndefined();
    expect(kept([], { notBeforeMs: NOW + 1 })).toBe("time");
  });
});

describe("a usage limit that a thread has met", () => {
  const limit: UsageLimit = {
    ...{ agent: "claude", window: "5 hours", status: "reached", source: "frame" },
    ...{ reportedAtMs: NOW - 1000, resetsAtMs: NOW + 3_600_000 },
  };
  const planned = (tasks: readonly TaskState[], reported = reportedAccounts([limit], "claude/opus")) =>
    plan(tasks, accountsOf(tasks, reported), NOW).map(({ task: { id } }) => id);

  test("is not run into by tasks of its account, and by those of the default agent", () => {
    const tasks = [
      task("held"),
      task("default", { executors: [{}] }),
      task("other", { executors: [{ model: "codex" }] }),
      task("either", { executors: [{ model: "claude" }, { model: "codex" }] }),
    ];
    expect(planned(tasks)).toEqual(["other", "either"]);
    expect(planned(tasks, reportedAccounts([limit], "codex"))).toEqual(["default", "other", "either"]);
    const accounts = accountsOf(tasks, reportedAccounts([limit], undefined));
    expect([nextRecovery(tasks, accounts, NOW), waitForReport(tasks, accounts, NOW)]).toEqual([
      NOW + 3_600_000,
      true,
    ]);
    expect(waitForReport(tasks, accountsOf([...tasks, limited("met", NOW + 1000)]), NOW)).toBe(false);
  });

  test("is met by tasks that ask or fail at a limit, and by those that do not wait so long", () => {
    const rules = (change: object) => ({
      limits: { resume: "auto" as const, maxWaitSeconds: 7200, ...change },
    });
    const tasks = [
      task("asks", rules({ resume: "ask" })),
      task("fails", rules({ resume: "never" })),
      task("short", rules({ maxWaitSeconds: 600 })),
      task("waits", rules({})),
    ];
    expect(planned(tasks)).toEqual(["asks", "fails", "short"]);
  });

  test("keeps no task from working that does not know when it resets, or once a turn got through", () => {
    const { resetsAtMs: _resets, ...undated } = limit;
    for (const each of [
      undated,
      { ...limit, needsUser: true },
      { ...limit, status: "warning" as const },
      { ...limit, account: "anthropic" },
    ])
      expect(planned([task("a")], reportedAccounts([each], undefined))).toEqual(["a"]);
    const passed = task("b", {}, { accounts: { claude: { passedAt: NOW } } });
    expect(planned([passed])).toEqual(["b"]);
  });

  test("of one model keeps only tasks of that model from working", () => {
    const tasks = [task("opus", { executors: [{ model: "claude/opus" }] }), task("any")];
    expect(planned(tasks, reportedAccounts([{ ...limit, model: "opus" }], undefined))).toEqual(["any"]);
  });
});
