import { setTimeout as delay } from "node:timers/promises";
import type { CheckGroup } from "../check.ts";
import {
  at,
  expectFit,
  Failed,
  formatValue,
  LIST,
  listAt,
  NON_EMPTY_STRING,
  NULLISH,
  NUMBER,
  OBJECT,
  STRING,
  stringAt,
  UUID,
} from "../wire/pattern.ts";
import { type CodexThread, codexWire, startThread } from "./client.ts";

const HELLO = "Say hello";

/** With threads used within the same second, Codex 0.166.0 may leave one out of its pages. */
const CURSOR_MS = 1_100;

/** Codex itself (0.166.0) now and then leaves a thread out of its pages in the moment after a turn in it. */
const PAGING_TRIES = 3;

/** The required fields of a thread. */
const THREAD = {
  id: UUID,
  sessionId: UUID,
  preview: STRING,
  ephemeral: false,
  modelProvider: NON_EMPTY_STRING,
  createdAt: NUMBER,
  updatedAt: NUMBER,
  status: OBJECT,
  cwd: NON_EMPTY_STRING,
  cliVersion: NON_EMPTY_STRING,
  turns: LIST,
} as const;

/** Everything that can be done with threads except running turns in them. */
export const THREADS: CheckGroup = {
  about: "Threads",
  checks: [
    {
      name: "thread/start answers with an idle thread, its model, folder, policies and sandbox",
      run: async (trial) => {
        const { started } = await startThread(trial);
        expectFit("the result of thread/start", started, {
          thread: { ...THREAD, status: { type: "idle" }, turns: [], preview: "", name: NULLISH },
          model: NON_EMPTY_STRING,
          modelProvider: NON_EMPTY_STRING,
          cwd: trial.cwd,
          approvalPolicy: "untrusted",
          sandbox: { type: "readOnly" },
        });
      },
    },
    {
      name: "thread/started follows the answer of thread/start, with the same thread",
      run: async (trial) => {
        const thread = await startThread(trial);
        const started = await thread.notification("thread/started");
        expectFit("thread/started", started, { thread: { ...THREAD, id: thread.id } });
        const came = thread.wire.since(0);
        const answer = came.findIndex((message) => at(message, "result", "thread", "id") === thread.id);
        const received = came.findIndex((message) => at(message, "params", "thread", "id") === thread.id);
        if (received < answer) throw new Failed("thread/started came before the answer");
      },
    },
    {
      name: "thread/read of a new thread shows it idle and without turns",
      run: async (trial) => {
        const thread = await startThread(trial);
        const { thread: read } = await thread.result("thread/read");
        expectFit("the thread", read, { ...THREAD, id: thread.id, status: { type: "idle" }, turns: [] });
      },
    },
    {
      name: "thread/read with includeTurns shows the turns with their items, oldest first",
      run: async (trial) => {
        const thread = await startThread(trial);
        const turns = [await thread.run(HELLO), await thread.run(HELLO)];
        const { thread: read } = await thread.result("thread/read", { includeTurns: true });
        expectFit("the thread", read, {
          preview: HELLO,
          turns: turns.map((id) => ({ id, status: "completed" })),
        });
        const types = listAt(read, "turns", 0, "items").map((item) => at(item, "type"));
        expectFit("the types of the first turn's items", types, ["userMessage", "agentMessage"]);
      },
    },
    {
      name: "thread/list shows the newest thread first, with the first prompt as preview",
      run: async (trial) => {
        const thread = await startThread(trial);
        await thread.run(HELLO);
        const list = await thread.wire.result("thread/list", { cwd: trial.cwd, limit: 1 });
        expectFit("thread/list", list, { data: [{ ...THREAD, id: thread.id, preview: HELLO, turns: [] }] });
      },
    },
    {
      name: "thread/list pages: the cursor of the first page leads to the second, with no thread twice",
      run: async (trial) => {
        const older = await startThread(trial);
        await delay(CURSOR_MS);
        const newer = await startThread(trial);
        const wire = await codexWire(trial);
        for (let left = PAGING_TRIES; ; left -= 1) {
          await older.run(HELLO);
          await delay(CURSOR_MS);
          await newer.run(HELLO);
          const first = await wire.result("thread/list", { cwd: trial.cwd, limit: 1 });
          const cursor = stringAt(first, "nextCursor");
          const second = await wire.result("thread/list", { cwd: trial.cwd, limit: 1, cursor });
          if (listAt(second, "data").length === 0 && left > 1) continue;
          const ids = [first, second].map((page) => stringAt(page, "data", 0, "id"));
          if (ids[0] === ids[1]) throw new Failed(`both pages show ${ids[0]}`);
          return;
        }
      },
    },
    {
      name: "thread/loaded/list names the threads that are open",
      run: async (trial) => {
        const thread = await startThread(trial);
        const ids = listAt(await thread.wire.result("thread/loaded/list", {}), "data");
        if (!ids.includes(thread.id)) throw new Failed(`${thread.id} is not among ${formatValue(ids)}`);
      },
    },
    {
      name: "thread/turns/list shows the turns, newest first",
      run: async (trial) => {
        const thread = await startThread(trial);
        const turns = [await thread.run(HELLO), await thread.run(HELLO)];
        const data = turns.reverse().map((id) => ({ id, status: "completed" }));
        expectFit("thread/turns/list", await thread.result("thread/turns/list"), { data });
      },
    },
    {
      name: "thread/items/list shows every item with its turn, oldest first",
      run: async (trial) => {
        const thread = await startThread(trial);
        const turnId = await thread.run(HELLO);
        const { data } = await thread.result("thread/items/list");
        expectFit("thread/items/list", data, [
          { turnId, item: { type: "userMessage" } },
          { turnId, item: { type: "agentMessage" } },
        ]);
      },
    },
    {
      name: "thread/name/set answers {}, sends thread/name/updated, and the name stays",
      run: async (trial) => {
        const thread = await startThread(trial);
        await thread.run(HELLO);
        const after = thread.wire.mark;
        await thread.result("thread/name/set", { name: "A name" });
        const received = await thread.notification("thread/name/updated", after);
        expectFit("thread/name/updated", received, { threadName: "A name" });
        const { thread: read } = await thread.result("thread/read");
        expectFit("the thread", read, { name: "A name" });
      },
    },
    {
      name: "an empty name is refused",
      run: async (trial) => {
        const thread = await startThread(trial);
        await thread.expectError("thread/name/set", { name: "" }, /^thread name must not be empty$/);
      },
    },
    {
      name: "thread/resume answers with the thread, its turns and its settings",
      run: async (trial) => {
        const thread = await startThread(trial);
        const turnId = await thread.run(HELLO);
        expectFit("thread/resume", await thread.result("thread/resume"), {
          thread: { ...THREAD, id: thread.id, turns: [{ id: turnId, status: "completed" }] },
          model: NON_EMPTY_STRING,
          modelProvider: NON_EMPTY_STRING,
          cwd: trial.cwd,
          approvalPolicy: "untrusted",
          sandbox: { type: "readOnly" },
        });
      },
    },
    {
      name: "thread/resume with excludeTurns leaves the turns out",
      run: async (trial) => {
        const thread = await startThread(trial);
        await thread.run(HELLO);
        const resumed = await thread.result("thread/resume", { excludeTurns: true });
        expectFit("thread/resume", resumed, { thread: { id: thread.id, turns: [] } });
      },
    },
    {
      name: "thread/fork makes another thread that knows where it came from and has the same turns",
      run: async (trial) => {
        const thread = await startThread(trial);
        await thread.run(HELLO);
        const fork = await thread.result("thread/fork");
        expectFit("thread/fork", fork, { thread: { ...THREAD, forkedFromId: thread.id } });
        if (stringAt(fork, "thread", "id") === thread.id)
          throw new Failed("the fork has the id of its origin");
        expectFit("the number of its turns", listAt(fork, "thread", "turns").length, 1);
      },
    },
    {
      name: "thread/archive sends thread/archived and moves the thread to the archived ones",
      run: async (trial) => {
        const thread = await startThread(trial);
        await thread.run(HELLO);
        const after = thread.wire.mark;
        await thread.result("thread/archive");
        await thread.notification("thread/archived", after);
        await expectListed(thread, { cwd: trial.cwd }, false);
        await expectListed(thread, { cwd: trial.cwd, archived: true }, true);
      },
    },
    {
      name: "thread/resume of an archived thread is refused with that reason",
      run: async (trial) => {
        const thread = await startThread(trial);
        await thread.run(HELLO);
        await thread.result("thread/archive");
        await thread.expectError("thread/resume", {}, new RegExp(`^session ${thread.id} is archived\\.`));
      },
    },
    {
      name: "thread/unarchive answers with the thread, sends thread/unarchived, and it is listed again",
      run: async (trial) => {
        const thread = await startThread(trial);
        await thread.run(HELLO);
        await thread.result("thread/archive");
        const after = thread.wire.mark;
        const answer = await thread.result("thread/unarchive");
        expectFit("thread/unarchive", answer, { thread: { ...THREAD, id: thread.id } });
        await thread.notification("thread/unarchived", after);
        await expectListed(thread, { cwd: trial.cwd }, true);
      },
    },
    {
      name: "thread/revert removes the named turn and all later ones, and sends thread/reverted",
      run: async (trial) => {
        const thread = await startThread(trial);
        const first = await thread.run(HELLO);
        const second = await thread.run(HELLO);
        const after = thread.wire.mark;
        await thread.result("thread/revert", { beforeTurnId: second });
        await thread.notification("thread/reverted", after);
        expectFit("thread/turns/list", await thread.result("thread/turns/list"), { data: [{ id: first }] });
      },
    },
    {
      name: "thread/unsubscribe answers unsubscribed",
      run: async (trial) => {
        const thread = await startThread(trial);
        expectFit("thread/unsubscribe", await thread.result("thread/unsubscribe"), {
          status: "unsubscribed",
        });
      },
    },
    {
      name: "thread/delete sends thread/deleted, and the thread no longer exists",
      run: async (trial) => {
        const thread = await startThread(trial);
        await thread.run(HELLO);
        const after = thread.wire.mark;
        await thread.result("thread/delete");
        await thread.notification("thread/deleted", after);
        await thread.expectError(
          "thread/read",
          {},
          /^thread not loaded: |^thread not found: |^no rollout found/,
        );
      },
    },
    {
      name: "thread/goal/get of a thread without a goal answers null",
      run: async (trial) => {
        const thread = await startThread(trial);
        expectFit("thread/goal/get", await thread.result("thread/goal/get"), { goal: null });
      },
    },
    {
      name: "an ephemeral thread works and is never listed",
      run: async (trial) => {
        const wire = await codexWire(trial);
        const started = await wire.result("thread/start", { cwd: trial.cwd, ephemeral: true });
        expectFit("thread/start", started, { thread: { ephemeral: true } });
        const { data } = await wire.result("thread/list", { cwd: trial.cwd });
        const ids = listAt({ data }, "data").map((thread) => at(thread, "id"));
        if (ids.includes(stringAt(started, "thread", "id"))) throw new Failed("it is listed");
      },
    },
  ],
};

async function expectListed(thread: CodexThread, params: object, requested: boolean): Promise<void> {
  const list = await thread.wire.result("thread/list", params);
  const listed = listAt(list, "data").some((one) => at(one, "id") === thread.id);
  if (listed !== requested)
    throw new Failed(`thread/list ${formatValue(params)} ${listed ? "shows" : "does not show"} it`);
}
