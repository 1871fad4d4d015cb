import type { UserInput } from "@flint/protocol";
import { BareDriver, Gate, settled, testEngine } from "@flint/testkit";
import { expect, test } from "vitest";

const text = (value: string): UserInput[] => [{ type: "text", text: value }];

/** A running turn whose agent answers further input when the test says so. */
async function held() {
  const gate = new Gate();
  const asked: { input: readonly UserInput[]; answer(isAccepted: boolean): void }[] = [];
  const turns: string[] = [];
  const driver = new BareDriver({
    run: async (turn) => {
      turns.push(JSON.stringify(turn.input));
      if (turns.length === 1) await Promise.race([gate.wait(), aborted(turn.signal)]);
      return { status: turn.signal.aborted ? "interrupted" : "completed" };
    },
    steer: (input) => new Promise((answer) => asked.push({ input, answer })),
  });
  const server = testEngine({ driver });
  const client = server.connect();
  const threadId = await client.startThread();
  const turnId = await client.startTurn(threadId, "go");
  await gate.reached;
  const queued = async () => (await client.call("thread/queue/list", { threadId })).queue;
  return { server, client, threadId, turnId, gate, asked, turns, queued };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
}

test("a steer that the agent has not answered holds up neither queued input nor settings", async () => {
  const { client, threadId, turnId, asked, gate, queued } = await held();
  let answered = false;
  const steering = client.call("turn/steer", { threadId, input: text("more") }).finally(() => {
    answered = true;
  });
  await settled();
  expect(asked.map(({ input }) => input)).toEqual([text("more")]);
  const { queuedInput } = await client.call("turn/start", {
    ...{ threadId, input: text("later"), delivery: "queue" },
  });
  expect(await queued()).toEqual([queuedInput]);
  await client.call("thread/name/set", { threadId, name: "Named meanwhile" });
  expect(answered).toBe(false);
  asked[0]?.answer(true);
  expect(await steering).toEqual({ turnId });
  gate.open();
  const ended = await client.turnEnd(turnId);
  expect(ended.items).toMatchObject([{ content: text("go") }, { content: text("more") }]);
});

test("an interrupt gets through to a turn whose agent has not answered a steer", async () => {
  const { client, threadId, turnId } = await held();
  const refused = expect(
    client.call("turn/start", { threadId, input: text("more"), delivery: "steer" }),
  ).resolves.toMatchObject({ queuedInput: { input: text("more") } });
  await settled();
  await client.call("turn/interrupt", { threadId });
  expect((await client.turnEnd(turnId)).status).toBe("interrupted");
  await refused;
});

test("input that is repeated with its clientId while the agent has not answered is sent once", async () => {
  const { client, threadId, turnId, asked, gate } = await held();
  const params = { threadId, input: text("more"), delivery: "steer", clientId: "one" } as const;
  const [first, second] = [client.call("turn/start", params), client.call("turn/start", params)];
  await settled();
  expect(asked).toHaveLength(1);
  asked[0]?.answer(true);
  expect((await first).turn?.id).toBe(turnId);
  expect((await second).turn?.id).toBe(turnId);
  gate.open();
  const ended = await client.turnEnd(turnId);
  expect(ended.items.filter(({ type }) => type === "userMessage")).toHaveLength(2);
});

test("queued input that was sent to the agent is neither changed nor sent again before it is answered", async () => {
  const { client, threadId, turnId, asked, gate, queued, turns } = await held();
  const { queuedInput } = await client.call("turn/start", {
    ...{ threadId, input: text("later"), delivery: "queue" },
  });
  const queuedInputId = queuedInput?.id ?? "";
  const promoted = client.call("thread/queue/promote", { threadId, queuedInputId });
  await settled();
  const again = { kind: "invalidParams", message: expect.stringContaining("has not answered yet") };
  for (const method of ["thread/queue/promote", "thread/queue/delete"] as const)
    await expect(client.call(method, { threadId, queuedInputId })).rejects.toMatchObject(again);
  await expect(
    client.call("thread/queue/update", { threadId, queuedInputId, input: text("other") }),
  ).rejects.toMatchObject(again);
  expect(await queued()).toHaveLength(1);
  asked[0]?.answer(true);
  expect(await promoted).toEqual({ turnId, queue: [] });
  gate.open();
  await client.turnEnd(turnId);
  await settled();
  expect(turns).toHaveLength(1);
});

test("queued input that the agent did not take before its turn ended starts the next turn, once", async () => {
  const { client, threadId, turnId, gate, queued, turns } = await held();
  const { queuedInput } = await client.call("turn/start", {
    ...{ threadId, input: text("later"), delivery: "queue" },
  });
  const promoted = client
    .call("thread/queue/promote", { threadId, queuedInputId: queuedInput?.id ?? "" })
    .catch(() => undefined);
  await settled();
  gate.open();
  await client.turnEnd(turnId);
  await promoted;
  await expect.poll(() => turns).toEqual([JSON.stringify(text("go")), JSON.stringify(text("later"))]);
  expect(await queued()).toEqual([]);
});

test("a server that stops does not wait for the answer to a steer", async () => {
  const { server, client, threadId } = await held();
  const refused = expect(client.call("turn/steer", { threadId, input: text("more") })).rejects.toThrow();
  await settled();
  await server.engine.close();
  await refused;
});

test("a thread can be deleted while its agent has not answered a steer", async () => {
  const { client, threadId } = await held();
  const refused = expect(client.call("turn/steer", { threadId, input: text("more") })).rejects.toThrow();
  await settled();
  await client.call("thread/delete", { threadId, interrupt: true });
  await refused;
});
