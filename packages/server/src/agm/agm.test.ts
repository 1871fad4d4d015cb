import { join } from "node:path";
import { RedisStore } from "@flint/tasks/fleet";
import { Gate, needs, RedisServer } from "@flint/testkit";
import { describe, expect } from "vitest";
import {
  addTask,
  setUpTasks,
  type TaskFixture,
  untilPhase,
  untilTask,
  type Work,
  writes,
} from "../testing/task-fixture.ts";
import { serveAgm } from "./index.ts";

const confined = needs("bwrap", "git");
const inRepository = needs("git");

interface Answer {
  readonly ok?: boolean;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly error?: string;
  readonly code?: string;
  readonly [name: string]: unknown;
}

/** Sends lines to a server of agm and returns the lines that it answers. */
async function exchange(
  { client, home, cwd }: TaskFixture,
  lines: readonly string[],
  redis?: string,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  await serveAgm({
    ...{ client, root: join(home, "state"), cwd },
    ...(redis === undefined ? {} : { fleet: { redis, namespace: "test" } }),
    input: (async function* () {
      for (const line of lines) yield Buffer.from(`${line}\n`);
    })(),
    write: async (line) => void answers.push(JSON.parse(line)),
    onProblem: (problem) => {
      throw new Error(problem);
    },
  });
  return answers;
}

/** The data of the answer to one request. */
async function ask(setup: TaskFixture, method: string, params: object = {}, redis?: string) {
  const [answer] = await exchange(setup, [JSON.stringify({ method, params })], redis);
  if (answer?.ok !== true || answer.data === undefined) throw new Error(JSON.stringify(answer));
  return answer.data;
}

const idle: Work = () => [{ text: "nothing" }];

describe("agm sessions", () => {
  inRepository(
    "pages through the messages of a session by limit and offset, oldest first [S2-5]",
    async () => {
      const setup = await setUpTasks(idle);
      const { id } = await ask(setup, "session.create", { title: "Port it" });
      for (const content of ["one", "two", "three"]) await ask(setup, "session.post", { id, content });
      const direct = { kind: "dm", sender: "lead:ann", recipient: "executor:1" };
      await ask(setup, "session.post", { id, content: "for you", ...direct });
      const pageOf = async (params: object) => {
        const { messages, ...page } = await ask(setup, "session.messages", { id, ...params });
        return { page, texts: (messages as { content: string }[]).map(({ content }) => content) };
      };
      expect(await pageOf({})).toEqual({
        page: { session_id: id, limit: 100, offset: 0, count: 4 },
        texts: ["one", "two", "three", "for you"],
      });
      expect((await pageOf({ limit: 2 })).texts).toEqual(["one", "two"]);
      expect(await pageOf({ limit: 2, offset: 3 })).toMatchObject({ page: { count: 1 }, texts: ["for you"] });
      expect(await pageOf({ offset: 9 })).toMatchObject({ page: { count: 0 }, texts: [] });
      expect((await pageOf({ kind: "dm" })).texts).toEqual(["for you"]);
      expect((await pageOf({ sender: "lead:ann" })).texts).toEqual(["for you"]);
      expect((await pageOf({ recipient: "executor:1" })).texts).toEqual(["for you"]);
    },
  );

  inRepository("keeps a posted message, and tells of it in a line after the answer [S2-70]", async () => {
    const setup = await setUpTasks(idle);
    const { id } = await ask(setup, "session.create", { title: "Port it", project: "/repo" });
    const metadata = { ticket: 7 };
    const params = { id, content: "Mind the tests", sender: "lead:ann", kind: "broadcast", metadata };
    const [answer, event, ...more] = await exchange(setup, [
      JSON.stringify({ method: "session.post", params }),
    ]);
    const message = { session_id: id, kind: "broadcast", sender: "lead:ann", recipient: null, metadata };
    expect(answer).toMatchObject({ ok: true, data: { ...message, content: "Mind the tests" } });
    expect(answer?.data?.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const extra = { ...message, message_id: answer?.data?.id };
    expect(event).toMatchObject({ type: "session:message", id, plan_id: id, project: "/repo", extra });
    expect(event).toMatchObject({ ...extra, status: "broadcast", source: "cli", v: 1 });
    expect(more).toEqual([]);
    expect((await ask(setup, "session.messages", { id })).messages).toEqual([answer?.data]);
  });

  needs("redis", "git")(
    "publishes session:message to the stream where there is a Redis [S2-70]",
    async () => {
      const redis = await RedisServer.start();
      const setup = await setUpTasks(idle);
      const { id } = await ask(setup, "session.create", { title: "Port it" }, redis.url);
      const line = JSON.stringify({ method: "session.post", params: { id, content: "hello" } });
      const answers = await exchange(setup, [line], redis.url);
      expect(answers).toHaveLength(1);
      const store = await RedisStore.open({ url: redis.url, namespace: "test", version: "0" });
      const entries = await store.connection.xrange("agm:events:stream", "-", "+");
      await store.close();
      const news = entries.map(([, [, text = ""]]) => JSON.parse(text));
      expect(news).toMatchObject([{ type: "session:message", id, message_id: answers[0]?.data?.id }]);
    },
  );

  confined("have the state of their tasks; a task without one gets its own", async () => {
    const setup = await setUpTasks(writes("b.txt", "x\n"));
    const create = { prompt: "Port it", executor: "alpha", merge: "none" };
    const { id: session_id } = await ask(setup, "session.create", { title: "Empty" });
    const task = await ask(setup, "task.create", create);
    expect(task).toMatchObject({ title: "Port it", executor: "alpha", project_id: setup.cwd });
    await untilPhase(setup.client, String(task.id), "approving");
    expect(await ask(setup, "task.show", { id: task.id })).toMatchObject({
      ...{ status: "approved", prompt: "Port it", session_id: task.session_id },
    });
    const { sessions } = await ask(setup, "session.list");
    expect(sessions).toMatchObject([
      { id: task.session_id, title: "Port it", trigger: "task", status: "active" },
      { id: session_id, title: "Empty", trigger: "api", status: "open" },
    ]);
    expect(await ask(setup, "task.cancel", { id: task.id })).toMatchObject({ status: "cancelled" });
    expect(await ask(setup, "session.show", { id: task.session_id })).toMatchObject({
      ...{ status: "completed", tasks: [{ id: task.id }] },
    });
    expect((await ask(setup, "task.list", { status: "running" })).tasks).toEqual([]);
    const { logs } = await ask(setup, "task.logs", { id: task.id, limit: 2 });
    expect(logs).toMatchObject([
      { task_id: task.id, level: "info", source: "task", message: expect.stringContaining("added by") },
      { message: "round 1: alpha starts work" },
    ]);
  });
});

describe("agm steers", () => {
  confined("are sent into the running turn, and told to the session [S2-71]", async () => {
    const gate = new Gate();
    const setup = await setUpTasks((text, turn, cwd) => [
      { wait: gate },
      ...writes("b.txt", "x\n")(text, turn, cwd),
    ]);
    const { id, session_id } = await ask(setup, "task.create", { prompt: "Port it", executor: "alpha" });
    await gate.reached;
    const { thread } = await untilTask(setup.client, String(id), (task) => task.thread?.turnId !== undefined);
    const steer = { id, content: "Mind the tests", sender: "lead:ann", metadata: { ticket: 7 } };
    const [answer, event] = await exchange(setup, [JSON.stringify({ method: "task.steer", params: steer })]);
    expect(answer?.data).toMatchObject({
      ...{ task_id: id, session_id, live_requested: true, live_applied: true },
      ...{ live_error: null, turn_id: thread?.turnId },
    });
    expect(event).toMatchObject({ type: "session:message", id: session_id, kind: "steer" });
    expect(setup.drivers[0]?.turns[0]?.steers).toMatchObject([[{ type: "text", text: "Mind the tests" }]]);
    expect((await ask(setup, "session.messages", { id: session_id })).messages).toMatchObject([
      { id: answer?.data?.message_id, kind: "steer", sender: "lead:ann", content: "Mind the tests" },
    ]);
    gate.open();
  });

  confined(
    "that no running turn gets are kept with the reason, and the next turn gets them [S2-71]",
    async () => {
      const gate = new Gate();
      const prompts: string[] = [];
      const setup = await setUpTasks((text, turn, cwd) => {
        prompts.push(text);
        return [{ wait: gate }, ...writes("b.txt", `${prompts.length}\n`)(text, turn, cwd)];
      });
      const { id } = await addTask(setup.client, setup.cwd, { reviewers: [] });
      await gate.reached;
      expect(await ask(setup, "task.steer", { id, content: "Later", live: false })).toMatchObject({
        ...{ live_requested: false, live_applied: false, live_error: null, turn_id: null },
      });
      gate.open();
      await untilPhase(setup.client, id, "approving");
      expect(await ask(setup, "task.steer", { id, content: "Too late" })).toMatchObject({
        ...{ live_requested: true, live_applied: false, live_error: "Task 1 is approving.", turn_id: null },
      });
      await setup.client.call("task/reject", { taskId: id, comments: "Once more" });
      await untilTask(setup.client, id, ({ phase, round }) => phase === "approving" && round === 2);
      expect(prompts[1]).toContain("Later");
      expect(prompts[1]).toContain("Too late");
      await setup.client.call("task/cancel", { taskId: id });
      expect(await ask(setup, "task.steer", { id, content: "After the end" })).toMatchObject({
        ...{ live_applied: false, live_error: "Task 1 is cancelled." },
      });
      await ask(setup, "task.steer", { id, content: "For the record", live: false });
      expect(await ask(setup, "task.steers", { id })).toMatchObject({ count: 4 });
    },
  );

  confined("lists messages from all senders, newest first and in pages [S2-72]", async () => {
    const setup = await setUpTasks(writes("b.txt", "x\n"));
    const { id } = await addTask(setup.client, setup.cwd, { reviewers: [] });
    await untilPhase(setup.client, id, "approving");
    await setup.client.call("task/steer", { taskId: id, content: "from the command line" });
    for (const content of ["one", "two"])
      await ask(setup, "task.steer", { id, content, sender: "lead:ann", recipient: "executor:1" });
    await setup.stop();
    // Another server has them too.
    const again = { ...setup, client: (await setup.start()).client };
    const { items, ...page } = await ask(again, "task.steers", { id });
    expect(page).toEqual({ task_id: id, limit: 100, offset: 0, count: 3 });
    const sent = { sender: "lead:ann", recipient: "executor:1", session_id: id, live_requested: true };
    const missed = { live_applied: false, live_error: "Task 1 is approving.", applied_turn_id: null };
    expect(items).toMatchObject([
      { content: "two", ...sent, ...missed, message_id: expect.any(String) },
      { content: "one", ...sent, ...missed },
      { content: "from the command line", message_id: null, ...missed },
    ]);
    const second = await ask(again, "task.steers", { id, limit: 1, offset: 1 });
    expect(second).toMatchObject({ count: 1, items: [{ content: "one" }] });
  });
});

describe("an agm request", () => {
  inRepository(
    "that is wrong is answered with a code and what is wrong, and the next one is answered",
    async () => {
      const setup = await setUpTasks(idle);
      const answers = await exchange(setup, [
        "nonsense",
        "[]",
        '{"params":{}}',
        '{"method":"toString"}',
        '{"method":"session.post","params":{"id":"s","content":""}}',
        '{"method":"session.messages","params":{"id":"s","limit":0}}',
        '{"method":"session.show","params":{"id":"s"}}',
        '{"method":"task.show","params":{"id":"t"}}',
        '{"method":"task.create","params":{"prompt":"p","session_id":"s"}}',
        '{"method":"task.create","params":{"prompt":"p","depends_on":["t"]}}',
        `{"method":"${"x".repeat(2_000_000)}"}`,
        '{"method":"session.list"}',
      ]);
      expect(answers.map(({ ok, code, error }) => [ok, code, error])).toEqual([
        [false, "INVALID_PARAMS", expect.stringContaining("one line of JSON")],
        [false, "INVALID_PARAMS", expect.stringContaining("one line of JSON")],
        [false, "INVALID_METHOD", expect.stringContaining("no method. The methods are: session.create,")],
        [false, "INVALID_METHOD", expect.stringContaining('"toString"')],
        [false, "INVALID_PARAMS", expect.stringContaining("Wrong params for session.post: content: ")],
        [false, "INVALID_PARAMS", expect.stringContaining("Wrong params for session.messages: limit: ")],
        [false, "NOT_FOUND", "There is no session s."],
        [false, "NOT_FOUND", "There is no task t."],
        [false, "NOT_FOUND", "There is no session s."],
        [false, "INVALID_PARAMS", "There is no task t to depend on."],
        [false, "INVALID_PARAMS", expect.stringContaining("longer than")],
        [true, undefined, undefined],
      ]);
    },
  );

  inRepository("to a server that has gone is answered with INTERNAL", async () => {
    const setup = await setUpTasks(idle);
    await setup.stop();
    const answers = await exchange(setup, ['{"method":"task.list"}', '{"method":"session.create"}']);
    expect(answers.map(({ code }) => code)).toEqual(["INTERNAL", "INVALID_PARAMS"]);
  });
});
