import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { PublishedEvent } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { needs, RedisServer } from "@flint/testkit";
import { describe, expect } from "vitest";
import { serveAgm } from "./agm/index.ts";
import { embed } from "./embed.ts";
import {
  addTask,
  setUpTasks,
  type TaskFixture,
  untilPhase,
  verdict,
  writes,
} from "./testing/task-fixture.ts";

const confined = needs("bwrap", "git");

/** The events that a client gets, as they come. */
function eventsAt(client: FlintClient): PublishedEvent[] {
  const seen: PublishedEvent[] = [];
  client.subscribe({
    event: (event) => {
      if (event.type === "task/event") seen.push(event.data.event);
    },
    ended: () => {},
  });
  return seen;
}

/** An agm whose input stays open until the test ends it, with the lines that it wrote. */
function startAgm({ home, cwd }: TaskFixture, client: FlintClient) {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const waiting: (() => void)[] = [];
  const input = new PassThrough();
  const ended = serveAgm({
    ...{ client, root: join(home, "state"), cwd, input },
    write: async (line) => {
      lines.push(JSON.parse(line));
      for (const resolve of waiting.splice(0)) resolve();
    },
    onProblem: (problem) => {
      throw new Error(problem);
    },
  });
  return {
    lines,
    send(method: string, params: object = {}): void {
      input.write(`${JSON.stringify({ method, params })}\n`);
    },
    async until(matches: (line: Readonly<Record<string, unknown>>) => boolean) {
      for (;;) {
        const found = lines.find(matches);
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
    async end(): Promise<void> {
      input.end();
      await ended;
    },
  };
}

describe("without Redis the events of tasks", () => {
  confined(
    "are notifications, with the same names and fields, for clients that follow them [S2-52]",
    async () => {
      const setup = await setUpTasks(writes("b.txt", "x\n"), () => [verdict("approve")]);
      const { client, cwd } = setup;
      const followed = eventsAt(client);
      await client.call("task/subscribe", {});
      const { id } = await addTask(client, cwd);
      await untilPhase(client, id, "approving", "failed", "asking");
      const turns = followed.filter(({ type }) => type === "task:turn");
      const roleOf = ({ thread_context }: PublishedEvent) =>
        (thread_context as { owner_role: string }).owner_role;
      expect(turns.map((each) => [roleOf(each), each.status])).toEqual([
        ["executor", "started"],
        ["executor", "completed"],
        ["reviewer", "started"],
        ["reviewer", "completed"],
      ]);
      expect(followed.map(({ type }) => type)).toContain("task:item_completed");
      for (const each of followed) {
        expect(each).toMatchObject({ id, plan_id: id, project: cwd, source: "worker", v: 1 });
        expect(Object.values(each.thread_context as object)).not.toContain(undefined);
        expect(Object.keys(each.thread_context as object)).toHaveLength(10);
      }
    },
  );

  confined("are only sent to clients that asked for them", async () => {
    const setup = await setUpTasks(writes("b.txt", "x\n"));
    await setup.stop();
    const server = await setup.start();
    const [quiet, subscriber] = [await server.connect(), await server.connect()];
    const [unseen, seen] = [eventsAt(quiet), eventsAt(subscriber)];
    await subscriber.call("task/subscribe", {});
    const { id } = await addTask(server.client, setup.cwd);
    await untilPhase(server.client, id, "approving", "failed", "asking");
    await quiet.call("task/list", {});
    await subscriber.call("task/list", {});
    expect([unseen.length, seen.length > 0]).toEqual([0, true]);
  });

  confined("are lines of an agm that follows them, with the messages that others post [S2-70]", async () => {
    const setup = await setUpTasks(writes("b.txt", "x\n"));
    await setup.stop();
    const server = await setup.start();
    const [subscriber, poster] = [await server.connect(), await server.connect()];
    const following = startAgm(setup, subscriber);
    following.send("events.follow");
    await following.until(({ ok }) => ok === true);
    const { id } = await addTask(server.client, setup.cwd);
    const ended = await following.until(({ type, status }) => type === "task:turn" && status === "completed");
    expect(ended).toMatchObject({
      id,
      turn_status: "completed",
      extra: { thread_context: { model: "alpha/steady" } },
    });
    const posting = startAgm(setup, poster);
    posting.send("session.create", { title: "Port it" });
    const session = (await posting.until(({ ok }) => ok === true)).data as { id: string };
    posting.send("session.post", { id: session.id, content: "hello" });
    const message = { type: "session:message", id: session.id, status: "context" };
    expect(await following.until(({ type }) => type === "session:message")).toMatchObject(message);
    await posting.end();
    await following.end();
    // The one that posted has it once, after the answer.
    expect(posting.lines.map(({ ok, type }) => type ?? ok)).toEqual([true, true, "session:message"]);
  });
});

needs("redis", "git")("with Redis a client that wants to follow gets the name of the stream", async () => {
  const redis = await RedisServer.start();
  const setup = await setUpTasks(writes("b.txt", "x\n"));
  await setup.stop();
  const fleet = { redis: redis.url, namespace: "test", events: { stream: "my:events" } };
  const server = await embed({ root: join(setup.home, "other"), cwd: setup.cwd, tasks: { fleet } });
  const following = startAgm(setup, server.client);
  following.send("events.follow");
  const refused = await following.until(({ ok }) => ok === false);
  expect(refused).toMatchObject({ error: "The events of this fleet are in the Redis stream my:events." });
  await following.end();
  await server.close();
});
