import type { AgentInitiatedWork, DriverSession, SessionSpec } from "@flint/core/ports";
import { inputText } from "@flint/protocol";
import { Gate, ScriptedDriver, settled, testEngine } from "@flint/testkit";
import { describe, expect, test } from "vitest";

/** An agent that can initiate work. */
class EagerDriver extends ScriptedDriver {
  begin: (work: AgentInitiatedWork) => void = () => undefined;

  override async open(spec: SessionSpec): Promise<DriverSession> {
    this.begin = (work) => spec.startTurn?.(work);
    return super.open(spec);
  }
}

/** A thread whose agent answers at once, except for the input "wait", for which it waits for the gate. */
async function eager() {
  const gate = new Gate();
  const driver = new EagerDriver({
    scripts: (text) => (text === "wait" ? [{ wait: gate }] : [{ text: `Said: ${text}` }]),
  });
  const client = testEngine({ driver, otherDrivers: [new ScriptedDriver({ id: "other" })] }).connect();
  const threadId = await client.startThread();
  const queue = (text: string) =>
    client.call("turn/start", { threadId, input: [{ type: "text", text }], delivery: "queue" });
  const turns = async () => {
    const { turns: all } = await client.call("thread/read", { threadId, includeTurns: true });
    const reasons = all?.map(({ _meta }) => _meta?.reason);
    return { reasons, items: all?.map(({ items }) => items.map(({ type }) => type)) };
  };
  return { gate, driver, client, threadId, queue, turns };
}

function work(more: Partial<AgentInitiatedWork> = {}) {
  const refusals: string[] = [];
  const request: AgentInitiatedWork = {
    ...{ reason: "The kettle boils.", isWaiting: () => true, refuse: () => refusals.push("refused") },
    ...more,
  };
  return { request, refusals };
}

describe("work that an agent initiates", () => {
  test("gets a turn without input after the running one has ended, ahead of the queued input", async () => {
    const { gate, driver, client, threadId, queue, turns } = await eager();
    const turnId = await client.startTurn(threadId, "wait");
    await queue("later");
    await settled();
    driver.begin(work().request);
    await settled();
    expect(driver.turns).toHaveLength(1);
    gate.open();
    await client.turnEnd(turnId);
    await settled();
    expect(await turns()).toEqual({
      reasons: [undefined, "The kettle boils.", undefined],
      items: [["userMessage"], ["agentMessage"], ["userMessage", "agentMessage"]],
    });
    expect(driver.turns.map(({ input }) => inputText(input))).toEqual(["wait", "", "later"]);
  });

  test("does not resume a queue that the user stopped", async () => {
    const { driver, client, threadId, queue, turns } = await eager();
    const turnId = await client.startTurn(threadId, "wait");
    await queue("later");
    await client.call("turn/interrupt", { threadId });
    expect((await client.turnEnd(turnId)).status).toBe("interrupted");
    driver.begin(work().request);
    await settled();
    expect((await turns()).reasons).toEqual([undefined, "The kettle boils."]);
    expect((await client.call("thread/queue/list", { threadId })).queue).toHaveLength(1);
  });

  test("gets no turn if another turn included it, or the thread changed agents", async () => {
    const { gate, driver, client, threadId, turns } = await eager();
    const turnId = await client.startTurn(threadId, "wait");
    await settled();
    const taken = work({ isWaiting: () => false });
    driver.begin(taken.request);
    gate.open();
    await client.turnEnd(turnId);
    await settled();
    await client.turnEnd(await client.startTurn(threadId, "there", { model: "other/steady" }));
    const late = work();
    driver.begin(late.request);
    await settled();
    expect((await turns()).reasons).toEqual([undefined, undefined]);
    expect([taken.refusals, late.refusals]).toEqual([[], ["refused"]]);
  });

  test("is refused when the budget of the thread is used up", async () => {
    const { gate, driver, client, threadId, turns } = await eager();
    await client.call("thread/settings/update", { threadId, budget: { thread: { turns: 1 } } });
    gate.open();
    await client.turnEnd(await client.startTurn(threadId, "wait"));
    const late = work();
    driver.begin(late.request);
    await settled();
    expect((await turns()).reasons).toEqual([undefined]);
    expect(late.refusals).toEqual(["refused"]);
  });
});
