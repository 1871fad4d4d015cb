import type { CheckGroup } from "../check.ts";
import type { TestContext } from "../test-context.ts";
import { at, expectFit, Failed, listAt, NUMBER, shown } from "../wire/pattern.ts";
import type { Message } from "../wire/wire.ts";
import { anotherWire, CodexThread, codexWire, threadOf } from "./client.ts";
import { expectOrder } from "./order.ts";

const HELLO = "Say hello";

/** What a client learns of a thread that it did not begin itself, and of one that goes away. */
export const TAKING_UP: CheckGroup = {
  about: "Threads that are taken up or put away",
  checks: [
    {
      name: "whoever resumes a thread is told after the answer what it used, in which turn, and what fits in",
      run: async (trial) => {
        const { thread, turnId } = await used(trial);
        const other = await anotherWire(trial);
        await other.result("thread/resume", { threadId: thread.id });
        const told = await thread.told("thread/tokenUsage/updated", 0, other);
        const tokens = { totalTokens: NUMBER, inputTokens: NUMBER, outputTokens: NUMBER };
        const tokenUsage = { total: tokens, last: tokens, modelContextWindow: NUMBER };
        expectFit("thread/tokenUsage/updated", told, { turnId, tokenUsage });
        expectOrder(other.since(0).flatMap(wordOf), ["the thread", "thread/tokenUsage/updated"]);
      },
    },
    {
      name: "thread/resume gives a page of turns with its answer to a client that wants one",
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
      name: "the id of a thread may be written in every form of a UUID, and is told in the usual one",
      run: async (trial) => {
        const { thread } = await used(trial);
        const forms = [thread.id.toUpperCase(), thread.id.replaceAll("-", ""), `{${thread.id}}`];
        for (const threadId of [...forms, `urn:uuid:${thread.id}`]) {
          const { thread: read } = await thread.result("thread/read", { threadId });
          expectFit(`the thread ${shown(threadId)}`, read, { id: thread.id });
        }
      },
    },
    {
      name: "an archived thread is not loaded, and neither is one that was just taken out of the archive",
      run: async (trial) => {
        const { thread } = await used(trial);
        const after = thread.wire.mark;
        await thread.result("thread/archive");
        expectFit("the status", await thread.told("thread/status/changed", after), NOT_LOADED);
        const { data } = await thread.wire.result("thread/list", { cwd: trial.cwd, archived: true });
        const listed = listAt({ data }, "data").find((one) => at(one, "id") === thread.id);
        expectFit("the archived thread", listed, NOT_LOADED);
        const { thread: back } = await thread.result("thread/unarchive");
        expectFit("the thread", back, NOT_LOADED);
      },
    },
    {
      name: "a thread that is deleted is told to be gone after the answer, and never to rest",
      run: async (trial) => {
        const { thread } = await used(trial);
        const after = thread.wire.mark;
        await thread.result("thread/delete");
        await thread.told("thread/deleted", after);
        const words = thread.wire.since(after).flatMap(wordOf);
        expectOrder(words, ["thread/status/changed", "an answer", "thread/deleted"]);
        if (words.includes("thread/closed")) throw new Failed("thread/closed was told as well");
      },
    },
  ],
};

const NOT_LOADED = { status: { type: "notLoaded" } } as const;

async function used(trial: TestContext): Promise<{ readonly thread: CodexThread; readonly turnId: string }> {
  const thread = await CodexThread.start(trial, await codexWire(trial));
  return { thread, turnId: await thread.run(HELLO) };
}

/** What came, in a word: an answer, or what was told of a thread. */
function wordOf(message: Message): string[] {
  if (typeof message.method === "string") return threadOf(message) === undefined ? [] : [message.method];
  return [at(message, "result", "thread") === undefined ? "an answer" : "the thread"];
}
