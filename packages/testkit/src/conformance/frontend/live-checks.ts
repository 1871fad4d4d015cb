import { SYSTEM_CLOCK } from "@flint/core/ports";
import { type EventType, ITEMS, type ItemType, type ThreadEvent, type ThreadItem } from "@flint/protocol";
import fc from "fast-check";
import { vi } from "vitest";
import { TestClock } from "../../clock.ts";
import { BareDriver } from "../../test-engine.ts";
import { WireError, type WireMessage } from "../../wire-client.ts";
import { arbitraryOf, eventsOf } from "../arbitraries.ts";
import {
  type CheckedFrontend,
  type FrontendUnderTest,
  type LiveClient,
  LiveFrontend,
} from "./live-frontend.ts";
import { answerTo } from "./translation-checks.ts";

const SAMPLES = { seed: 20_300_101, numRuns: 30 } as const;
const APPROVED_COMMAND = [{ command: "make" }, { text: "done" }] as const;

/** Throws unless each of many requests in one go, good and bad ones, has exactly one answer. */
export async function checkOneAnswer<F extends CheckedFrontend>(
  frontend: FrontendUnderTest<F>,
): Promise<void> {
  const { script } = frontend;
  const client = await new LiveFrontend(frontend).client();
  const threadId = await client.startThread();
  const calls = [
    script.initialize,
    script.startThread("/code"),
    ["no/such/method", {}],
    [script.prompt(threadId, "go")[0], {}],
    script.attach(threadId, "/code"),
    script.attach("0190a000-0000-7000-8000-00000000dead", "/code"),
  ] as const;
  const ids = Array.from({ length: 30 }, (_, index) => 1_000 + index);
  for (const id of ids) {
    const [method, params] = calls[id % calls.length] ?? script.initialize;
    client.wire.send({ ...(script.header ? { jsonrpc: "2.0" } : {}), id, method, params });
  }
  for (const id of ids) await client.wire.waitFor((message) => isAnswerTo(message, id));
  await client.startThread();
  for (const id of ids) {
    const answers = client.wire.messages.filter((message) => isAnswerTo(message, id));
    if (answers.length !== 1) throw new Error(`request ${id} has ${answers.length} answers`);
  }
}

function isAnswerTo(message: WireMessage, id: number): boolean {
  return message.id === id && !("method" in message);
}

/** Throws unless an unknown method and wrong params are errors of their kind, and the client is served on. */
export async function checkErrors<F extends CheckedFrontend>(frontend: FrontendUnderTest<F>): Promise<void> {
  const { script } = frontend;
  const live = new LiveFrontend(frontend);
  const client = await live.client();
  const threadId = await client.startThread();
  const { methodNotFound, invalidParams } = frontend.create(new TestClock()).vocabulary.errorCodes;
  for (const method of ["no/such/method", "toString", "__proto__", "x".repeat(5_000)]) {
    await expectError(client, method, {}, methodNotFound);
  }
  const [prompt, params] = script.prompt(threadId, "go");
  await expectError(client, prompt, {}, invalidParams);
  for (const name of Object.keys(params)) {
    await expectError(client, prompt, { ...params, [name]: { not: "this" } }, invalidParams);
  }
  for (const line of ["{", "null", "[]", '{"id":1}', '{"id":{},"method":"x"}'])
    await client.wire.sendRaw(`${line}\n`);
  await client.startThread();
}

async function expectError(client: LiveClient, method: string, params: object, code: number): Promise<void> {
  const error: unknown = await client.wire.request(method, params).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const shown = `${method.slice(0, 30)} with ${JSON.stringify(params)}`;
  if (!(error instanceof WireError)) throw new Error(`${shown} is not an error`);
  if (error.code !== code) throw new Error(`${shown} has the code ${String(error.code)} and not ${code}`);
}

/** Throws if a client is sent anything of a thread or a turn before the answer to the request that started it. */
export async function checkAnswerFirst<F extends CheckedFrontend>(
  frontend: FrontendUnderTest<F>,
): Promise<void> {
  const client = await new LiveFrontend(frontend, [{ text: "done" }]).client();
  const after = client.wire.mark;
  const threadId = await client.startThread();
  expectAnswerFirst(client.wire.messages.slice(after), threadId, "a thread");
  if (frontend.script.answersAtEnd) return;
  const before = client.wire.mark;
  await client.prompt(threadId);
  await client.received("done");
  expectAnswerFirst(client.wire.messages.slice(before), threadId, "a turn");
}

function expectAnswerFirst(messages: readonly WireMessage[], id: string, what: string): void {
  const answer = messages.findIndex((message) => "result" in message);
  const first = messages.findIndex((message) => "method" in message && JSON.stringify(message).includes(id));
  if (first !== -1 && first < answer) {
    throw new Error(`${String(messages[first]?.method)} is sent before the answer that starts ${what}`);
  }
}

/** Throws unless every client is asked once, and those who have not answered learn that another one has. */
export async function checkWithdrawal<F extends CheckedFrontend>(
  frontend: FrontendUnderTest<F>,
): Promise<void> {
  const live = new LiveFrontend(frontend, APPROVED_COMMAND);
  const [first, second] = [await live.client(), await live.client()];
  const threadId = await first.startThread();
  await second.attach(threadId);
  await first.prompt(threadId);
  const [approval, same] = [await first.approval(), await second.approval()];
  await second.answer(same, true);
  await first.withdrawal(approval);
  await first.received("done");
  const { messages } = first.wire;
  const asked = messages.filter((message) => frontend.script.isApproval(message)).length;
  if (asked !== 1) throw new Error(`a client is asked ${asked} times`);
}

/** Throws unless a client that allows a command after the time limit is not asked about its next run. */
export async function checkLateAnswer<F extends CheckedFrontend>(
  frontend: FrontendUnderTest<F>,
): Promise<void> {
  const live = new LiveFrontend(frontend, APPROVED_COMMAND, SYSTEM_CLOCK, { approvalTimeoutMs: 50 });
  const client = await live.client();
  const threadId = await client.startThread();
  await client.prompt(threadId);
  const approval = await client.approval();
  await client.withdrawal(approval);
  await client.received("done");
  await client.answer(approval, true);
  const { messages } = client.wire;
  const before = messages.length;
  // The first turn may not have ended yet.
  await vi.waitFor(() => client.prompt(threadId), { timeout: 10_000 });
  await client.wire.waitFor((message) => JSON.stringify(message).includes("done"), { after: before });
  const asked = messages.filter((message) => frontend.script.isApproval(message)).length;
  if (asked !== 1)
    throw new Error(`a client is asked ${asked} times, though its late answer allows the command`);
}

/** Throws unless a client sees the commands that an agent left running, and can stop one of them. */
export async function checkBackground<F extends CheckedFrontend>(
  frontend: FrontendUnderTest<F>,
): Promise<void> {
  let running = ["p1", "p2"].map((processId) => ({ processId, command: `sleep ${processId}`, cwd: "/code" }));
  const driver = new BareDriver({
    run: async () => ({ status: "completed" }),
    backgroundCommands: async () => running,
    stopBackgroundCommand: async (stopped) => {
      running = running.filter(({ processId }) => processId !== stopped);
      return true;
    },
  });
  const client = await new LiveFrontend(frontend, [], SYSTEM_CLOCK, { driver }).client();
  const { script } = frontend;
  const threadId = await client.startThread();
  await client.prompt(threadId);
  await client.received(script.turnEnd);
  const listed = async () => {
    const before = client.wire.mark;
    await client.request(script.listBackground(threadId));
    const text = JSON.stringify(client.wire.messages.slice(before));
    return ["p1", "p2"].filter((processId) => text.includes(`sleep ${processId}`)).join(" ");
  };
  const first = await listed();
  await client.request(script.stopBackground(threadId, "p1"));
  const second = await listed();
  if (first !== "p1 p2" || second !== "p2" || running.length !== 1)
    throw new Error(`a client sees "${first}", and "${second}" after it stopped p1`);
}

/** Throws unless an event is encoded once, however many clients are sent it. */
export async function checkEncodeOnce<F extends CheckedFrontend>(
  frontend: FrontendUnderTest<F>,
): Promise<void> {
  const live = new LiveFrontend(frontend);
  const clients = [await live.client(), await live.client(), await live.client()];
  const [first, ...others] = clients;
  const threadId = (await first?.startThread()) ?? "";
  for (const other of others) await other.attach(threadId);
  const ofItem = { threadId, turnId: "u", itemId: "m" };
  const item: ThreadItem = { type: "agentMessage", id: "m", text: "" };
  const events: ThreadEvent[] = [
    { type: "item/started", data: { ...ofItem, item }, at: 1 },
    { type: "item/agentMessage/delta", data: { ...ofItem, delta: "once", offset: 0 }, at: 1 },
  ];
  for (const event of events) {
    const encodings = clients.map(({ handler }) => encodingsIn(() => handler.sends(event)));
    if (encodings.slice(1).some((count) => count > 0)) {
      throw new Error(
        `${event.type} is encoded ${encodings.join(" + ")} times for ${clients.length} clients`,
      );
    }
  }
  for (const client of clients) await client.received("once");
}

/** Returns the number of times that JSON is written while work is done. */
function encodingsIn(work: () => void): number {
  const { stringify } = JSON;
  let count = 0;
  JSON.stringify = (...given: unknown[]) => {
    count += 1;
    // Only counted; what is written stays the same.
    return stringify(...(given as Parameters<typeof stringify>));
  };
  try {
    work();
  } finally {
    JSON.stringify = stringify;
  }
  return count;
}

/** Throws unless clients are sent something for events of a type, or the type is listed as not shown. */
export async function checkEventShown<F extends CheckedFrontend>(
  frontend: FrontendUnderTest<F>,
  type: EventType,
): Promise<void> {
  const isListed = frontend.notShown.events.includes(type);
  const isShown = await isAnyShown(frontend, (threadId) =>
    fc.sample(fc.tuple(eventsOf(requestOf(type)), eventsOf(type)), SAMPLES).map(([requested, event]) => {
      const before = requestOf(type) === type ? [] : [inThread(requested, threadId)];
      const sample = before.length === 0 ? event : answerTo(requested, event);
      return { before, events: [inThread(sample, threadId)] };
    }),
  );
  expectListed(type, isShown, isListed);
}

/** Returns the event that has to come before another one that resolves it; any other event stands alone. */
function requestOf(type: EventType): EventType {
  if (type === "approval/resolved") return "approval/requested";
  if (type === "question/resolved") return "question/requested";
  return type === "tool/resolved" ? "tool/requested" : type;
}

/** The same for items of a type. */
export async function checkItemShown<F extends CheckedFrontend>(
  frontend: FrontendUnderTest<F>,
  type: ItemType,
): Promise<void> {
  const isListed = frontend.notShown.items.includes(type);
  const isShown = await isAnyShown(frontend, (threadId) =>
    fc.sample(arbitraryOf(ITEMS[type].schema, "output"), SAMPLES).map((value, index) => {
      // The value was made from the schema of this very type; ids that repeat would be the same item.
      const item = { ...Object(value), id: `item-${index}` } as ThreadItem;
      const data = { threadId, turnId: "u", item };
      const events: ThreadEvent[] = [
        { type: "item/started", data, at: 1 },
        { type: "item/completed", data, at: 1 },
      ];
      return { before: [], events };
    }),
  );
  expectListed(type, isShown, isListed);
}

function expectListed(type: string, isShown: boolean, isListed: boolean): void {
  if (!isShown && !isListed) throw new Error(`${type} is not shown, and not listed as such`);
  if (isShown && isListed) throw new Error(`${type} is listed as not shown, but it is`);
}

/** Events, and what has happened before them. */
interface Sample {
  readonly before: readonly ThreadEvent[];
  readonly events: readonly ThreadEvent[];
}

/** Reports whether the events of any sample lead to a message, by the end of the turn at the latest. */
async function isAnyShown<F extends CheckedFrontend>(
  frontend: FrontendUnderTest<F>,
  samples: (threadId: string) => readonly Sample[],
): Promise<boolean> {
  const clock = new TestClock();
  const live = new LiveFrontend(frontend, [], clock);
  const [client, other] = [await live.client(), await live.client()];
  const threadId = await client.startThread();
  await other.attach(threadId);
  for (const { before, events } of samples(threadId)) {
    const sent = await sentBy(client, [...before, ...events, turnEnd(threadId)], clock);
    const sentAnyway = await sentBy(other, [...before, turnEnd(threadId)], clock);
    if (sent > sentAnyway) return true;
  }
  return false;
}

async function sentBy(
  { handler }: LiveClient,
  events: readonly ThreadEvent[],
  clock: TestClock,
): Promise<number> {
  const before = handler.sent;
  for (const event of events) {
    handler.sends(event);
    await clock.advance(1_000);
  }
  return handler.sent - before;
}

function turnEnd(threadId: string): ThreadEvent {
  return {
    type: "turn/completed",
    data: { threadId, turn: { id: "u", status: "completed", items: [] } },
    at: 1,
  };
}

function inThread(event: ThreadEvent, threadId: string): ThreadEvent {
  const { data } = event;
  const thread = "thread" in data ? { thread: { ...data.thread, id: threadId } } : {};
  // Only the id of the thread differs, which any event may have.
  return { ...event, data: { ...data, ...thread, threadId } } as ThreadEvent;
}

/** Throws if a client that is gone is sent anything, whatever was open or deferred for it. */
export async function checkClose<F extends CheckedFrontend>(frontend: FrontendUnderTest<F>): Promise<void> {
  const clock = new TestClock();
  const live = new LiveFrontend(frontend, APPROVED_COMMAND, clock);
  const [leaving, staying] = [await live.client(), await live.client()];
  const threadId = await leaving.startThread();
  await staying.attach(threadId);
  await leaving.prompt(threadId);
  await leaving.approval();
  const approval = await staying.approval();
  const item: ThreadItem = {
    type: "commandExecution",
    id: "c",
    command: "ls",
    cwd: "/",
    status: "inProgress",
  };
  const timers = clock.pending;
  leaving.handler.sends({ type: "item/started", data: { threadId, turnId: "u", item }, at: 1 });
  leaving.wire.end();
  await leaving.handler.closed;
  if (clock.pending > timers) throw new Error("a timer of a client that is gone still waits");
  const { sent } = leaving.handler;
  await staying.answer(approval, true);
  await staying.received("done");
  await clock.advance(60_000);
  const late = leaving.handler.sent - sent;
  if (late > 0) throw new Error(`a client that is gone is sent ${late} messages`);
}
