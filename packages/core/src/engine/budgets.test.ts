import type { TurnContext, TurnOutcome, UsageReports } from "@flint/core/ports";
import type { Budget, TokenUsage } from "@flint/protocol";
import {
  BareDriver,
  Gate,
  type Script,
  settled,
  type TestClient,
  type TestEngine,
  type TestEngineOptions,
  testEngine,
  UnreliableStore,
} from "@flint/testkit";
import { describe, expect, test } from "vitest";

const tokens = (count: number): TokenUsage => ({ inputTokens: count, outputTokens: 0 });

/** An agent that makes this many model calls of 100 tokens, one after the other, while it may continue. */
function caller(calls: number): BareDriver & { callCount: number } {
  const run = async (turn: TurnContext): Promise<TurnOutcome> => {
    for (let call = 0; call < calls; call += 1) {
      await turn.ready();
      if (turn.signal.aborted) return { status: "interrupted" };
      driver.callCount += 1;
      turn.emit({ type: "usage", last: tokens(100), cost: { amount: 0.01, currency: "USD" } });
    }
    await turn.ready();
    return turn.signal.aborted ? { status: "interrupted" } : { status: "completed" };
  };
  const driver = Object.assign(new BareDriver({ run }), { callCount: 0 });
  return driver;
}

async function started(options: TestEngineOptions, text = "go") {
  const server = testEngine(options);
  const client = server.connect();
  const threadId = await client.startThread();
  const turnId = await client.startTurn(threadId, text);
  return { server, client, threadId, turnId };
}

/** The nth question that a client was asked. */
async function question(client: TestClient, place = 0) {
  await client.waitFor("question/requested", () => client.eventsOf("question/requested").length > place);
  const event = client.eventsOf("question/requested")[place];
  if (event === undefined) throw new Error("no approval was requested");
  return event.data.request;
}

async function answer(client: TestClient, threadId: string, place: number, label: string): Promise<void> {
  const { id: questionId } = await question(client, place);
  const answers = { budget: { answers: [label] } };
  await client.call("question/respond", { threadId, questionId, answers });
}

describe("a turn that reaches a limit", () => {
  test("is held at its next step while the user is asked, and continues with the same amount again", async () => {
    const driver = caller(5);
    const { client, threadId, turnId } = await started({ driver, budget: { turn: { tokens: 200 } } });
    const { questions } = await question(client);
    expect(questions).toEqual([
      {
        id: "budget",
        header: "Budget",
        question: "The turn has reached its limit of 200 tokens (200 tokens used). Continue?",
        options: [
          { label: "Continue", description: "Allows the same again: 200 tokens." },
          { label: "Stop", description: "Ends the turn here." },
        ],
      },
    ]);
    await settled();
    expect(driver.callCount).toBe(2);
    await answer(client, threadId, 0, "Continue");
    await question(client, 1);
    await settled();
    expect(driver.callCount).toBe(4);
    await answer(client, threadId, 1, "Continue");
    expect((await client.turnEnd(turnId)).status).toBe("completed");
    expect(driver.callCount).toBe(5);
  });

  test("fails with the limit, the amount and how to raise it when the answer is no", async () => {
    const driver = caller(5);
    const { client, threadId, turnId } = await started({ driver, budget: { turn: { steps: 3 } } });
    await answer(client, threadId, 0, "Stop");
    expect(await client.turnEnd(turnId)).toMatchObject({
      status: "failed",
      error: {
        errorInfo: "BudgetExceeded",
        message:
          "The turn has reached its limit of 3 model calls (3 model calls used) and was stopped: you chose to stop. Raise budget.turn.steps to allow more.",
      },
    });
    expect(driver.callCount).toBe(3);
    const next = client.runTurn(threadId, "again");
    await answer(client, threadId, 1, "Continue");
    expect((await next).status).toBe("completed");
  });

  test.each<[string, TestEngineOptions, string]>([
    ["nothing is to be asked", { approvalPolicy: "never" }, "approvals are off."],
    ["no client answers in time", { approvalTimeoutMs: 5_000 }, "there was no answer."],
  ])("fails likewise when %s", async (_name, options, why) => {
    const driver = caller(5);
    const { server, client, turnId } = await started({
      driver,
      budget: { turn: { costUsd: 0.02 } },
      ...options,
    });
    if (options.approvalTimeoutMs !== undefined) {
      await question(client);
      await server.clock.advance(options.approvalTimeoutMs);
    }
    const { status, error } = await client.turnEnd(turnId);
    expect([status, error?.errorInfo, error?.message]).toEqual([
      "failed",
      "BudgetExceeded",
      `The turn has reached its limit of $0.02 ($0.02 used) and was stopped: ${why} Raise budget.turn.cost_usd to allow more.`,
    ]);
    expect(driver.callCount).toBe(2);
  });

  test("fails likewise when no client is attached", async () => {
    const gate = new Gate();
    const scripts: Script[] = [[{ wait: gate }, { usage: tokens(500) }, { wait: new Gate() }]];
    const { server, client, threadId } = await started({ scripts, budget: { turn: { tokens: 100 } } });
    await gate.reached;
    client.session.close();
    gate.open();
    const late = server.connect();
    const status = async () => (await late.call("thread/read", { threadId })).thread.status.type;
    while ((await status()) !== "idle") await settled();
    const { turns } = await late.call("thread/attach", { threadId });
    expect(turns[0]?.error?.message).toContain("no client was connected to ask");
  });

  test("asks about all reached limits at once", async () => {
    const scripts: Script[] = [[{ usage: tokens(150) }, { wait: new Gate() }]];
    const { client } = await started({
      scripts,
      budget: { turn: { tokens: 100, steps: 1 }, thread: { tokens: 120 } },
    });
    const [asked] = (await question(client)).questions;
    expect(asked?.question).toBe(
      "The turn has reached its limit of 100 tokens (150 tokens used) and its limit of 1 model call (1 model call used) and its limit of 120 tokens (150 tokens used) for the whole thread. Continue?",
    );
  });

  test("with its very last model call ends normally", async () => {
    const scripts: Script[] = [[{ usage: tokens(500) }, { text: "Done." }]];
    const { client, turnId } = await started({
      scripts,
      approvalPolicy: "never",
      budget: { turn: { tokens: 100 } },
    });
    expect((await client.turnEnd(turnId)).status).toBe("completed");
  });

  test("holds its actions until it may continue", async () => {
    const scripts: Script[] = [
      [{ usage: tokens(500) }, { command: "make" }, { ask: [{ id: "q", question: "?" }] }],
    ];
    const { client, threadId, turnId } = await started({ scripts, budget: { turn: { tokens: 100 } } });
    await question(client);
    await settled();
    expect(client.eventsOf("approval/requested")).toEqual([]);
    await answer(client, threadId, 0, "Continue");
    const { approval } = (await client.waitFor("approval/requested")).data;
    await client.call("approval/respond", {
      threadId,
      approvalId: approval.id,
      decision: { outcome: "allow" },
    });
    const { id: questionId } = await question(client, 1);
    await client.call("question/respond", { threadId, questionId, answers: {} });
    expect((await client.turnEnd(turnId)).status).toBe("completed");
  });

  test("can be interrupted while it waits for the answer", async () => {
    const { client, threadId, turnId } = await started({
      driver: caller(5),
      budget: { turn: { tokens: 100 } },
    });
    await question(client);
    await client.call("turn/interrupt", { threadId });
    const { status, error } = await client.turnEnd(turnId);
    expect([status, error]).toEqual(["interrupted", undefined]);
    expect(client.eventsOf("question/resolved")[0]?.data.by).toBe("interrupt");
  });

  test("is stopped even if its agent does not stop", async () => {
    const scripts: Script[] = [[{ usage: tokens(500) }, { hang: true }]];
    const { server, client, turnId } = await started({
      ...{ scripts, approvalPolicy: "never", budget: { turn: { tokens: 100 } } },
    });
    await settled();
    await server.clock.advance(3_000);
    expect((await client.turnEnd(turnId)).error?.errorInfo).toBe("BudgetExceeded");
  });

  test("fails when its question cannot be stored", async () => {
    const store = new UnreliableStore();
    store.refuses = (bodies) => bodies.some((body) => body.type === "question/requested");
    const { client, turnId } = await started({ store, driver: caller(3), budget: { turn: { tokens: 100 } } });
    expect((await client.turnEnd(turnId)).error?.errorInfo).toBe("StorageFailed");
  });
});

describe("a time limit", () => {
  const WORKING: Script[] = [[{ wait: new Gate() }]];

  test("is reached by the clock, even if the agent reports nothing", async () => {
    const { server, client, turnId } = await started({
      ...{ scripts: WORKING, approvalPolicy: "never", budget: { turn: { seconds: 2.5 } } },
    });
    await server.clock.advance(2_499);
    expect(client.eventsOf("turn/completed")).toEqual([]);
    await server.clock.advance(1);
    expect((await client.turnEnd(turnId)).error?.message).toContain(
      "its limit of 2.5 seconds of work (2.5 seconds of work used)",
    );
  });

  test("does not count time spent waiting for the user", async () => {
    const scripts: Script[] = [[{ command: "make" }, { wait: new Gate() }]];
    const { server, client, threadId, turnId } = await started({
      scripts,
      budget: { turn: { seconds: 10 } },
    });
    const { approval } = (await client.waitFor("approval/requested")).data;
    await server.clock.advance(60_000);
    await client.call("approval/respond", {
      threadId,
      approvalId: approval.id,
      decision: { outcome: "allow" },
    });
    await settled();
    await server.clock.advance(9_000);
    expect(client.eventsOf("question/requested")).toEqual([]);
    await server.clock.advance(1_000);
    await question(client);
    await server.clock.advance(30_000);
    await answer(client, threadId, 0, "Continue");
    await settled();
    await server.clock.advance(9_999);
    expect(client.eventsOf("question/requested")).toHaveLength(1);
    await server.clock.advance(1);
    await answer(client, threadId, 1, "Stop");
    const turn = await client.turnEnd(turnId);
    expect([turn.durationMs, turn.waitedMs]).toEqual([110_000, 90_000]);
  });

  test("leaves no timer behind", async () => {
    const gate = new Gate();
    const scripts: Script[] = [[{ wait: gate }]];
    const { server, client, turnId } = await started({ scripts, budget: { turn: { seconds: 10 } } });
    await gate.reached;
    const before = server.clock.pending;
    gate.open();
    await client.turnEnd(turnId);
    expect(server.clock.pending).toBe(before - 1);
  });
});

describe("a limit of a thread", () => {
  async function thread(budget: Budget, options: TestEngineOptions = {}) {
    const server: TestEngine = testEngine({
      ...(options.scripts === undefined ? { driver: caller(1) } : {}),
      ...options,
    });
    const client = server.connect();
    return { server, client, threadId: await client.startThread({ budget }) };
  }

  test.each<[Budget, string]>([
    [{ thread: { turns: 2 } }, "its limit of 2 turns (2 turns used). Raise budget.thread.turns to continue."],
    [
      { thread: { tokens: 150 } },
      "its limit of 150 tokens (200 tokens used). Raise budget.thread.tokens to continue.",
    ],
    [
      { thread: { costUsd: 0.02 } },
      "its limit of $0.02 ($0.02 used). Raise budget.thread.cost_usd to continue.",
    ],
  ])("%j rejects a turn when it is used up", async (budget, words) => {
    const { client, threadId } = await thread(budget, { approvalPolicy: "never" });
    await client.runTurn(threadId, "one");
    await client.runTurn(threadId, "two");
    await expect(client.startTurn(threadId, "three")).rejects.toMatchObject({
      kind: "budgetExceeded",
      message: `Thread ${threadId} has reached ${words}`,
    });
    expect(await client.startTurn(threadId, "three", { budget: { thread: {} } })).toEqual(expect.any(String));
  });

  test("counts the work of all turns, also after the thread was loaded again", async () => {
    const store = new UnreliableStore();
    const gates = [new Gate(), new Gate()];
    const scripts: Script[] = gates.map((wait) => [{ wait }]);
    const { server, client, threadId } = await thread({ thread: { seconds: 10 } }, { store, scripts });
    const first = client.startTurn(threadId, "one");
    await gates[0]?.reached;
    await server.clock.advance(6_000);
    gates[0]?.open();
    await client.turnEnd(await first);
    await server.close();
    const later = testEngine({ store, scripts: [[{ wait: new Gate() }]] });
    const again = later.connect();
    await again.call("thread/resume", { threadId });
    const turnId = await again.startTurn(threadId, "two");
    await settled();
    await later.clock.advance(3_999);
    expect(again.eventsOf("question/requested")).toEqual([]);
    await later.clock.advance(1);
    await answer(again, threadId, 0, "Stop");
    expect((await again.turnEnd(turnId)).error?.message).toContain("Raise budget.thread.seconds");
  });

  test("that the user extended stays extended for later turns, also after the thread was loaded again", async () => {
    const store = new UnreliableStore();
    const { server, client, threadId } = await thread(
      { thread: { tokens: 250 } },
      { store, driver: caller(3) },
    );
    const turnId = await client.startTurn(threadId, "one");
    await answer(client, threadId, 0, "Continue");
    expect((await client.turnEnd(turnId)).status).toBe("completed");
    const { settings } = (await client.waitFor("thread/settings/updated")).data;
    expect(settings.budget).toEqual({ thread: { tokens: 250 }, extended: { tokens: 550 } });
    await server.close();
    const later = testEngine({ store, driver: caller(1) }).connect();
    await later.call("thread/resume", { threadId });
    expect((await later.runTurn(threadId, "two")).status).toBe("completed");
    expect(later.eventsOf("question/requested")).toEqual([]);
  });

  test("keeps queued input in the queue when it is used up", async () => {
    const gate = new Gate();
    const { client, threadId } = await thread({ thread: { turns: 1 } }, { scripts: [[{ wait: gate }]] });
    const turnId = await client.startTurn(threadId, "one");
    await gate.reached;
    await client.call("turn/start", { threadId, input: [{ type: "text", text: "two" }], delivery: "queue" });
    gate.open();
    await client.turnEnd(turnId);
    await settled();
    const { queue } = await client.call("thread/queue/list", { threadId });
    expect(queue).toHaveLength(1);
    await expect(
      client.call("thread/queue/promote", { threadId, queuedInputId: queue[0]?.id ?? "" }),
    ).rejects.toMatchObject({ kind: "budgetExceeded" });
  });
});

describe("a budget", () => {
  test("comes from the server and can be changed by thread/start, thread/resume and turn/start", async () => {
    const server = testEngine({ budget: { turn: { tokens: 100 }, thread: { turns: 9 } } });
    const client = server.connect();
    const settings = () => server.driver.turns.at(-1)?.settings.budget;
    const threadId = await client.startThread({ budget: { turn: { steps: 5 } } });
    await client.runTurn(threadId, "one");
    expect(settings()).toEqual({ turn: { steps: 5 }, thread: { turns: 9 } });
    await client.call("thread/resume", { threadId, budget: { thread: { turns: 4 } } });
    await client.runTurn(threadId, "two");
    expect(settings()).toEqual({ turn: { steps: 5 }, thread: { turns: 4 } });
    const turnId = await client.startTurn(threadId, "three", { budget: { turn: {}, thread: {} } });
    await client.turnEnd(turnId);
    expect(settings()).toBeUndefined();
  });

  test("is absent unless one is set", async () => {
    const { server, client, turnId } = await started({});
    await client.turnEnd(turnId);
    expect(server.driver.turns[0]?.settings).not.toHaveProperty("budget");
  });

  test("in dollars ends a turn that reports another currency, because it has to hold", async () => {
    const euros = { usage: tokens(1), cost: { amount: 0.01, currency: "EUR" } };
    const scripts: Script[] = [[euros, { wait: new Gate() }]];
    const { client, turnId } = await started({ scripts, budget: { turn: { costUsd: 1 } } });
    expect((await client.turnEnd(turnId)).error).toEqual({
      errorInfo: "BudgetExceeded",
      message: expect.stringMatching(
        /reports its cost in EUR, so the cost limit in dollars cannot be enforced/,
      ),
    });
  });

  test("in dollars does not count what earlier turns cost in another currency", async () => {
    const euros = { usage: tokens(1), cost: { amount: 5, currency: "EUR" } };
    const { client, threadId, turnId } = await started({
      ...{ scripts: [[euros], [euros]], budget: { enforcement: "bestEffort", thread: { costUsd: 1 } } },
    });
    await client.turnEnd(turnId);
    expect((await client.call("thread/attach", { threadId })).cost).toMatchObject({ currency: "EUR" });
    expect((await client.runTurn(threadId, "again")).status).toBe("completed");
  });

  test("in dollars does not count another currency, and warns once", async () => {
    const euros = { usage: tokens(1), cost: { amount: 5, currency: "EUR" } };
    const scripts: Script[] = [[euros, euros, { deltas: 1, size: 1 }]];
    const { client, turnId } = await started({
      ...{ scripts, budget: { enforcement: "bestEffort", turn: { costUsd: 1 } } },
    });
    expect((await client.turnEnd(turnId)).status).toBe("completed");
    expect(client.eventsOf("warning").map(({ data }) => data)).toMatchObject([
      {
        reason: "budgetCurrency",
        message: "The agent reports its cost in EUR; the limit in dollars does not count it.",
      },
    ]);
  });
});

test("includes the cost of all model calls of a thread", async () => {
  const { client, threadId, turnId } = await started({ driver: caller(3) });
  await client.turnEnd(turnId);
  const { cost } = await client.call("thread/attach", { threadId });
  expect(cost?.amount).toBeCloseTo(0.03);
});

describe("what an agent reports late or not at all", () => {
  const dollars = (amount: number) => ({ amount, currency: "USD" });
  const warnings = (client: TestClient, reason: string) =>
    client.eventsOf("warning").filter(({ data }) => data.reason === reason);

  /** An agent whose calls cost a dollar each by the price list, and that reports the cost at the end. */
  function estimating(calls: number, reported: number): BareDriver {
    return new BareDriver({
      run: async (turn) => {
        for (let call = 0; call < calls; call += 1) {
          turn.emit({ type: "usage", last: tokens(100), estimate: dollars(1) });
          await settled();
          if (turn.signal.aborted) return { status: "interrupted" };
        }
        turn.emit({ type: "usage", last: tokens(0), cost: dollars(reported) });
        return { status: "completed" };
      },
    });
  }

  /** A driver that reports so much of the usage of its turns. */
  const reporting = <Reporting extends BareDriver>(
    driver: Reporting,
    reports: Partial<UsageReports>,
  ): Reporting =>
    Object.assign(driver, {
      usageReports: async (): Promise<UsageReports> => ({
        ...{ tokens: "call", steps: "call", costUsd: "free" },
        ...reports,
      }),
    });

  test("is stopped by the estimated cost before the real one is known", async () => {
    const driver = estimating(10, 10);
    const { client, turnId } = await started({
      ...{ driver, approvalPolicy: "never", budget: { turn: { costUsd: 3 } } },
    });
    expect(await client.turnEnd(turnId)).toMatchObject({
      status: "failed",
      error: { errorInfo: "BudgetExceeded", message: expect.stringContaining("$3 ($3 used)") },
    });
  });

  test("counts an estimate and the reported cost of the same calls once", async () => {
    const driver = estimating(2, 2);
    const { client, turnId, threadId } = await started({
      ...{ driver, approvalPolicy: "never", budget: { turn: { costUsd: 3 }, thread: { costUsd: 5 } } },
    });
    expect((await client.turnEnd(turnId)).status).toBe("completed");
    const second = await client.startTurn(threadId, "again");
    expect((await client.turnEnd(second)).status).toBe("completed");
    expect(warnings(client, "budgetOverrun")).toEqual([]);
  });

  test("counts what was only estimated in later turns, also after a restart", async () => {
    const run = async (turn: TurnContext): Promise<TurnOutcome> => {
      turn.emit({ type: "usage", last: tokens(100), estimate: dollars(0.14) });
      return { status: "completed" };
    };
    const budget = { thread: { costUsd: 0.2 } };
    const driver = new BareDriver({ run });
    const { server, client, turnId, threadId } = await started({ driver, approvalPolicy: "never", budget });
    expect((await client.turnEnd(turnId)).status).toBe("completed");
    expect((await client.call("thread/attach", { threadId })).cost).toEqual({
      ...dollars(0.14),
      estimated: true,
    });
    await server.close();
    const later = testEngine({ store: server.store, driver }).connect();
    await later.call("thread/attach", { threadId });
    await later.turnEnd(await later.startTurn(threadId, "again"));
    await expect(later.startTurn(threadId, "once more")).rejects.toMatchObject({ kind: "budgetExceeded" });
  });

  test("replaces what was estimated by the cost that the agent reports at the end", async () => {
    const { client, turnId, threadId } = await started({ driver: estimating(2, 1.5) });
    await client.turnEnd(turnId);
    const costs = client.eventsOf("thread/tokenUsage/updated").map(({ data }) => data.cost);
    expect(costs).toEqual([
      { ...dollars(1), estimated: true },
      { ...dollars(2), estimated: true },
      dollars(1.5),
    ]);
    expect((await client.call("thread/attach", { threadId })).cost).toEqual(dollars(1.5));
  });

  test("is stopped by what the agent itself counts on the way", async () => {
    const run = async (turn: TurnContext): Promise<TurnOutcome> => {
      turn.emit({ type: "costSoFar", cost: dollars(0.5) });
      turn.emit({ type: "costSoFar", cost: dollars(2) });
      await new Promise((resolve) => turn.signal.addEventListener("abort", resolve, { once: true }));
      return { status: "interrupted" };
    };
    const { client, turnId } = await started({
      ...{ driver: new BareDriver({ run }), approvalPolicy: "never", budget: { turn: { costUsd: 1 } } },
    });
    expect((await client.turnEnd(turnId)).error?.errorInfo).toBe("BudgetExceeded");
  });

  test("is reported when a turn exceeded its limit anyway", async () => {
    const driver = reporting(estimating(0, 9), { costUsd: "turn" });
    const { client, turnId } = await started({ driver, budget: { turn: { costUsd: 1 } } });
    expect((await client.turnEnd(turnId)).status).toBe("completed");
    expect(warnings(client, "budgetCheckedLate").map(({ data }) => data.message)).toEqual([
      "budget.turn.cost_usd is checked only after a turn, because scripted/steady reports its cost at the end.",
    ]);
    expect(warnings(client, "budgetOverrun").map(({ data }) => data.message)).toEqual([
      "The turn exceeded its limit of $1 ($9 used).",
    ]);
  });

  test.each([
    ["costUsd", { turn: { costUsd: 1 } }, /does not report its cost. Remove the limit/],
    ["steps", { turn: { steps: 100 } }, /does not report its model calls. Remove the limit/],
    ["tokens", { thread: { tokens: 100_000 } }, /does not report the tokens that it uses/],
  ] as const)(
    "rejects a limit of %s before the turn begins if it cannot be enforced",
    async (unit, budget, words) => {
      const driver = reporting(caller(1), { [unit]: "never" });
      const client = testEngine({ driver }).connect();
      const threadId = await client.startThread();
      const start = (enforcement?: "bestEffort") =>
        client.call("turn/start", {
          ...{ threadId, input: [{ type: "text", text: "go" }] },
          budget: { ...budget, ...(enforcement === undefined ? {} : { enforcement }) },
        });
      await expect(start()).rejects.toThrow(words);
      expect(driver.callCount).toBe(0);
      const { turn } = await start("bestEffort");
      expect((await client.turnEnd(turn?.id ?? "")).status).toBe("completed");
      expect(warnings(client, "budgetCheckedLate")[0]?.data.message).toContain("does not apply");
    },
  );

  test("names a price as the way out only where the agent uses one", async () => {
    const driver = reporting(caller(1), { costUsd: "never", usesPrices: true });
    const client = testEngine({ driver, budget: { turn: { costUsd: 1 } } }).connect();
    const start = client.startTurn(await client.startThread(), "go");
    await expect(start).rejects.toThrow(/Configure its price \(\[models\."scripted\/steady"\]/);
  });

  describe("although it was to report it when the turn ends", () => {
    /** An agent that reports its usage like this when a turn ends. */
    const atEnd = (...usage: readonly { count: number; cost?: number }[]) =>
      new BareDriver({
        run: async (turn) => {
          for (const { count, cost } of usage)
            turn.emit({
              ...{ type: "usage", last: tokens(count) },
              ...(cost === undefined ? {} : { cost: dollars(cost) }),
            });
          return { status: "completed" };
        },
      });

    test.each([
      ["cost", [{ count: 100 }], { costUsd: 1 }, /turn\.cost_usd could not be kept.*its cost/],
      ["cost but nothing", [{ count: 100, cost: 0 }], { costUsd: 1 }, /turn\.cost_usd could not be kept/],
      ["cost or tokens", [], { costUsd: 1 }, /turn\.cost_usd could not be kept/],
      ["tokens", [], { tokens: 1000 }, /turn\.tokens could not be kept.*the tokens that it uses/],
    ])("fails a turn without a %s", async (_name, usage, limits, words) => {
      const driver = reporting(atEnd(...usage), { costUsd: "turn", tokens: "turn" });
      const { client, turnId } = await started({ driver, budget: { turn: limits } });
      const { status, error } = await client.turnEnd(turnId);
      expect({ status, errorInfo: error?.errorInfo }).toEqual({
        ...{ status: "failed", errorInfo: "BudgetExceeded" },
      });
      expect(error?.message).toMatch(words);
    });

    test("names the price as the way out where a price would do", async () => {
      const driver = reporting(atEnd({ count: 100 }), { costUsd: "turn", tokens: "turn", usesPrices: true });
      const { client, turnId } = await started({ driver, budget: { turn: { costUsd: 1 } } });
      const { error } = await client.turnEnd(turnId);
      expect(error?.message).toMatch(/\[models\."scripted\/steady"\] with price_input.*--limits best-effort/);
    });

    test("starts no further turn with that limit, but one without a guarantee", async () => {
      const driver = reporting(atEnd({ count: 100 }), { costUsd: "turn", tokens: "turn" });
      const { client, threadId, turnId } = await started({ driver, budget: { turn: { costUsd: 1 } } });
      await client.turnEnd(turnId);
      await expect(client.startTurn(threadId, "again")).rejects.toThrow(
        /cannot be enforced: .* does not report/,
      );
      const budget = { enforcement: "bestEffort" } as const;
      const third = await client.startTurn(threadId, "again", { budget });
      expect((await client.turnEnd(third)).status).toBe("completed");
    });

    test("continues after a turn that used nothing", async () => {
      const driver = reporting(atEnd({ count: 0 }), { costUsd: "turn", tokens: "turn" });
      const { client, turnId } = await started({ driver, budget: { turn: { costUsd: 1, tokens: 5 } } });
      expect((await client.turnEnd(turnId)).status).toBe("completed");
    });
  });

  test("stops a turn with a call of unknown cost if there should have been one", async () => {
    const run = async (turn: TurnContext): Promise<TurnOutcome> => {
      turn.emit({ type: "usage", last: tokens(5) });
      await turn.ready();
      return turn.signal.aborted ? { status: "interrupted" } : { status: "completed" };
    };
    const driver = reporting(new BareDriver({ run }), { costUsd: "call" });
    const { client, turnId } = await started({ driver, budget: { turn: { costUsd: 1 } } });
    expect((await client.turnEnd(turnId)).error?.message).toContain("is unknown, so the cost limit");
  });

  test("counts an impossible usage as none, and says so once", async () => {
    const run = async (turn: TurnContext): Promise<TurnOutcome> => {
      for (const count of [-500, 20, -1]) turn.emit({ type: "usage", last: tokens(count) });
      return { status: "completed" };
    };
    const { client, turnId } = await started({ driver: new BareDriver({ run }) });
    await client.turnEnd(turnId);
    expect(warnings(client, "impossibleUsage")).toHaveLength(1);
    expect(client.eventsOf("thread/tokenUsage/updated").at(-1)?.data.usage.inputTokens).toBe(20);
  });

  test("counts an impossible cost as none, and says so", async () => {
    const run = async (turn: TurnContext): Promise<TurnOutcome> => {
      for (const amount of [2, -5, Number.NaN])
        turn.emit({ type: "usage", last: tokens(1), cost: dollars(amount) });
      turn.emit({ type: "costSoFar", cost: dollars(Number.POSITIVE_INFINITY) });
      return { status: "completed" };
    };
    const { client, turnId, threadId } = await started({ driver: new BareDriver({ run }) });
    await client.turnEnd(turnId);
    expect(warnings(client, "impossibleUsage")).toHaveLength(1);
    expect((await client.call("thread/attach", { threadId })).cost).toEqual(dollars(2));
  });
});

test("a change of the system time does not use up a time limit", async () => {
  const gate = new Gate();
  const run = async (): Promise<TurnOutcome> => {
    await gate.opened;
    return { status: "completed" };
  };
  const { server, client, turnId } = await started({
    ...{ driver: new BareDriver({ run }), approvalPolicy: "never", budget: { turn: { seconds: 60 } } },
  });
  await server.clock.advance(1_000);
  server.clock.changeSystemTime(3_600_000);
  await server.clock.advance(1_000);
  gate.open();
  expect((await client.turnEnd(turnId)).status).toBe("completed");
});
