import { tell } from "../outbound.ts";
import { allTurns, NEWEST } from "../pages.ts";
import { present } from "../present.ts";
import { refused } from "../refusals.ts";
import { threadOf } from "../threads.ts";
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
    if (!visit.client.follows(threadId)) {
      const { data } = await visit.core("thread/loaded/list", {});
      return reply({ status: data.includes(threadId) ? "notSubscribed" : "notLoaded" });
    }
    await visit.client.call("thread/unsubscribe", { threadId }, () => reply({ status: "unsubscribed" }));
    visit.forget(threadId);
  },

  "thread/archive": ({ threadId }, { client }, reply) =>
    client.call("thread/archive", { threadId }, () => reply({})),

  "thread/unarchive": ({ threadId }, { client }, reply) =>
    client.call("thread/unarchive", { threadId }, ({ thread }) => reply({ thread: threadOf(thread, null) })),

  async "thread/delete"({ threadId }, { client, titles }, reply) {
    if (titles.end(threadId)) return reply({});
    await client.call("thread/delete", { threadId }, () => reply({}));
  },

  async "thread/name/set"({ threadId, name }, { client }, reply) {
    const trimmed = name.trim();
    if (trimmed === "") throw refused("thread name must not be empty");
    await client.call("thread/name/set", { threadId, name: trimmed.slice(0, LONGEST_NAME) }, () => reply({}));
  },

  async "thread/revert"({ threadId, beforeTurnId }, visit, reply) {
    const turns = await allTurns(visit, threadId);
    const cursor = turns[0]?.id === beforeTurnId ? null : NEWEST;
    if (!turns.some(({ id }) => id === beforeTurnId))
      throw refused(`turn not found: ${beforeTurnId}`, "turnNotFound");
    await visit.client.call("thread/revert", { threadId, beforeTurnId }, ({ thread }) =>
      reply({
        thread: threadOf(thread, null),
        turnsBackwardsCursor: cursor,
        itemsBackwardsCursor: cursor,
      }),
    );
  },

  async "thread/rollback"({ threadId, numTurns }, visit, reply) {
    visit.send(tell("deprecationNotice", { summary: ROLLBACK_NOTICE, details: null }));
    const turns = await allTurns(visit, threadId);
    const kept = turns.slice(0, Math.max(0, turns.length - numTurns));
    await visit.client.call("thread/rollback", { threadId, numTurns }, ({ thread }) =>
      reply({ thread: threadOf(thread, null, { turns: kept, view: "full" }) }),
    );
  },

  "thread/compact/start": ({ threadId }, { client }, reply) =>
    client.call("thread/compact/start", { threadId }, () => reply({})),

  "thread/shellCommand": ({ threadId, command, timeoutMs }, { client }, reply) =>
    client.call("thread/shellCommand", { threadId, command, ...present({ timeoutMs }) }, () => reply({})),

  async "thread/backgroundTerminals/list"({ threadId }, visit, reply) {
    // Commands of Flint end with their turn, so a thread that is there has left none running.
    await visit.core("thread/read", { threadId });
    reply({ data: [], nextCursor: null });
  },

  async "thread/backgroundTerminals/clean"({ threadId }, visit, reply) {
    await visit.core("thread/read", { threadId });
    reply({});
  },
};

const LONGEST_NAME = 500;

const ROLLBACK_NOTICE =
  "thread/rollback is gone from Codex since 0.166.0; use thread/revert with `beforeTurnId`.";
