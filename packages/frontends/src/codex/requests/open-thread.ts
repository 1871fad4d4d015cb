import { LIMITS, type ThreadSettings, type Turn } from "@flint/protocol";
import type { CodexClientParams, CodexClientResult } from "@flint/protocol/codex";
import { type CoreCalls, lastUsageOf } from "../../shared/core-calls.ts";
import { readClientTools } from "../asks/client-tools.ts";
import { goalOf, notification, statusChanged, usageUpdated } from "../events/events.ts";
import { collaborationModeOf, openedThread, statusOf } from "../events/threads.ts";
import { type EncodedTurn, encodeTurn, encodeWithTurns } from "../wire/encoding.ts";
import { codexError } from "../wire/errors.ts";
import { withoutNullish } from "../wire/values.ts";
import type { CodexClient, Handlers } from "./handler.ts";
import { firstPage, iterateTurns, NEWEST_FIRST } from "./history.ts";
import { openingOverrides, withSupportedEffort } from "./settings.ts";
import { TITLE_SOURCE } from "./title-threads.ts";

/** Starting, resuming and forking threads. */
export const openThread: Handlers<"thread/start" | "thread/resume" | "thread/fork"> = {
  async "thread/start"(params, { core, reply }, client) {
    if (params.threadSource === TITLE_SOURCE && params.ephemeral === true) {
      const settings = await titleSettings(core, params);
      const provider = settings.model.split("/")[0] ?? settings.model;
      return client.titles.start(settings, provider, (thread) =>
        reply(withSource(openedThread(thread, settings, client.policies), TITLE_SOURCE)),
      );
    }
    const { ephemeral, dynamicTools } = params;
    const overrides = await openingOverrides(params, core);
    const start = { ...overrides, ...withoutNullish({ ephemeral }), ...readClientTools(dynamicTools) };
    await withSupportedEffort(start, (settings) =>
      core.call("thread/start", settings, ({ thread }) => {
        client.policies.note(thread.id, params);
        client.threads.onStarted(thread.id, (begun) => reply(openedThread(thread, begun, client.policies)));
      }),
    );
  },

  async "thread/resume"(params, { core, reply, replyEncoded }, client) {
    const { threadId, excludeTurns = false } = params;
    const { thread } = await core.call("thread/read", { threadId });
    if (thread.archived) throw archived(threadId);
    // The thread of a sub-agent has the settings of its parent, and no goal.
    const isChild = thread.parentThreadId !== undefined;
    const overrides = isChild ? {} : await openingOverrides(params, core, threadId);
    client.policies.note(threadId, params);
    if (Object.keys(overrides).length > 0) {
      await withSupportedEffort(overrides, (settings) =>
        core.call("thread/settings/update", { threadId, ...settings }),
      );
    }
    const earlier = excludeTurns ? [] : await iterateTurns(core, threadId, encodeTurn);
    const page = await firstPage(params, core);
    const { goal } = isChild ? { goal: null } : await core.call("thread/goal/get", { threadId });
    const turns = excludeTurns ? 1 : LATEST_TURNS;
    await core.call("thread/attach", { threadId, turns }, (attached) => {
      const { settings } = attached;
      const active = attached.turns.find(({ status }) => status === "inProgress");
      client.threads.update(threadId, { settings, activeTurnId: active?.id });
      const status = statusOf(attached.thread.status);
      // A thread that was just loaded is sent to be idle; any other status is in the answer.
      if (status.type === "idle") client.notify(statusChanged(threadId, status));
      else client.learnStatus(threadId, status);
      const cursor = attached.turns.length === 0 ? null : NEWEST_FIRST;
      const opened = {
        ...openedThread(attached.thread, settings, client.policies),
        collaborationMode: collaborationModeOf(settings),
        initialTurnsPage: page?.asOf(attached.turns) ?? null,
        turnsBackwardsCursor: cursor,
        itemsBackwardsCursor: cursor,
      };
      if (excludeTurns) reply(opened);
      else replyEncoded(encodeWithTurns(opened, withLatest(earlier.splice(0), attached.turns)));
      notifyUsage(client, attached);
      client.notify(
        goal === null
          ? notification("thread/goal/cleared", { threadId })
          : notification("thread/goal/updated", { threadId, turnId: null, goal: goalOf(threadId, goal) }),
      );
    });
  },

  async "thread/fork"(params, { core, reply, replyEncoded }, client) {
    const { threadId, ephemeral } = params;
    const { thread: source } = await core.call("thread/read", { threadId });
    if (source.archived) throw archived(threadId);
    const inherited = await inheritedTurns(params, core);
    const last = inherited.at(-1);
    const overrides = {
      ...(await openingOverrides(params, core, threadId)),
      ...withoutNullish({ ephemeral }),
    };
    if (last === undefined) {
      const start = { ...(await settingsOf(threadId, core)), ...overrides };
      return withSupportedEffort(start, (settings) =>
        core.call("thread/start", settings, ({ thread }) => {
          client.policies.copy(threadId, thread.id);
          client.threads.onStarted(thread.id, (begun) =>
            reply(openedThread({ ...thread, forkedFromId: threadId }, begun, client.policies)),
          );
        }),
      );
    }
    await withSupportedEffort({ threadId, lastTurnId: last.id, ...overrides }, (fork) =>
      core.call("thread/fork", fork, (forked) => {
        const { thread } = forked;
        client.policies.copy(threadId, thread.id);
        client.policies.note(thread.id, params);
        client.threads.onStarted(thread.id, (begun) => {
          const opened = openedThread(thread, begun, client.policies);
          if (params.excludeTurns === true) reply(opened);
          else replyEncoded(encodeWithTurns(opened, inherited));
          notifyUsage(client, forked);
        });
      }),
    );
  },
};

/** Number of the latest turns that are returned as they are at the moment in which the client subscribes. */
const LATEST_TURNS = Math.min(10, LIMITS.page);

/** A client that opens a thread is sent its usage so far; other subscribers know it. */
function notifyUsage(client: CodexClient, opened: Parameters<typeof lastUsageOf>[0]): void {
  const usage = lastUsageOf(opened);
  if (usage !== undefined) client.notify(usageUpdated(usage));
}

function archived(threadId: string) {
  return codexError(
    `session ${threadId} is archived. Run \`codex unarchive ${threadId}\` to unarchive it first.`,
  );
}

type Opened = CodexClientResult<"thread/start">;

function withSource(opened: Opened, threadSource: string): Opened {
  return { ...opened, thread: { ...opened.thread, threadSource } };
}

/** The settings of a thread for a title, which never reaches the core. */
async function titleSettings(
  core: CoreCalls,
  { model, cwd }: CodexClientParams<"thread/start">,
): Promise<ThreadSettings> {
  const inForce = await core.call("config/read", {});
  return {
    model: model ?? inForce.model,
    cwd: cwd ?? inForce.cwd,
    approvalPolicy: inForce.approvalPolicy,
    sandboxPolicy: { type: "readOnly" },
    config: {},
  };
}

/** The turns that a fork keeps; without their text if the client excludes them. */
async function inheritedTurns(
  params: CodexClientParams<"thread/fork">,
  core: CoreCalls,
): Promise<EncodedTurn[]> {
  const { threadId, lastTurnId, beforeTurnId, excludeTurns = false } = params;
  const keep = excludeTurns ? ({ id, status }: Turn) => ({ id, status, json: "" }) : encodeTurn;
  const turns = (await iterateTurns(core, threadId, keep)).filter(({ status }) => status !== "inProgress");
  const cut = lastTurnId ?? beforeTurnId;
  if (cut == null) return turns;
  const index = turns.findIndex(({ id }) => id === cut);
  if (index === -1) throw codexError(`turn not found: ${cut}`, "turnNotFound");
  return turns.slice(0, lastTurnId == null ? index : index + 1);
}

/** The settings of the source, for a fork that keeps no turn. */
async function settingsOf(threadId: string, core: CoreCalls) {
  const { model, cwd, approvalPolicy, sandboxPolicy } = await core.call("config/read", { threadId });
  return { model, cwd, approvalPolicy, sandbox: sandboxPolicy };
}

/** Turns that were read, with the latest as they are now. */
function withLatest(earlier: readonly EncodedTurn[], latest: readonly Turn[]): EncodedTurn[] {
  const ids = new Set(latest.map(({ id }) => id));
  return [...earlier.filter(({ id }) => !ids.has(id)), ...latest.map(encodeTurn)];
}
