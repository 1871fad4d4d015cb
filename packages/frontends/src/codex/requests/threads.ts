import { encodedTurn, withTurns } from "../encoded-answer.ts";
import { status, tell } from "../outbound.ts";
import { eachTurn, NEWEST } from "../pages.ts";
import { present } from "../present.ts";
import { refused } from "../refusals.ts";
import { NOT_LOADED, threadOf } from "../threads.ts";
import type { Handlers } from "../visit.ts";

/** Keeping threads: names, the archive, going back, letting go. */
export const threadRequests: Handlers<
  | "thread/unsubscribe"
  | "thread/archive"
  | "thread/unarchive"
  | "thread/delete"
  | "thread/name/set"
  | "thread/revert"
  | "thread/rollback"
  | "thread/compact/start"
  | "thread/shellCommand"
  | "thread/backgroundTerminals/list"
  | "thread/backgroundTerminals/clean"
> = {
  async "thread/unsubscribe"({ threadId }, visit, reply) {
    if (visit.titles.end(threadId)) return reply({ status: "unsubscribed" });
    if (!visit.client.isSubscribed(threadId)) {
      const { data } = await visit.client.core.call("thread/loaded/list", {});
      return reply({ status: data.includes(threadId) ? "notSubscribed" : "notLoaded" });
    }
    await visit.client.core.call("thread/unsubscribe", { threadId }, () => reply({ status: "unsubscribed" }));
    visit.forget(threadId);
  },

  "thread/archive": ({ threadId }, visit, reply) =>
    visit.client.core.call("thread/archive", { threadId, interrupt: true }, () => {
      visit.send(status(threadId, NOT_LOADED));
      reply({});
    }),

  "thread/unarchive": ({ threadId }, { client }, reply) =>
    // It stays as it was in the archive until it is resumed.
    client.core.call("thread/unarchive", { threadId }, ({ thread }) =>
      reply({ thread: threadOf({ ...thread, status: NOT_LOADED }, null) }),
    ),

  async "thread/delete"({ threadId }, visit, reply) {
    if (visit.titles.end(threadId)) return reply({});
    await visit.client.core.call("thread/delete", { threadId, interrupt: true }, () => {
      visit.send(status(threadId, NOT_LOADED));
      reply({});
    });
  },

  async "thread/name/set"({ threadId, name }, { client }, reply) {
    const trimmed = name.trim();
    if (trimmed === "") throw refused("thread name must not be empty");
    await client.core.call("thread/name/set", { threadId, name: trimmed.slice(0, LONGEST_NAME) }, () =>
      reply({}),
    );
  },

  async "thread/revert"({ threadId, beforeTurnId }, visit, reply) {
    const turnIds = await eachTurn(visit, threadId, ({ id }) => id);
    const cursor = turnIds[0] === beforeTurnId ? null : NEWEST;
    if (!turnIds.includes(beforeTurnId)) throw refused(`turn not found: ${beforeTurnId}`, "turnNotFound");
    await visit.client.core.call("thread/revert", { threadId, beforeTurnId }, ({ thread }) =>
      reply({
        thread: threadOf(thread, null),
        turnsBackwardsCursor: cursor,
        itemsBackwardsCursor: cursor,
      }),
    );
  },

  async "thread/rollback"({ threadId, numTurns }, visit, reply) {
    visit.send(tell("deprecationNotice", { summary: ROLLBACK_NOTICE, details: null }));
    const turns = await eachTurn(visit, threadId, encodedTurn);
    const kept = turns.slice(0, Math.max(0, turns.length - numTurns));
    await visit.client.core.call("thread/rollback", { threadId, numTurns }, ({ thread }) =>
      reply(withTurns({ thread: threadOf(thread, null) }, kept)),
    );
  },

  "thread/compact/start": ({ threadId }, { client }, reply) =>
    client.core.call("thread/compact/start", { threadId }, () => reply({})),

  "thread/shellCommand": ({ threadId, command, timeoutMs }, { client }, reply) =>
    client.core.call("thread/shellCommand", { threadId, command, ...present({ timeoutMs }) }, () =>
      reply({}),
    ),

  async "thread/backgroundTerminals/list"({ threadId }, visit, reply) {
    // Commands of Flint end with their turn, so a thread that is there has left none running.
    await visit.client.core.call("thread/read", { threadId });
    reply({ data: [], nextCursor: null });
  },

  async "thread/backgroundTerminals/clean"({ threadId }, visit, reply) {
    await visit.client.core.call("thread/read", { threadId });
    reply({});
  },
};

const LONGEST_NAME = 500;

const ROLLBACK_NOTICE =
  "thread/rollback is gone from Codex since 0.166.0; use thread/revert with `beforeTurnId`.";
