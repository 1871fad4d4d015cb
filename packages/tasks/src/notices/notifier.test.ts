import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { TaskEventBody } from "@flint/protocol";
import { TestClock } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { MemoryStore } from "../store/memory-store.ts";
import { testSpec } from "../testing/spec.ts";
import { ASKS } from "../testing/task.ts";
import { GATHER_MS, Notifier, type NotifierOptions } from "./notifier.ts";

interface Received {
  readonly body: string;
  readonly signature: string | string[] | undefined;
}

/** A receiver that answers with these codes, one after the other, and the last one from then on. */
async function receiver(...codes: readonly number[]) {
  return receiverAt(undefined, ...codes);
}

/** One that names another address in its answers. */
async function receiverAt(location: string | undefined, ...codes: readonly number[]) {
  const received: Received[] = [];
  const waiting: (() => void)[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      received.push({ body, signature: request.headers["x-flint-signature"] });
      const headers = location === undefined ? {} : { location };
      response.writeHead(codes[Math.min(received.length, codes.length) - 1] ?? 200, headers).end();
      for (const resolve of waiting.splice(0)) resolve();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const count = async (requested: number) => {
    while (received.length < requested) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  return { url: `http://127.0.0.1:${port}/hook`, received, count };
}

async function setUp(options: Partial<NotifierOptions>) {
  const store = new MemoryStore({ now: () => 1_800_000_000_000 });
  const problems: string[] = [];
  const programs: { command: readonly string[]; environment: Readonly<Record<string, string>> }[] = [];
  const clock = new TestClock();
  const notifier = await Notifier.start({
    store,
    after: (...timer) => clock.after(...timer),
    run: async (command, environment) => {
      programs.push({ command, environment });
      return 0;
    },
    onProblem: (problem) => void problems.push(problem),
    ...options,
  });
  onTestFinished(() => notifier.stop());
  const { id } = await store.add({ spec: testSpec(), by: "ann", waiting: false });
  const add = async (title: string) =>
    (await store.add({ spec: testSpec({ title }), by: "ann", waiting: false })).id;
  /** Lets events happen to a task, without a message yet. */
  const happenTo = async (task: string, ...events: TaskEventBody[]) => {
    const expect = (await store.read(task))?.version ?? 0;
    await store.commit({ task, expect, events });
  };
  const gather = () => clock.advance(GATHER_MS);
  /** Lets events happen to the first task, and time pass. */
  const happen = async (...events: TaskEventBody[]) => {
    await happenTo(id, ...events);
    await gather();
  };
  return { id, add, happen, happenTo, gather, clock, problems, programs, notifier };
}

describe("a notice", () => {
  test("is not sent about a task that is not verified, or cannot be", async () => {
    const verified = [async () => "The task is not signed.", async () => Promise.reject(new Error("away"))];
    const sent = verified.map(async (verify) => {
      const { happen, programs, problems, notifier } = await setUp({ command: ["tell"], verify });
      await happen(ASKS);
      await notifier.stop();
      return [programs, problems];
    });
    const away = "There was no notice about task 1: away";
    expect(await Promise.all(sent)).toEqual([
      [[], []],
      [[], [away]],
    ]);
  });

  test("goes to the configured program when a task asks, and not when it goes on", async () => {
    const { happen, programs } = await setUp({ command: ["tell", "me"] });
    await happen(ASKS);
    await happen({
      type: "task/answered",
      data: { askId: "ask-1", answer: { choice: "continue" }, by: "ann" },
    });
    expect(programs).toMatchObject([
      {
        command: ["tell", "me"],
        environment: {
          FLINT_NOTICE: "asking",
          FLINT_NOTICE_TEXT: "Task 1 (Port the config module) asks you: Which port?",
        },
      },
    ]);
  });

  test("shows what is invisible or steers a terminal in what an agent wrote", async () => {
    const { add, happenTo, gather, id, programs } = await setUp({ command: ["tell"] });
    const message = "a\u001b]0;b\u0007\u202ec\0\nd";
    const asking = {
      type: "task/asking",
      data: { ask: { id: "ask-1", reason: "question", message } },
    } as const;
    await happenTo(id, asking);
    await gather();
    await happenTo(await add(message), ASKS);
    await happenTo(await add("Other"), ASKS);
    await gather();
    const texts = programs.map(({ environment }) => environment.FLINT_NOTICE_TEXT);
    const shown = "a\\u{1b}]0;b\\u{7}\\u{202e}c\\u{0} d";
    expect(texts).toEqual([
      `Task 1 (Port the config module) asks you: ${shown}`,
      `2 tasks need you: #2 ${shown}, #3 Other.`,
    ]);
  });

  test("is posted with a signature that the receiver can check, and again if it was not taken", async () => {
    const { url, received, count } = await receiver(500, 200);
    const { happen, problems } = await setUp({ webhook: { url, secret: "s3cret" } });
    await happen(ASKS);
    await count(2);
    const [first, second] = received;
    expect(second?.body).toBe(first?.body);
    expect(JSON.parse(first?.body ?? "")).toMatchObject({ kind: "asking", task: { number: 1 } });
    const expected = createHmac("sha256", "s3cret")
      .update(first?.body ?? "")
      .digest("hex");
    expect(first?.signature).toBe(`sha256=${expected}`);
    expect(problems).toEqual([]);
  });

  test("does not follow its webhook to another address", async () => {
    const other = await receiver(200);
    const { url, count } = await receiverAt(other.url, 307);
    const { happen, problems, notifier } = await setUp({ webhook: { url, secret: "s3cret" } });
    await happen(ASKS);
    // Tried again, because the answer was no success.
    await count(2);
    await notifier.stop();
    expect(problems).toHaveLength(1);
    expect(other.received).toEqual([]);
  });

  test("that no program accepts is reported and blocks nothing", async () => {
    const { url, count } = await receiver(500);
    const { happen, problems, notifier } = await setUp({ webhook: { url, secret: undefined } });
    await happen(ASKS);
    await count(1);
    await notifier.stop();
    expect(problems).toEqual([expect.stringContaining("The webhook did not get the notice about task 1")]);
  });

  test("waits a moment for others, which become one message, what needs the user first", async () => {
    const { url, received, count } = await receiver(200);
    const { id, add, happenTo, gather, clock, programs } = await setUp({
      command: ["tell"],
      webhook: { url, secret: undefined },
    });
    const titles = ["Fix the parser", "Port the importer", "Speed up the tests with a title that never ends"];
    const others = await Promise.all(titles.map(add));
    await happenTo(id, { type: "task/ended", data: { status: "done" } });
    for (const task of others) await happenTo(task, ASKS);
    await clock.advance(GATHER_MS - 1);
    expect(programs).toEqual([]);
    await gather();
    await count(1);
    const text =
      "3 tasks need you: #2 Fix the parser, #3 Port the importer, #4 Speed up the tests with a title that ne…. 1 task is done: #1 Port the config module.";
    expect(programs).toMatchObject([{ environment: { FLINT_NOTICE: "digest", FLINT_NOTICE_TEXT: text } }]);
    expect(JSON.parse(received[0]?.body ?? "")).toMatchObject({
      ...{ kind: "digest", text, count: 4 },
      notices: [{ kind: "done", number: 1 }, { kind: "asking", taskId: others[0] }, {}, {}],
    });
    await happenTo(id, { type: "task/retried", data: { by: "ann" } }, ASKS);
    await gather();
    expect(programs.at(-1)?.environment.FLINT_NOTICE).toBe("asking");
  });

  test("of many tasks names a few, and lists as many as an environment can hold", async () => {
    const { add, happenTo, gather, programs } = await setUp({ command: ["tell"] });
    for (let count = 0; count < 150; count += 1) await happenTo(await add("Fix it"), ASKS);
    await gather();
    const { FLINT_NOTICE_TEXT: text, FLINT_NOTICE_JSON: json = "" } = programs[0]?.environment ?? {};
    expect(text).toBe("150 tasks need you: #2 Fix it, #3 Fix it, #4 Fix it, and 147 more.");
    expect(JSON.parse(json)).toMatchObject({ count: 150 });
    expect(json.length).toBeLessThan(100_000);
  });

  test("is not sent if the user has answered meanwhile, and is sent at once by a server that stops", async () => {
    const { happenTo, id, gather, programs, notifier } = await setUp({ command: ["tell"] });
    const answered: TaskEventBody = {
      type: "task/answered",
      data: { askId: "ask-1", answer: { choice: "continue" }, by: "ann" },
    };
    await happenTo(id, ASKS);
    await happenTo(id, answered);
    await gather();
    expect(programs).toEqual([]);
    await happenTo(id, ASKS);
    await notifier.stop();
    expect(programs).toHaveLength(1);
  });

  test("about a short wait is left out, about a long one not", async () => {
    const { happen, programs } = await setUp({ command: ["tell"] });
    const until = (hours: number): TaskEventBody => ({
      type: "task/suspended",
      data: { reason: "usageLimit", untilMs: 1_800_000_000_000 + hours * 3_600_000, message: "limit" },
    });
    await happen(until(0.5));
    await happen({ type: "task/resumed", data: { by: "ann" } });
    await happen(until(2));
    expect(programs.map(({ environment }) => environment.FLINT_NOTICE)).toEqual(["suspended"]);
  });
});
