import type { CheckGroup } from "../check.ts";
import type { TestContext } from "../test-context.ts";
import { at, expectFit, Failed, formatValue, listAt, NUMBER } from "../wire/pattern.ts";
import type { Message, Wire } from "../wire/wire.ts";
import { CodexThread, codexWire, expectOrder, openSecondWire, threadOf } from "./client.ts";

/** Several clients on one server, and on one thread. */
export const CONNECTIONS: CheckGroup = {
  about: "Several connections",
  checks: [
    {
      name: "thread/started and thread/status/changed reach every connection",
      run: async (trial) => {
        const { thread, other } = await twoClients(trial);
        await thread.run("Say hello");
        await thread.notification("thread/started", 0, other);
        await thread.notification("thread/status/changed", 0, other);
      },
    },
    {
      name: "only connections that started or resumed a thread receive its turns and items",
      run: async (trial) => {
        const { thread, other } = await twoClients(trial);
        await thread.run("Say hello");
        await other.result("model/list", {});
        const seen = other.since(0).find((message) => isWork(message) && threadOf(message) === thread.id);
        if (seen !== undefined) throw new Failed(`the other connection received ${formatValue(seen)}`);
      },
    },
    {
      name: "an approval is asked on every connection of the thread, with the same id",
      run: async (trial) => {
        const { thread, other } = await twoSubscribers(trial);
        const asked = await thread.provoke(`run \`touch ${trial.name()}\``);
        const same = await other.waitForMethod("item/commandExecution/requestApproval");
        await thread.stop(asked.turnId);
        if (same.id !== asked.id)
          throw new Failed(`one was asked as ${formatValue(asked.id)}, the other as ${formatValue(same.id)}`);
      },
    },
    {
      name: "the first answer wins, and the other connection receives serverRequest/resolved",
      run: async (trial) => {
        const { thread, other } = await twoSubscribers(trial);
        const asked = await thread.provoke(`run \`touch ${trial.name()}\``);
        await other.waitForMethod("item/commandExecution/requestApproval");
        other.answer(asked.id, { decision: "decline" });
        const { requestId } = await thread.notification("serverRequest/resolved");
        thread.wire.answer(asked.id, { decision: "accept" });
        expectFit("the turn", await thread.ended(asked.turnId), { status: "completed" });
        if (requestId !== asked.id) throw new Failed(`resolved was ${formatValue(requestId)}`);
        const item = completedCommand(thread.wire);
        expectFit("the command", item, { status: "declined" });
        await thread.notification("serverRequest/resolved", 0, other);
      },
    },
    {
      name: "a client that resumes the thread while it waits is asked again, with the same id",
      run: async (trial) => {
        const { thread, other } = await twoClients(trial);
        const asked = await thread.provoke(`run \`touch ${trial.name()}\``);
        await other.result("thread/resume", { threadId: thread.id });
        const again = await other.waitForMethod("item/commandExecution/requestApproval");
        await thread.stop(asked.turnId);
        if (again.id !== asked.id)
          throw new Failed(`asked as ${formatValue(asked.id)}, asked again as ${formatValue(again.id)}`);
      },
    },
    {
      name: "a turn continues after the connection that started it closes",
      run: async (trial) => {
        const own = await openSecondWire(trial);
        const thread = await CodexThread.start(trial, own);
        const asked = await thread.provoke(`run \`touch ${trial.name()}\``);
        await own.close();
        const other = await openSecondWire(trial);
        await other.result("thread/resume", { threadId: thread.id });
        const again = await other.waitForMethod("item/commandExecution/requestApproval");
        other.answer(again.id, { decision: "decline" });
        expectFit("the turn", await thread.ended(asked.turnId, other), { status: "completed" });
      },
    },
    {
      name: "a client that unsubscribes receives no more items of the thread",
      run: async (trial) => {
        const { thread, other } = await twoSubscribers(trial);
        await other.result("thread/unsubscribe", { threadId: thread.id });
        const after = other.mark;
        await thread.run("Say hello");
        await other.result("model/list", {});
        const seen = other.since(after).find((message) => isWork(message) && threadOf(message) === thread.id);
        if (seen !== undefined) throw new Failed(`it received ${formatValue(seen)}`);
      },
    },
  ],
};

async function twoClients(
  trial: TestContext,
): Promise<{ readonly thread: CodexThread; readonly other: Wire }> {
  const other = await openSecondWire(trial);
  const thread = await CodexThread.start(trial, await codexWire(trial));
  return { thread, other };
}

/** Two connections that are subscribed to the same thread. It has a turn, because a thread without one cannot be resumed. */
async function twoSubscribers(
  trial: TestContext,
): Promise<{ readonly thread: CodexThread; readonly other: Wire }> {
  const both = await twoClients(trial);
  await both.thread.run("Say hello");
  await both.other.result("thread/resume", { threadId: both.thread.id });
  return both;
}

function isWork({ method }: Message): boolean {
  return /^(?:turn|item)\//.test(String(method));
}

function completedCommand(wire: Wire): unknown {
  const end = wire
    .since(0)
    .findLast(
      ({ method, params }) =>
        method === "item/completed" && at(params, "item", "type") === "commandExecution",
    );
  return at(end, "params", "item");
}

const HELLO = "Say hello";

/** Checks of what a client learns of a thread that it did not begin itself, and of one that is archived. */
export const RESUMING: CheckGroup = {
  about: "Threads that are resumed or archived",
  checks: [
    {
      name: "a client that resumes a thread receives its token usage, with the turn and the context window, after the answer",
      run: async (trial) => {
        const { thread, turnId } = await used(trial);
        const other = await openSecondWire(trial);
        await other.result("thread/resume", { threadId: thread.id });
        const received = await thread.notification("thread/tokenUsage/updated", 0, other);
        const tokens = { totalTokens: NUMBER, inputTokens: NUMBER, outputTokens: NUMBER };
        const tokenUsage = { total: tokens, last: tokens, modelContextWindow: NUMBER };
        expectFit("thread/tokenUsage/updated", received, { turnId, tokenUsage });
        expectOrder(other.since(0).flatMap(wordOf), ["the thread", "thread/tokenUsage/updated"]);
      },
    },
    {
      name: "thread/resume gives a page of turns with its answer to a client that asks for one",
      run: async (trial) => {
        const { thread, turnId } = await used(trial);
        const later = await thread.run(HELLO);
        const page = { excludeTurns: true, initialTurnsPage: { limit: 1 } };
        const { thread: resumed, initialTurnsPage } = await thread.result("thread/resume", page);
        expectFit("the thread", resumed, { turns: [] });
        expectFit("the page", initialTurnsPage, { data: [{ id: later, itemsView: "summary" }] });
        const cursor = at(initialTurnsPage, "nextCursor");
        const { data } = await thread.result("thread/turns/list", { cursor });
        expectFit("the turns of the next page", data, [{ id: turnId }]);
      },
    },
    {
      name: "the id of a thread may be sent in every form of a UUID, and is sent back in the usual one",
      run: async (trial) => {
        const { thread } = await used(trial);
        const forms = [thread.id.toUpperCase(), thread.id.replaceAll("-", ""), `{${thread.id}}`];
        for (const threadId of [...forms, `urn:uuid:${thread.id}`]) {
          const { thread: read } = await thread.result("thread/read", { threadId });
          expectFit(`the thread ${formatValue(threadId)}`, read, { id: thread.id });
        }
      },
    },
    {
      name: "threads that are archived, or were just unarchived, are not loaded",
      run: async (trial) => {
        const { thread } = await used(trial);
        const after = thread.wire.mark;
        await thread.result("thread/archive");
        expectFit("the status", await thread.notification("thread/status/changed", after), NOT_LOADED);
        const { data } = await thread.wire.result("thread/list", { cwd: trial.cwd, archived: true });
        const listed = listAt({ data }, "data").find((one) => at(one, "id") === thread.id);
        expectFit("the archived thread", listed, NOT_LOADED);
        const { thread: back } = await thread.result("thread/unarchive");
        expectFit("the thread", back, NOT_LOADED);
      },
    },
    {
      name: "deleting a thread sends thread/deleted after the answer, and never thread/closed",
      run: async (trial) => {
        const { thread } = await used(trial);
        const after = thread.wire.mark;
        await thread.result("thread/delete");
        await thread.notification("thread/deleted", after);
        const words = thread.wire.since(after).flatMap(wordOf);
        expectOrder(words, ["thread/status/changed", "an answer", "thread/deleted"]);
        if (words.includes("thread/closed")) throw new Failed("thread/closed was sent as well");
      },
    },
  ],
};

const NOT_LOADED = { status: { type: "notLoaded" } } as const;

async function used(trial: TestContext): Promise<{ readonly thread: CodexThread; readonly turnId: string }> {
  const thread = await CodexThread.start(trial, await codexWire(trial));
  return { thread, turnId: await thread.run(HELLO) };
}

/** A received message in one word: an answer, or a notification of a thread. */
function wordOf(message: Message): string[] {
  if (typeof message.method === "string") return threadOf(message) === undefined ? [] : [message.method];
  return [at(message, "result", "thread") === undefined ? "an answer" : "the thread"];
}
