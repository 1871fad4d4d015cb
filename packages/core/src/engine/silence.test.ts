import type { TurnContext, TurnOutcome } from "@flint/core/ports";
import type { TurnError } from "@flint/protocol";
import { BareDriver, Gate, type TestEngineOptions, testEngine } from "@flint/testkit";
import { describe, expect, test } from "vitest";

const COMMAND = {
  type: "commandExecution",
  id: "c1",
  command: "make",
  cwd: "/",
  status: "inProgress",
} as const;

/** An agent that does `work`, and then is silent until it is stopped. */
function silentAfter(work: (turn: TurnContext) => unknown): BareDriver {
  const run = async (turn: TurnContext): Promise<TurnOutcome> => {
    await work(turn);
    await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
    return { status: "interrupted" };
  };
  return new BareDriver({ run });
}

async function started(driver: BareDriver, options: TestEngineOptions = {}) {
  const server = testEngine({ driver, silenceTimeoutMs: 60_000, ...options });
  const client = server.connect();
  const threadId = await client.startThread();
  const turnId = await client.startTurn(threadId, "go");
  return { server, client, threadId, turnId };
}

test("an agent that lives and is silent ends its turn once, as failed, with the reason [S4-25]", async () => {
  const { server, client, threadId } = await started(silentAfter(() => undefined));
  await server.clock.advance(59_999);
  expect(client.eventsOf("turn/completed")).toEqual([]);
  await server.clock.advance(1);
  await client.waitFor("turn/completed");
  expect(client.eventsOf("turn/completed").map(({ data }) => data.turn)).toMatchObject([
    {
      status: "failed",
      error: {
        errorInfo: "AgentFailed",
        message: expect.stringMatching(/sent nothing for 60 seconds.*silence_timeout/),
      },
    },
  ]);
  const next = await client.startTurn(threadId, "again");
  expect(next).toEqual(expect.any(String));
});

test("resets the silence timer on each report", async () => {
  let report = () => {};
  const driver = silentAfter((turn) => {
    turn.emit({ type: "item/started", item: { type: "agentMessage", id: "m1", text: "" } });
    report = () => turn.emit({ type: "item/agentMessage/delta", itemId: "m1", delta: "." });
  });
  const { server, client } = await started(driver);
  for (let minute = 0; minute < 5; minute += 1) {
    await server.clock.advance(50_000);
    report();
  }
  expect(client.eventsOf("turn/completed")).toEqual([]);
  await server.clock.advance(60_000);
  await client.waitFor("turn/completed");
});

test("a long command is not silence, but what follows its end is", async () => {
  let finish = () => {};
  const driver = silentAfter((turn) => {
    turn.emit({ type: "item/started", item: COMMAND });
    finish = () => turn.emit({ type: "item/completed", item: { ...COMMAND, status: "completed" } });
  });
  const { server, client } = await started(driver);
  await server.clock.advance(3_600_000);
  expect(client.eventsOf("turn/completed")).toEqual([]);
  finish();
  await server.clock.advance(120_000);
  await client.waitFor("turn/completed");
});

test("an open approval is not silence", async () => {
  const driver = silentAfter((turn) =>
    turn.approve({ kind: "command", itemId: "c1", command: "make", cwd: "/" }),
  );
  const { server, client } = await started(driver, { approvalPolicy: "always" });
  await client.waitFor("approval/requested");
  await server.clock.advance(500_000);
  expect(client.eventsOf("turn/completed")).toEqual([]);
});

describe("an agent that cannot reach its model and tries again without end", () => {
  const message = "Reconnecting... waiting for network";
  const error = { message, errorInfo: "Other", additionalDetails: "Connection failed" } as const;
  const FIVE_MINUTES = 300_000;

  function reconnecting(more: Partial<TurnError> = {}) {
    let report = () => {};
    let answer = () => {};
    const begun = new Gate();
    const driver = silentAfter((turn) => {
      begun.open();
      report = () => turn.emit({ type: "error", error: { ...error, ...more }, willRetry: true });
      answer = () => turn.emit({ type: "item/started", item: { type: "agentMessage", id: "m1", text: "" } });
    });
    return { driver, begun: begun.opened, report: () => report(), answer: () => answer() };
  }

  test("ends its turn after five minutes with its last report [S4-25]", async () => {
    const { driver, begun, report } = reconnecting();
    const { server, client } = await started(driver, { silenceTimeoutMs: 3_600_000 });
    await begun;
    for (let minute = 0; minute < 5; minute += 1) {
      report();
      await server.clock.advance(59_999);
    }
    expect(client.eventsOf("turn/completed")).toEqual([]);
    await server.clock.advance(5);
    await client.waitFor("turn/completed");
    const [ended] = client.eventsOf("turn/completed");
    expect(ended?.data.turn).toMatchObject({
      status: "failed",
      error: {
        errorInfo: "AgentFailed",
        message: expect.stringMatching(
          /did not reach its model for 300 seconds.*network \(Connection failed\)/,
        ),
      },
    });
  });

  test("has five minutes again after its model has answered", async () => {
    const { driver, begun, report, answer } = reconnecting();
    const { server, client } = await started(driver, { silenceTimeoutMs: 3_600_000 });
    await begun;
    report();
    await server.clock.advance(FIVE_MINUTES - 1);
    answer();
    report();
    await server.clock.advance(FIVE_MINUTES - 1);
    expect(client.eventsOf("turn/completed")).toEqual([]);
    await server.clock.advance(1);
    await client.waitFor("turn/completed");
  });

  test("is not stopped while its model answers with a status, as one that is busy does", async () => {
    const { driver, begun, report } = reconnecting({ httpStatusCode: 529 });
    const { server, client } = await started(driver, { silenceTimeoutMs: 3_600_000 });
    await begun;
    report();
    await server.clock.advance(2 * FIVE_MINUTES);
    expect(client.eventsOf("turn/completed")).toEqual([]);
    await server.clock.advance(3_600_000);
    await client.waitFor("turn/completed");
  });
});
