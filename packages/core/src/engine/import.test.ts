import { mintId, type Turn } from "@flint/protocol";
import { BareDriver, testEngine } from "@flint/testkit";
import { expect, test } from "vitest";
import type { NativeHistory, NativeSessions } from "../ports/index.ts";

/** A scripted agent with one session of its own, which the test changes. */
class DriverWithSessions extends BareDriver {
  recorded: Turn[] = [];
  notes: string[] = [];

  constructor() {
    super({ run: async () => ({ status: "completed" }) });
  }

  async nativeSessions(): Promise<NativeSessions> {
    const session = { id: "s1", cwd: "/code", preview: "fix it", updatedAt: 7 };
    return {
      list: async () => [session],
      read: async (): Promise<NativeHistory> => ({
        ...{ session, model: undefined, turns: this.recorded, notes: this.notes },
      }),
    };
  }
}

function turn(nativeTurnId: string, texts: readonly string[], status: Turn["status"] = "completed"): Turn {
  const id = mintId();
  const items = texts.map((text, index) => ({ type: "agentMessage", id: `${id}-${index}`, text }) as const);
  return { id, status, items, kind: "prompt", _meta: { nativeTurnId } };
}

async function imported(...turns: Turn[]) {
  const driver = new DriverWithSessions();
  driver.recorded = turns;
  const client = testEngine({ driver }).connect();
  const request = { agent: driver.id, sessionId: "s1" };
  const result = await client.call("thread/import", request);
  const texts = async () => {
    const read = await client.call("thread/read", { threadId: result.thread.id, includeTurns: true });
    return (read.turns ?? []).map(({ items }) => items.map((item) => Reflect.get(item, "text")));
  };
  return { driver, client, request, result, texts };
}

test("makes a thread of a session, which is listed with its thread from then on", async () => {
  const { client, request, result, texts } = await imported(turn("a", ["one", "two"]), turn("b", ["three"]));
  expect(result).toMatchObject({ status: "imported", turns: 2, notes: [] });
  expect(result.thread).toMatchObject({
    preview: "fix it",
    nativeSession: { agent: request.agent, id: "s1" },
  });
  expect(await texts()).toEqual([["one", "two"], ["three"]]);
  const { data } = await client.call("thread/import/list", {});
  expect(data).toMatchObject([{ id: "s1", agent: request.agent, threadId: result.thread.id }]);
});

test("adds nothing when a session is imported again, and only new turns when it has continued", async () => {
  const { driver, client, request, result, texts } = await imported(turn("a", ["one"]));
  const again = await client.call("thread/import", request);
  expect(again).toMatchObject({ status: "unchanged", turns: 0, thread: { id: result.thread.id } });
  driver.recorded = [turn("a", ["one"]), turn("b", ["two"])];
  expect(await client.call("thread/import", request)).toMatchObject({ status: "updated", turns: 1 });
  expect(await texts()).toEqual([["one"], ["two"]]);
});

test("replaces a turn that was cut off when it was imported", async () => {
  const { driver, client, request, texts } = await imported(turn("a", ["one"], "interrupted"));
  driver.recorded = [turn("a", ["one", "two"])];
  expect(await client.call("thread/import", request)).toMatchObject({ status: "updated", turns: 1 });
  expect(await texts()).toEqual([["one", "two"]]);
  expect(await client.call("thread/import", request)).toMatchObject({ status: "unchanged" });
});

test("leaves a thread alone that was continued in Flint, and says so", async () => {
  const { driver, client, request, result } = await imported(turn("a", ["one"]));
  const { id: threadId } = result.thread;
  await client.call("thread/attach", { threadId });
  await client.runTurn(threadId, "go on");
  driver.recorded = [turn("a", ["one"]), turn("b", ["go on"])];
  const again = await client.call("thread/import", request);
  expect(again).toMatchObject({ status: "unchanged", turns: 0 });
  expect(again.notes.join()).toContain("was continued in Flint");
});

test("rejects a session without turns with the reason, and an agent without sessions", async () => {
  const driver = new DriverWithSessions();
  driver.notes = ["3 lines of the session could not be read."];
  const client = testEngine({ driver }).connect();
  const request = { agent: driver.id, sessionId: "s1" };
  await expect(client.call("thread/import", request)).rejects.toThrow(
    "3 lines of the session could not be read",
  );
  expect((await client.call("thread/list", {})).data).toEqual([]);
  await expect(client.call("thread/import", { ...request, agent: "none" })).rejects.toThrow(
    'no agent "none"',
  );
});
