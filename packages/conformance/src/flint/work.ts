import { access } from "node:fs/promises";
import { join } from "node:path";
import type { CheckGroup } from "../check.ts";
import {
  at,
  expectFit,
  Failed,
  formatValue,
  listAt,
  NON_EMPTY_ARRAY,
  NUMBER,
  STRING,
  stringAt,
  UUID,
} from "../wire/pattern.ts";
import { FlintThread, flintWire } from "./client.ts";

const HELLO = "Say hello";

/** Threads, turns and approvals from beginning to end. */
export const WORK: CheckGroup = {
  about: "Threads, turns and approvals",
  checks: [
    {
      name: "model/list names models, and config/list options",
      run: async (trial) => {
        const wire = await flintWire(trial);
        expectFit("model/list", await wire.result("model/list", {}), { data: NON_EMPTY_ARRAY });
        expectFit("config/list", await wire.result("config/list", {}), {});
      },
    },
    {
      name: "thread/start answers with the thread, and thread/started follows",
      run: async (trial) => {
        const thread = await FlintThread.start(trial);
        const isStart = (message: object): boolean => at(message, "params", "thread", "id") === thread.id;
        await thread.wire.waitFor(isStart, { what: "thread/started" });
        expectFit("the thread's id", thread.id, UUID);
      },
    },
    {
      name: "a turn is answered, then started, then its items come, and then turn/completed, which carries them",
      run: async (trial) => {
        const thread = await FlintThread.start(trial);
        const after = thread.wire.mark;
        const turnId = await thread.begin(HELLO);
        const turn = await thread.ended(turnId);
        expectFit("the turn", turn, { status: "completed" });
        const types = listAt(turn, "items").map((item) => at(item, "type"));
        expectFit("the types of its items", types.slice(0, 1), ["userMessage"]);
        const received = thread.methodsSince(after);
        const order = ["turn/started", "item/started", "item/completed", "turn/completed"];
        const positions = order.map((method) => received.indexOf(method));
        const sorted = positions.every(
          (place, index) => place >= 0 && (index === 0 || place > (positions[index - 1] ?? -1)),
        );
        if (!sorted || received.lastIndexOf("turn/completed") < received.lastIndexOf("item/completed"))
          throw new Failed(`the order was ${received.join(", ")}`);
      },
    },
    {
      name: "pieces of text make up the completed message, each at its offset",
      run: async (trial) => {
        const thread = await FlintThread.start(trial);
        const after = thread.wire.mark;
        await thread.run(HELLO);
        let text = "";
        for (const { method, params } of thread.wire.since(after)) {
          if (method !== "item/agentMessage/delta") continue;
          if (at(params, "offset") !== text.length)
            throw new Failed(`a piece begins at ${formatValue(at(params, "offset"))}`);
          text += stringAt(params, "delta");
        }
        const end = thread.wire
          .since(after)
          .find(
            ({ method, params }) =>
              method === "item/completed" && at(params, "item", "type") === "agentMessage",
          );
        expectFit("the message", at(end, "params", "item", "text"), text);
      },
    },
    {
      name: "a second turn while one runs is refused as turnInProgress, which names the running one",
      run: async (trial) => {
        const thread = await FlintThread.start(trial);
        const { turnId } = await thread.provoke();
        const params = { threadId: thread.id, input: [{ type: "text", text: HELLO }] };
        const data = { reason: "turnInProgress", activeTurnId: turnId };
        await thread.wire.expectError("turn/start", params, { code: -32002, data });
        await thread.stop(turnId);
      },
    },
    {
      name: "input with delivery queue waits, and runs after the current turn",
      run: async (trial) => {
        const thread = await FlintThread.start(trial);
        const { turnId, request } = await thread.provoke();
        const input = [{ type: "text", text: HELLO }];
        const queued = await thread.result("turn/start", { input, delivery: "queue" });
        expectFit("the answer", queued, { queuedInput: { id: STRING } });
        const after = thread.wire.mark;
        thread.wire.answer(request.id, { decision: "decline" });
        await thread.ended(turnId);
        await thread.wire.waitFor(
          ({ method, params }) => method === "turn/completed" && at(params, "turn", "id") !== turnId,
          { after, what: "the end of the queued turn" },
        );
      },
    },
    {
      name: "turn/interrupt ends the turn as interrupted",
      run: async (trial) => {
        const thread = await FlintThread.start(trial);
        const { turnId } = await thread.provoke();
        await thread.wire.result("turn/interrupt", { threadId: thread.id });
        expectFit("the turn", await thread.ended(turnId), { status: "interrupted" });
      },
    },
    {
      name: "accept: the exact command was asked about, approval/resolved comes, and it ran",
      run: async (trial) => {
        const thread = await FlintThread.start(trial);
        const { turnId, request, name } = await thread.provoke();
        const params = { threadId: thread.id, turnId, command: `touch ${name}`, cwd: trial.cwd };
        expectFit("the request", request, { method: "item/commandExecution/requestApproval", params });
        const after = thread.wire.mark;
        thread.wire.answer(request.id, { decision: "accept" });
        expectFit("the turn", await thread.ended(turnId), { status: "completed" });
        if (!thread.methodsSince(after).includes("approval/resolved"))
          throw new Failed("approval/resolved did not arrive");
        await access(join(trial.cwd, name));
      },
    },
    {
      name: "decline: it did not run, and the turn continues",
      run: async (trial) => {
        const thread = await FlintThread.start(trial);
        const { turnId, request, name } = await thread.provoke();
        thread.wire.answer(request.id, { decision: "decline" });
        expectFit("the turn", await thread.ended(turnId), { status: "completed" });
        await trial.expectAbsent(name);
      },
    },
    {
      name: "an answer that cannot be parsed allows nothing: the command did not run",
      run: async (trial) => {
        const thread = await FlintThread.start(trial);
        const { turnId, request, name } = await thread.provoke();
        thread.wire.answer(request.id, { decision: "certainly" });
        await thread.ended(turnId);
        await trial.expectAbsent(name);
      },
    },
    {
      name: "thread/read shows the turns, thread/list the thread, and a name stays",
      run: async (trial) => {
        const thread = await FlintThread.start(trial);
        const turnId = await thread.run(HELLO);
        await thread.result("thread/name/set", { name: "A name" });
        const read = await thread.result("thread/read", { includeTurns: true });
        expectFit("thread/read", read, {
          thread: { id: thread.id, name: "A name" },
          turns: [{ id: turnId }],
        });
        const list = await thread.wire.result("thread/list", {});
        const ids = listAt(list, "data").map((one) => at(one, "id"));
        if (!ids.includes(thread.id)) throw new Failed("thread/list does not show it");
      },
    },
    {
      name: "thread/fork makes another thread with the same turns",
      run: async (trial) => {
        const thread = await FlintThread.start(trial);
        await thread.run(HELLO);
        const forked = stringAt(await thread.result("thread/fork"), "thread", "id");
        if (forked === thread.id) throw new Failed("the fork has the id of its origin");
        const read = await thread.wire.result("thread/read", { threadId: forked, includeTurns: true });
        expectFit("the number of its turns", listAt(read, "turns").length, 1);
      },
    },
    {
      name: "thread/archive hides a thread from the list, thread/unarchive shows it, and thread/delete removes it",
      run: async (trial) => {
        const thread = await FlintThread.start(trial);
        await thread.run(HELLO);
        await thread.result("thread/archive");
        await expectListed(thread, false);
        await thread.result("thread/unarchive");
        await expectListed(thread, true);
        await thread.result("thread/delete");
        await thread.wire.expectError(
          "thread/read",
          { threadId: thread.id },
          { data: { reason: "threadNotFound" } },
        );
      },
    },
    {
      name: "thread/events/list numbers the events without a gap",
      run: async (trial) => {
        const thread = await FlintThread.start(trial);
        await thread.run(HELLO);
        const numbers = listAt(await thread.result("thread/events/list"), "events").map((event) =>
          at(event, "seq"),
        );
        expectFit("the first number", numbers[0], NUMBER);
        const gap = numbers.findIndex((seq, place) => place > 0 && seq !== Number(numbers[place - 1]) + 1);
        if (gap !== -1) throw new Failed(`the numbers are ${formatValue(numbers)}`);
      },
    },
  ],
};

async function expectListed(thread: FlintThread, requested: boolean): Promise<void> {
  const list = await thread.wire.result("thread/list", {});
  const listed = listAt(list, "data").some((one) => at(one, "id") === thread.id);
  if (listed !== requested) throw new Failed(`thread/list ${listed ? "shows" : "does not show"} the thread`);
}
