import { type BackgroundCommand, isRecord } from "@flint/protocol";
import { goalOf, notification, statusChanged } from "../events/events.ts";
import { NOT_LOADED, threadOf } from "../events/threads.ts";
import { encodeTurn, encodeWithTurns } from "../wire/encoding.ts";
import { codexError } from "../wire/errors.ts";
import { withoutNullish } from "../wire/values.ts";
import type { Handlers } from "./handler.ts";
import { iterateTurns, NEWEST_FIRST } from "./history.ts";

/** Naming, archiving, reverting and deleting threads, and their goals. */
export const threads: Handlers<
  | "thread/unsubscribe"
  | "thread/archive"
  | "thread/unarchive"
  | "thread/delete"
  | "thread/name/set"
  | "thread/revert"
  | "thread/rollback"
  | "thread/compact/start"
  | "thread/shellCommand"
  | "thread/inject_items"
  | "thread/backgroundTerminals/list"
  | "thread/backgroundTerminals/terminate"
  | "thread/backgroundTerminals/clean"
  | "thread/goal/get"
  | "thread/goal/set"
  | "thread/goal/clear"
> = {
  async "thread/unsubscribe"({ threadId }, { core, reply }, client) {
    if (client.titles.end(threadId)) return reply({ status: "unsubscribed" });
    if (!client.isSubscribed(threadId)) {
      const { data } = await core.call("thread/loaded/list", {});
      return reply({ status: data.includes(threadId) ? "notSubscribed" : "notLoaded" });
    }
    await core.call("thread/unsubscribe", { threadId }, () => reply({ status: "unsubscribed" }));
    client.forget(threadId);
  },

  "thread/archive": ({ threadId }, { core, reply }, client) =>
    core.call("thread/archive", { threadId, interrupt: true }, () => {
      client.notify(statusChanged(threadId, NOT_LOADED));
      reply({});
    }),

  "thread/unarchive": ({ threadId }, { core, reply }) =>
    // It is not loaded before it is resumed.
    core.call("thread/unarchive", { threadId }, ({ thread }) =>
      reply({ thread: threadOf({ ...thread, status: NOT_LOADED }, null) }),
    ),

  async "thread/delete"({ threadId }, { core, reply }, client) {
    if (client.titles.end(threadId)) return reply({});
    await core.call("thread/delete", { threadId, interrupt: true }, () => {
      client.notify(statusChanged(threadId, NOT_LOADED));
      reply({});
    });
  },

  async "thread/name/set"({ threadId, name }, { core, reply }) {
    const trimmed = name.trim();
    if (trimmed === "") throw codexError("thread name must not be empty");
    await core.call("thread/name/set", { threadId, name: trimmed.slice(0, LONGEST_NAME) }, () => reply({}));
  },

  async "thread/revert"({ threadId, beforeTurnId }, { core, reply }) {
    const turnIds = await iterateTurns(core, threadId, ({ id }) => id);
    const cursor = turnIds[0] === beforeTurnId ? null : NEWEST_FIRST;
    if (!turnIds.includes(beforeTurnId)) throw codexError(`turn not found: ${beforeTurnId}`, "turnNotFound");
    await core.call("thread/revert", { threadId, beforeTurnId }, ({ thread }) =>
      reply({
        thread: threadOf(thread, null),
        turnsBackwardsCursor: cursor,
        itemsBackwardsCursor: cursor,
      }),
    );
  },

  async "thread/rollback"({ threadId, numTurns }, { core, replyEncoded }, client) {
    client.notify(notification("deprecationNotice", { summary: ROLLBACK_NOTICE, details: null }));
    const turns = await iterateTurns(core, threadId, encodeTurn);
    const remaining = turns.slice(0, Math.max(0, turns.length - numTurns));
    await core.call("thread/rollback", { threadId, numTurns }, ({ thread }) =>
      replyEncoded(encodeWithTurns({ thread: threadOf(thread, null) }, remaining)),
    );
  },

  "thread/compact/start": ({ threadId }, { core, reply }) =>
    core.call("thread/compact/start", { threadId }, () => reply({})),

  "thread/shellCommand": ({ threadId, command, timeoutMs }, { core, reply }) =>
    core.call("thread/shellCommand", { threadId, command, ...withoutNullish({ timeoutMs }) }, () =>
      reply({}),
    ),

  "thread/inject_items": ({ threadId, items }, { core, reply }) =>
    core.call("thread/inject", { threadId, messages: items.map(injectedMessage) }, () => reply({})),

  "thread/backgroundTerminals/list": ({ threadId }, { core, reply }) =>
    core.call("thread/backgroundCommands/list", { threadId }, ({ data }) =>
      reply({ data: data.map(terminalOf), nextCursor: null }),
    ),

  "thread/backgroundTerminals/terminate": ({ threadId, processId }, { core, reply }) =>
    core.call("thread/backgroundCommands/stop", { threadId, processId }, ({ stopped }) =>
      reply({ terminated: stopped.length > 0 }),
    ),

  "thread/backgroundTerminals/clean": ({ threadId }, { core, reply }) =>
    core.call("thread/backgroundCommands/stop", { threadId }, () => reply({})),

  "thread/goal/get": ({ threadId }, { core, reply }) =>
    core.call("thread/goal/get", { threadId }, ({ goal }) =>
      reply({ goal: goal === null ? null : goalOf(threadId, goal) }),
    ),

  "thread/goal/set": ({ threadId, objective, status, tokenBudget }, { core, reply }) => {
    // Codex continues with an active goal after each turn; a new objective is one.
    const pursue = objective === undefined || objective === null ? {} : { pursue: {} };
    const params = { threadId, ...withoutNullish({ objective, status, tokenBudget }), ...pursue };
    return core.call("thread/goal/set", params, ({ goal }) => reply({ goal: goalOf(threadId, goal) }));
  },

  "thread/goal/clear": ({ threadId }, { core, reply }) =>
    core.call("thread/goal/clear", { threadId }, ({ cleared }) => reply({ cleared })),
};

/** A background command in the words of Codex. Flint does not watch what it uses. */
function terminalOf({ processId, command, cwd = "/", itemId = processId }: BackgroundCommand) {
  return { itemId, processId, command, cwd, osPid: null, cpuPercent: null, rssKb: null };
}

const LONGEST_NAME = 500;

const ROLLBACK_NOTICE =
  "thread/rollback is gone from Codex since 0.166.0; use thread/revert with `beforeTurnId`.";

/** A raw item of the Responses API as a message. Others stand for calls that Flint's agents never made. */
function injectedMessage(item: unknown): { role: "user" | "assistant"; text: string } {
  const { type, role, content } = isRecord(item) ? item : {};
  if (type === "message" && (role === "user" || role === "assistant")) {
    const parts = Array.isArray(content) ? content.filter(isRecord) : [];
    const text = parts.map((part) => (typeof part.text === "string" ? part.text : "")).join("");
    if (text !== "") return { role, text };
  }
  throw codexError("items must be messages with text, of the user or the assistant");
}
