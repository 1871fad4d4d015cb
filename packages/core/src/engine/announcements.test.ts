import type { Engine } from "@flint/core";
import type { ThreadEvent } from "@flint/protocol";
import { testEngine } from "@flint/testkit";
import { describe, expect, test } from "vitest";

/** A client that only lists threads. */
function listener(engine: Engine) {
  const announced: ThreadEvent[] = [];
  const received: ThreadEvent[] = [];
  let isFull = false;
  const session = engine.connect({
    send: (event) => received.push(event),
    isFull: () => isFull,
    announce: (event) => announced.push(event),
  });
  const fill = (full: boolean) => {
    isFull = full;
  };
  return { session, announced, received, fill, names: () => announced.map(({ type }) => type) };
}

describe("a client that lists threads", () => {
  test("is sent new threads and changes of name, status and lifecycle, but no content", async () => {
    const server = testEngine({ scripts: [[{ text: "Hello." }]] });
    const list = listener(server.engine);
    const client = server.connect();
    const threadId = await client.startThread();
    await client.call("thread/name/set", { threadId, name: "first" });
    await client.runTurn(threadId, "hi");
    await client.call("thread/archive", { threadId });
    await client.call("thread/delete", { threadId });
    expect(list.names()).toEqual([
      "thread/started",
      "thread/name/updated",
      "thread/status/changed",
      "thread/status/changed",
      "thread/archived",
      "thread/deleted",
    ]);
    expect(list.received).toEqual([]);
  });

  test("is not sent anything twice for a thread that it is subscribed to", async () => {
    const server = testEngine({ scripts: [[{ text: "Hello." }]] });
    const list = listener(server.engine);
    await list.session.call("thread/start", {}, () => undefined);
    const [thread] = (await server.connect().call("thread/list", {})).data;
    await server.connect().runTurn(thread?.id ?? "", "hi");
    expect(list.announced).toEqual([]);
    expect(list.received.map(({ type }) => type)).toContain("turn/completed");
  });

  test("is sent forks and detached reviews", async () => {
    const server = testEngine({ scripts: [[{ text: "Hello." }], [{ text: "Fine." }]] });
    const client = server.connect();
    const threadId = await client.startThread();
    await client.runTurn(threadId, "hi");
    const list = listener(server.engine);
    const { thread } = await client.call("thread/fork", { threadId });
    const review = { threadId, target: { type: "uncommittedChanges" }, delivery: "detached" } as const;
    const { reviewThreadId } = await client.call("review/start", review);
    const born = list.announced.flatMap((event) =>
      event.type === "thread/started" ? [event.data.thread.id] : [],
    );
    expect(born).toEqual([thread.id, reviewThreadId]);
  });

  test("is sent nothing while it is full, then what happens next, and its next list is current", async () => {
    const server = testEngine({ scripts: [[{ text: "Hello." }], [{ text: "Again." }]] });
    const list = listener(server.engine);
    const client = server.connect();
    const threadId = await client.startThread();
    list.fill(true);
    await client.call("thread/name/set", { threadId, name: "missed" });
    await client.runTurn(threadId, "hi");
    expect(list.names()).toEqual(["thread/started"]);
    list.fill(false);
    list.session.drained();
    expect(list.names()).toEqual(["thread/started"]);
    await client.runTurn(threadId, "again");
    expect(list.names().slice(1)).toEqual(["thread/status/changed", "thread/status/changed"]);
    const { data } = await client.call("thread/list", {});
    expect(data).toMatchObject([{ id: threadId, name: "missed", status: { type: "idle" } }]);
  });

  test("is sent nothing after it has left, and disturbs no other client by failing", async () => {
    const server = testEngine();
    const gone = listener(server.engine);
    gone.session.close();
    server.engine.connect({
      send: () => undefined,
      isFull: () => false,
      announce: () => {
        throw new Error("broken");
      },
    });
    const list = listener(server.engine);
    await server.connect().startThread();
    await server.connect().startThread();
    expect([gone.names(), list.names()]).toEqual([[], ["thread/started", "thread/started"]]);
  });
});
