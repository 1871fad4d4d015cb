import { access } from "node:fs/promises";
import { join } from "node:path";
import type { CheckGroup } from "../check.ts";
import type { TestContext } from "../test-context.ts";
import { anyOf, at, expectFit, Failed, formatValue, LIST, NUMBER, STRING, UUID } from "../wire/pattern.ts";
import { CodexThread, codexWire, expectOrder, messageOrder, type PendingApproval } from "./client.ts";

/** Checks that approvals are requested, and that the answers hold. */
export const APPROVALS: CheckGroup = {
  about: "Approvals",
  checks: [
    {
      name: "a command that needs approval is asked about, with the command, its folder and what may be answered",
      run: async (trial) => {
        const { thread, asked, name } = await askedForCommand(trial);
        await thread.stop(asked.turnId);
        expectFit("the request", asked.request, {
          id: anyOf(NUMBER, STRING),
          params: {
            threadId: thread.id,
            turnId: asked.turnId,
            itemId: STRING,
            command: new RegExp(`touch ${name}`),
            cwd: STRING,
            commandActions: LIST,
            availableDecisions: LIST,
          },
        });
      },
    },
    {
      name: "the thread waits on approval, then the item starts, then the request comes",
      run: async (trial) => {
        const { thread, asked, after } = await askedForCommand(trial);
        const came = messageOrder(thread.wire, thread.id, after);
        await thread.stop(asked.turnId);
        expectOrder(came, [
          "turn/started",
          "status active waitingOnApproval",
          "item/started commandExecution",
          "item/commandExecution/requestApproval",
        ]);
      },
    },
    {
      name: "thread/read of a thread that waits has waitingOnApproval",
      run: async (trial) => {
        const { thread, asked } = await askedForCommand(trial);
        const { thread: read } = await thread.result("thread/read");
        await thread.stop(asked.turnId);
        const status = { type: "active", activeFlags: ["waitingOnApproval"] };
        expectFit("the thread", read, { status });
      },
    },
    {
      name: "accept: the request is resolved, the thread is active, the item completes, the turn continues",
      run: async (trial) => {
        const { thread, asked } = await askedForCommand(trial);
        const after = thread.wire.mark;
        thread.wire.answer(asked.id, { decision: "accept" });
        expectFit("the turn", await thread.ended(asked.turnId), { status: "completed" });
        expectOrder(messageOrder(thread.wire, thread.id, after), [
          "serverRequest/resolved",
          "status active",
          "item/completed commandExecution",
          "turn/completed completed",
        ]);
        const { requestId } = await thread.notification("serverRequest/resolved", after);
        if (requestId !== asked.id) throw new Failed(`resolved was ${formatValue(requestId)}`);
      },
    },
    {
      name: "decline: the command is declined and did not run, and the turn continues",
      run: async (trial) => {
        const { thread, asked, name } = await askedForCommand(trial);
        const after = thread.wire.mark;
        thread.wire.answer(asked.id, { decision: "decline" });
        expectFit("the turn", await thread.ended(asked.turnId), { status: "completed" });
        expectFit("the item", itemOf(thread, after), { type: "commandExecution", status: "declined" });
        await trial.expectAbsent(name);
      },
    },
    {
      name: "cancel: the command is declined and did not run, and the turn is interrupted",
      run: async (trial) => {
        const { thread, asked, name } = await askedForCommand(trial);
        const after = thread.wire.mark;
        thread.wire.answer(asked.id, { decision: "cancel" });
        expectFit("the turn", await thread.ended(asked.turnId), { status: "interrupted" });
        expectFit("the item", itemOf(thread, after), { type: "commandExecution", status: "declined" });
        await trial.expectAbsent(name);
      },
    },
    {
      name: "an unknown decision allows nothing: the command did not run",
      run: async (trial) => {
        const { thread, asked, name } = await askedForCommand(trial);
        const after = thread.wire.mark;
        thread.wire.answer(asked.id, { decision: "certainly" });
        await thread.ended(asked.turnId);
        expectFit("the item", itemOf(thread, after), { status: anyOf("failed", "declined") });
        await trial.expectAbsent(name);
      },
    },
    {
      name: "an answer without a decision allows nothing: the command did not run",
      run: async (trial) => {
        const { thread, asked, name } = await askedForCommand(trial);
        const after = thread.wire.mark;
        thread.wire.answer(asked.id, {});
        await thread.ended(asked.turnId);
        expectFit("the item", itemOf(thread, after), { status: anyOf("failed", "declined") });
        await trial.expectAbsent(name);
      },
    },
    {
      name: "an open request is resolved when its turn is interrupted",
      run: async (trial) => {
        const { thread, asked } = await askedForCommand(trial);
        const after = thread.wire.mark;
        await thread.stop(asked.turnId);
        const { requestId } = await thread.notification("serverRequest/resolved", after);
        if (requestId !== asked.id)
          throw new Failed(`resolved was ${formatValue(requestId)}, asked ${formatValue(asked.id)}`);
      },
    },
    {
      name: "a change of files is asked about after its item started, and accept makes it",
      run: async (trial) => {
        const thread = await CodexThread.start(trial, await codexWire(trial), "workspace-write");
        const name = `${trial.name()}.txt`;
        const after = thread.wire.mark;
        const asked = await thread.provoke(`create ${name} that says hi`, "item/fileChange/requestApproval");
        expectFit("the request", asked.request, {
          params: { threadId: thread.id, turnId: UUID, itemId: STRING },
        });
        thread.wire.answer(asked.id, { decision: "accept" });
        await thread.ended(asked.turnId);
        const came = messageOrder(thread.wire, thread.id, after);
        expectOrder(came, [
          "item/started fileChange",
          "status active waitingOnApproval",
          "item/fileChange/requestApproval",
          "serverRequest/resolved",
          "item/completed fileChange",
        ]);
        await access(join(trial.cwd, name));
      },
    },
  ],
};

async function askedForCommand(trial: TestContext) {
  const thread = await CodexThread.start(trial, await codexWire(trial));
  const name = trial.name();
  const after = thread.wire.mark;
  const asked: PendingApproval = await thread.provoke(`run \`touch ${name}\``);
  return { thread, asked, name, after };
}

/** The command of the turn as it was completed. */
function itemOf(thread: CodexThread, after: number): unknown {
  const end = thread.wire
    .since(after)
    .find(
      ({ method, params }) =>
        method === "item/completed" && at(params, "item", "type") === "commandExecution",
    );
  return at(end, "params", "item");
}
