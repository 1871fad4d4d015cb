import { access } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "@flint/protocol";
import type { CheckGroup } from "../check.ts";
import {
  anyOf,
  at,
  expectFit,
  Failed,
  formatValue,
  listAt,
  NON_EMPTY_ARRAY,
  NON_EMPTY_STRING,
  NULLISH,
  STRING,
} from "../wire/pattern.ts";
import { AcpSession, acpWire, sessionOf } from "./client.ts";

const HELLO = "Say hello";
const REASONS = anyOf("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled");
const KINDS = anyOf("allow_once", "allow_always", "reject_once", "reject_always");

/** Checks of the messages between a prompt and its answer. */
export const PROMPTS: CheckGroup = {
  about: "Prompts",
  checks: [
    {
      name: "a prompt is answered with end_turn, after text in agent_message_chunk updates",
      run: async (trial) => {
        const session = await sessionOf(trial);
        const after = session.wire.mark;
        expectFit("the answer", await session.run(HELLO), { stopReason: "end_turn" });
        const chunks = session
          .updates(after)
          .filter((update) => update.sessionUpdate === "agent_message_chunk");
        const text = chunks.map((update) => at(update, "content", "text")).join("");
        if (text === "") throw new Failed("no text came before the answer");
      },
    },
    {
      name: "nothing of the prompt comes after its answer",
      run: async (trial) => {
        const session = await sessionOf(trial);
        const id = session.begin(HELLO);
        const answer = await session.wire.answerTo(id);
        await session.wire.ask("no/such/method", {});
        const early = session.updatesBefore(answer, 0).length;
        const late = session
          .updates(0)
          .slice(early)
          .find((update) => /chunk|tool_call/.test(String(update.sessionUpdate)));
        if (late !== undefined) throw new Failed(`after it came ${formatValue(late)}`);
      },
    },
    {
      name: "a tool is announced by tool_call with a title, and the permission is about the same call",
      run: async (trial) => {
        const session = await sessionOf(trial);
        const asked = await session.provoke();
        const updates = session.updates(asked.after);
        await session.cancel(asked);
        const call = updates.find((update) => update.sessionUpdate === "tool_call");
        const id = at(asked.request, "params", "toolCall", "toolCallId");
        expectFit("the request for permission", asked.request, {
          params: {
            sessionId: session.id,
            toolCall: { toolCallId: NON_EMPTY_STRING },
            options: NON_EMPTY_ARRAY,
          },
        });
        // Some agents announce the call with the request itself.
        if (call !== undefined) expectFit("the tool_call", call, { toolCallId: String(id), title: STRING });
      },
    },
    {
      name: "every option of a permission has an id, a name and a kind",
      run: async (trial) => {
        const session = await sessionOf(trial);
        const asked = await session.provoke();
        await session.cancel(asked);
        for (const option of listAt(asked.request, "params", "options")) {
          expectFit("an option", option, { optionId: NON_EMPTY_STRING, name: NON_EMPTY_STRING, kind: KINDS });
        }
      },
    },
    {
      name: "allow_once: the tool call completes, it was done, and the prompt ends with end_turn",
      run: async (trial) => {
        const session = await sessionOf(trial);
        const asked = await session.provoke();
        session.answer(asked, "allow_once");
        expectFit("the answer", await session.ended(asked.prompt), { stopReason: "end_turn" });
        expectFit("the last status of the tool call", lastStatus(session, asked.after), "completed");
        await access(join(trial.cwd, asked.name));
      },
    },
    {
      name: "reject_once: it was not done, and the prompt ends with end_turn, cancelled or refusal",
      run: async (trial) => {
        const session = await sessionOf(trial);
        const asked = await session.provoke();
        session.answer(asked, "reject_once");
        const { stopReason } = await session.ended(asked.prompt);
        expectFit("stopReason", stopReason, anyOf("end_turn", "cancelled", "refusal"));
        await trial.expectAbsent(asked.name);
      },
    },
    {
      name: "an unknown option allows nothing: the tool did not run",
      run: async (trial) => {
        const session = await sessionOf(trial);
        const asked = await session.provoke();
        session.wire.answer(asked.request.id, { outcome: { outcome: "selected", optionId: "certainly" } });
        await session.wire.answerTo(asked.prompt);
        await trial.expectAbsent(asked.name);
      },
    },
    {
      name: "session/cancel ends the prompt with the stop reason cancelled, and nothing was done",
      run: async (trial) => {
        const session = await sessionOf(trial);
        const asked = await session.provoke();
        expectFit("the answer", await session.cancel(asked), { stopReason: "cancelled" });
        await trial.expectAbsent(asked.name);
      },
    },
    {
      name: "after a cancelled prompt the session accepts the next one",
      run: async (trial) => {
        const session = await sessionOf(trial);
        await session.cancel(await session.provoke());
        expectFit("the answer", await session.run(HELLO), { stopReason: "end_turn" });
      },
    },
    {
      name: "$/cancel_request for a running prompt ends it: as cancelled, or with -32800",
      run: async (trial) => {
        const session = await sessionOf(trial);
        const asked = await session.provoke();
        session.wire.notify("$/cancel_request", { requestId: asked.prompt });
        session.wire.answer(asked.request.id, { outcome: { outcome: "cancelled" } });
        const answer = await session.wire.answerTo(asked.prompt);
        if (isRecord(answer.error)) expectFit("the refusal", answer.error, { code: -32800 });
        else expectFit("the answer", answer.result, { stopReason: "cancelled" });
        await trial.expectAbsent(asked.name);
      },
    },
    {
      name: "two prompts at once: both are answered, with any outcome of the second",
      run: async (trial) => {
        const session = await sessionOf(trial);
        const asked = await session.provoke();
        const second = session.begin(HELLO);
        session.answer(asked, "reject_once");
        const first = await session.wire.answerTo(asked.prompt);
        const next = await session.wire.answerTo(second);
        if (isRecord(first.result)) expectFit("the first answer", first.result, { stopReason: REASONS });
        if (isRecord(next.result)) expectFit("the second answer", next.result, { stopReason: REASONS });
      },
    },
    {
      name: "two sessions work side by side, and updates name the right one",
      run: async (trial) => {
        const wire = await acpWire(trial);
        const sessions = [await AcpSession.open(trial, wire), await AcpSession.open(trial, wire)] as const;
        if (sessions[0].id === sessions[1].id) throw new Failed("both sessions have the same id");
        const after = wire.mark;
        const prompts = sessions.map((session) => session.begin(HELLO));
        for (const prompt of prompts) await wire.answerTo(prompt);
        for (const session of sessions) {
          const received = session
            .updates(after)
            .some((update) => update.sessionUpdate === "agent_message_chunk");
          if (!received) throw new Failed(`no text came for ${session.id}`);
        }
      },
    },
    {
      name: "a prompt without any content is answered, or refused with -32602",
      run: async (trial) => {
        const session = await sessionOf(trial);
        const answer = await session.wire.ask("session/prompt", { sessionId: session.id, prompt: [] });
        if (isRecord(answer.error)) expectFit("the refusal", answer.error, { code: -32602 });
        else expectFit("the answer", answer.result, { stopReason: REASONS });
      },
    },
    {
      name: "a resource_link in a prompt is accepted",
      run: async (trial) => {
        const session = await sessionOf(trial);
        const link = { type: "resource_link", uri: `file://${join(trial.cwd, "a.txt")}`, name: "a.txt" };
        const prompt = [{ type: "text", text: HELLO }, link];
        const answer = await session.wire.result("session/prompt", { sessionId: session.id, prompt });
        expectFit("the answer", answer, { stopReason: "end_turn" });
      },
    },
    {
      name: "usage_update, where it comes, has the tokens used and the size of the window",
      run: async (trial) => {
        const session = await sessionOf(trial);
        const after = session.wire.mark;
        await session.run(HELLO);
        const usage = session.updates(after).findLast((update) => update.sessionUpdate === "usage_update");
        const count = (value: unknown): boolean => typeof value === "number" && value >= 0;
        const fine = usage === undefined || (count(usage.used) && count(usage.size));
        if (!fine) throw new Failed(`it is ${formatValue(usage)}`);
        expectFit("its cost", usage?.cost, anyOf(NULLISH, { currency: STRING }));
      },
    },
  ],
};

function lastStatus(session: AcpSession, after: number): unknown {
  const calls = session.updates(after).filter((update) => /^tool_call/.test(String(update.sessionUpdate)));
  return calls.findLast((update) => typeof update.status === "string")?.status;
}
