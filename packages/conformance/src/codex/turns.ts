import type { CheckGroup } from "../check.ts";
import {
  anyOf,
  at,
  expectFit,
  Failed,
  formatValue,
  listAt,
  NULLISH,
  NUMBER,
  OBJECT,
  stringAt,
  UUID,
} from "../wire/pattern.ts";
import { expectOrder, input, messageOrder, startThread } from "./client.ts";

const HELLO = "Say hello";

/** Checks from the start of a turn to its end. */
export const TURNS: CheckGroup = {
  about: "Turns",
  checks: [
    {
      name: "turn/start answers with a turn in progress before any notification of the turn",
      run: async (trial) => {
        const thread = await startThread(trial);
        const after = thread.wire.mark;
        const answer = await thread.wire.result("turn/start", { threadId: thread.id, input: input(HELLO) });
        const turn = { id: UUID, items: [], status: "inProgress", error: NULLISH };
        expectFit("the result of turn/start", answer, { turn });
        const turnId = stringAt(answer, "turn", "id");
        await thread.ended(turnId);
        const came = thread.wire.since(after);
        const place = came.findIndex((message) => at(message, "result", "turn", "id") === turnId);
        const early = came.slice(0, place).find(({ method }) => /^(?:turn|item)\//.test(String(method)));
        if (early !== undefined) throw new Failed(`before the answer came ${formatValue(early)}`);
      },
    },
    {
      name: "a turn sends in order: active, turn/started, the user's message, the agent's message, tokens, idle, turn/completed",
      run: async (trial) => {
        const thread = await startThread(trial);
        const after = thread.wire.mark;
        await thread.run(HELLO);
        expectOrder(messageOrder(thread.wire, thread.id, after), [
          "status active",
          "turn/started",
          "item/started userMessage",
          "item/completed userMessage",
          "item/started agentMessage",
          "item/completed agentMessage",
          "thread/tokenUsage/updated",
          "status idle",
          "turn/completed completed",
        ]);
      },
    },
    {
      name: "nothing of the turn comes after turn/completed",
      run: async (trial) => {
        const thread = await startThread(trial);
        const after = thread.wire.mark;
        await thread.run(HELLO);
        await thread.wire.result("model/list", {});
        const last = messageOrder(thread.wire, thread.id, after).at(-1);
        if (last !== "turn/completed completed") throw new Failed(`the last was ${String(last)}`);
      },
    },
    {
      name: "the user's message is echoed unchanged",
      run: async (trial) => {
        const thread = await startThread(trial);
        const after = thread.wire.mark;
        await thread.run(HELLO);
        const { item } = await thread.notification("item/completed", after);
        const content = [{ type: "text", text: HELLO }];
        expectFit("the first item", item, { type: "userMessage", id: OBJECT_ID, content });
      },
    },
    {
      name: "the pieces of the agent's message make up the text of the completed item",
      run: async (trial) => {
        const thread = await startThread(trial);
        const after = thread.wire.mark;
        await thread.run(HELLO);
        const came = thread.wire.since(after);
        const end = came.find(
          ({ method, params }) =>
            method === "item/completed" && at(params, "item", "type") === "agentMessage",
        );
        const id = stringAt(end, "params", "item", "id");
        const pieces = came.filter(
          ({ method, params }) => method === "item/agentMessage/delta" && at(params, "itemId") === id,
        );
        const text = pieces.map(({ params }) => stringAt(params, "delta")).join("");
        const whole = stringAt(end, "params", "item", "text");
        if (text !== whole)
          throw new Failed(`the pieces are ${formatValue(text)}, the text is ${formatValue(whole)}`);
      },
    },
    {
      name: "turn/completed carries times, no error, and at least the agent's last message",
      run: async (trial) => {
        const thread = await startThread(trial);
        const turn = await thread.ended(await thread.begin(HELLO));
        expectFit("the turn of turn/completed", turn, {
          status: "completed",
          error: NULLISH,
          startedAt: NUMBER,
          completedAt: NUMBER,
          durationMs: NUMBER,
        });
        const types = listAt(turn, "items").map((item) => at(item, "type"));
        if (!types.includes("agentMessage")) throw new Failed(`its items are ${formatValue(types)}`);
      },
    },
    {
      name: "the tokens of a turn are reported in total and for the last call",
      run: async (trial) => {
        const thread = await startThread(trial);
        const after = thread.wire.mark;
        await thread.run(HELLO);
        const counts = {
          totalTokens: NUMBER,
          inputTokens: NUMBER,
          cachedInputTokens: NUMBER,
          outputTokens: NUMBER,
          reasoningOutputTokens: NUMBER,
        };
        const received = await thread.notification("thread/tokenUsage/updated", after);
        expectFit("the token usage", received, { turnId: UUID, tokenUsage: { total: counts, last: counts } });
      },
    },
    {
      name: "a turn without any input runs and ends",
      run: async (trial) => {
        const thread = await startThread(trial);
        const answer = await thread.wire.result("turn/start", { threadId: thread.id, input: [] });
        const turn = await thread.ended(stringAt(answer, "turn", "id"));
        expectFit("the turn", turn, { status: anyOf("completed", "failed") });
      },
    },
    {
      name: "turn/interrupt answers {}, and the turn ends as interrupted with the thread idle",
      run: async (trial) => {
        const thread = await startThread(trial);
        const { turnId } = await thread.provoke(`run \`touch ${trial.name()}\``);
        const after = thread.wire.mark;
        const answer = await thread.wire.result("turn/interrupt", { threadId: thread.id, turnId });
        expectFit("the answer of turn/interrupt", Object.keys(answer), []);
        expectFit("the turn", await thread.ended(turnId), { status: "interrupted", error: NULLISH });
        expectOrder(messageOrder(thread.wire, thread.id, after), [
          "status idle",
          "turn/completed interrupted",
        ]);
      },
    },
    {
      name: "turn/interrupt of another turn than the running one is refused and names both",
      run: async (trial) => {
        const thread = await startThread(trial);
        const { turnId } = await thread.provoke(`run \`touch ${trial.name()}\``);
        const other = "00000000-0000-4000-8000-000000000000";
        const message = new RegExp(`^expected active turn id ${other} but found ${turnId}$`);
        await thread.expectError("turn/interrupt", { turnId: other }, message);
        await thread.stop(turnId);
      },
    },
    {
      name: "turn/start while a turn runs joins that turn and answers with its id",
      run: async (trial) => {
        const thread = await startThread(trial);
        const { turnId } = await thread.provoke(`run \`touch ${trial.name()}\``);
        const joined = await thread.begin(HELLO);
        await thread.stop(turnId);
        if (joined !== turnId) throw new Failed(`the running turn is ${turnId}, the answer names ${joined}`);
      },
    },
    {
      name: "turn/steer with the id of the running turn answers with that id",
      run: async (trial) => {
        const thread = await startThread(trial);
        const { turnId } = await thread.provoke(`run \`touch ${trial.name()}\``);
        const answer = await thread.result("turn/steer", { expectedTurnId: turnId, input: input(HELLO) });
        await thread.stop(turnId);
        expectFit("the answer of turn/steer", answer, { turnId });
      },
    },
    {
      name: "turn/steer with the id of another turn is refused and names both",
      run: async (trial) => {
        const thread = await startThread(trial);
        const { turnId } = await thread.provoke(`run \`touch ${trial.name()}\``);
        const message = new RegExp(`^expected active turn id \`nope\` but found \`${turnId}\`$`);
        await thread.expectError("turn/steer", { expectedTurnId: "nope", input: input(HELLO) }, message);
        await thread.stop(turnId);
      },
    },
    {
      name: "turn/steer without input is refused with “input must not be empty”",
      run: async (trial) => {
        const thread = await startThread(trial);
        const { turnId } = await thread.provoke(`run \`touch ${trial.name()}\``);
        await thread.expectError(
          "turn/steer",
          { expectedTurnId: turnId, input: [] },
          /^input must not be empty$/,
        );
        await thread.stop(turnId);
      },
    },
    {
      name: "turn/steer while no turn runs is refused with “no active turn to steer”",
      run: async (trial) => {
        const thread = await startThread(trial);
        const turnId = await thread.run(HELLO);
        const params = { expectedTurnId: turnId, input: input(HELLO) };
        await thread.expectError("turn/steer", params, /^no active turn to steer$/);
      },
    },
    {
      name: "thread/compact/start answers {}, and the compaction is a turn with a contextCompaction item",
      run: async (trial) => {
        const thread = await startThread(trial);
        await thread.run(HELLO);
        const after = thread.wire.mark;
        await thread.result("thread/compact/start");
        const { turn } = await thread.notification("turn/completed", after);
        expectFit("the turn", turn, { id: UUID });
        const came = messageOrder(thread.wire, thread.id, after);
        expectOrder(came, ["status active", "turn/started", "item/started contextCompaction", "status idle"]);
      },
    },
    {
      name: "review/start answers with a turn, which enters and leaves the review mode",
      run: async (trial) => {
        const thread = await startThread(trial);
        const after = thread.wire.mark;
        const answer = await thread.result("review/start", {
          target: { type: "custom", instructions: HELLO },
        });
        expectFit("the answer of review/start", answer, { turn: OBJECT, reviewThreadId: thread.id });
        await thread.endedWithout(stringAt(answer, "turn", "id"));
        const came = messageOrder(thread.wire, thread.id, after);
        expectOrder(came, ["item/completed enteredReviewMode", "item/completed exitedReviewMode"]);
      },
    },
  ],
};

const OBJECT_ID = anyOf(UUID, /^\S+$/);
