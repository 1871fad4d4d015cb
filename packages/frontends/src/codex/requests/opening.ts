import { LIMITS, type Params, type ThreadSettings, type Turn } from "@flint/protocol";
import type { CodexClientParams } from "@flint/protocol/codex";
import { lastUsageOf } from "../../shared/last-usage.ts";
import { approvalWanted } from "../approval-wanted.ts";
import { toolsOffered } from "../client-tools.ts";
import { withKnownEffort } from "../effort.ts";
import { type EncodedTurn, encodedTurn, withTurns } from "../encoded-answer.ts";
import { firstPage } from "../first-page.ts";
import { goalOf, status, tell, usage } from "../outbound.ts";
import { eachTurn, NEWEST } from "../pages.ts";
import { sandboxWanted } from "../permissions.ts";
import { present } from "../present.ts";
import { refused } from "../refusals.ts";
import { collaborationModeOf, openedThread, REASONING_EFFORT, statusOf } from "../threads.ts";
import { TITLE_SOURCE } from "../title-threads.ts";
import type { Handlers, Visit } from "../visit.ts";

/** Beginning, resuming and forking threads. */
export const openingRequests: Handlers<"thread/start" | "thread/resume" | "thread/fork"> = {
  async "thread/start"(params, visit, reply) {
    if (params.threadSource === TITLE_SOURCE && params.ephemeral === true) {
      const settings = await newSettings(visit, params);
      const provider = settings.model.split("/")[0] ?? settings.model;
      return visit.titles.start(settings, provider, (thread) =>
        reply(withSource(openedThread(thread, settings, visit.words), TITLE_SOURCE)),
      );
    }
    const { ephemeral, dynamicTools } = params;
    const overrides = await overridesOf(params, visit);
    const wanted = { ...overrides, ...present({ ephemeral }), ...toolsOffered(dynamicTools) };
    await withKnownEffort(wanted, (given) =>
      visit.client.core.call("thread/start", given, ({ thread }) => {
        visit.words.note(thread.id, params);
        visit.onStarted(thread.id, (settings) => reply(openedThread(thread, settings, visit.words)));
      }),
    );
  },

  async "thread/resume"(params, visit, reply) {
    const { threadId, excludeTurns = false } = params;
    const { thread } = await visit.client.core.call("thread/read", { threadId });
    if (thread.archived) throw refused(archivedText(threadId));
    const overrides = await overridesOf(params, visit, threadId);
    visit.words.note(threadId, params);
    if (Object.keys(overrides).length > 0)
      await withKnownEffort(overrides, (given) =>
        visit.client.core.call("thread/settings/update", { threadId, ...given }),
      );
    const earlier = excludeTurns ? [] : await eachTurn(visit, threadId, encodedTurn);
    const page = await firstPage(params, visit);
    const { goal } = await visit.client.core.call("thread/goal/get", { threadId });
    const turns = excludeTurns ? 1 : LATEST;
    await visit.client.core.call("thread/attach", { threadId, turns }, (attached) => {
      const { settings } = attached;
      const active = attached.turns.find(({ status }) => status === "inProgress");
      visit.note(threadId, { settings, activeTurnId: active?.id });
      const now = statusOf(attached.thread.status);
      // A thread that is at rest no more is told to be idle; what else it does, the answer says.
      if (now.type === "idle") visit.send(status(threadId, now));
      else visit.learns(threadId, now);
      const cursor = attached.turns.length === 0 ? null : NEWEST;
      const opened = {
        ...openedThread(attached.thread, settings, visit.words),
        collaborationMode: collaborationModeOf(settings),
        initialTurnsPage: page?.asOf(attached.turns) ?? null,
        turnsBackwardsCursor: cursor,
        itemsBackwardsCursor: cursor,
      };
      reply(excludeTurns ? opened : withTurns(opened, joined(earlier.splice(0), attached.turns)));
      tellUsage(visit, attached);
      visit.send(
        goal === null
          ? tell("thread/goal/cleared", { threadId })
          : tell("thread/goal/updated", { threadId, turnId: null, goal: goalOf(threadId, goal) }),
      );
    });
  },

  async "thread/fork"(params, visit, reply) {
    const { threadId, ephemeral } = params;
    const { thread: source } = await visit.client.core.call("thread/read", { threadId });
    if (source.archived) throw refused(archivedText(threadId));
    const kept = await keptTurns(params, visit);
    const last = kept.at(-1);
    const wanted = { ...(await overridesOf(params, visit, threadId)), ...present({ ephemeral }) };
    if (last === undefined) {
      const begun = { ...(await settingsToBeginWith(visit, threadId)), ...wanted };
      return withKnownEffort(begun, (given) =>
        visit.client.core.call("thread/start", given, ({ thread }) => {
          visit.words.copy(threadId, thread.id);
          visit.onStarted(thread.id, (settings) =>
            reply(openedThread({ ...thread, forkedFromId: threadId }, settings, visit.words)),
          );
        }),
      );
    }
    await withKnownEffort({ threadId, lastTurnId: last.id, ...wanted }, (given) =>
      visit.client.core.call("thread/fork", given, (forked) => {
        const { thread } = forked;
        visit.words.copy(threadId, thread.id);
        visit.words.note(thread.id, params);
        visit.onStarted(thread.id, (settings) => {
          const opened = openedThread(thread, settings, visit.words);
          reply(params.excludeTurns === true ? opened : withTurns(opened, kept));
          tellUsage(visit, forked);
        });
      }),
    );
  },
};

/** How many of the latest turns are told as they are at the very moment in which a client begins to follow. */
const LATEST = Math.min(10, LIMITS.page);

type Opening = Pick<
  CodexClientParams<"thread/resume">,
  "model" | "cwd" | "approvalPolicy" | "sandbox" | "permissions" | "config" | "developerInstructions"
>;

/** What a client wants different from what is in force. Of Codex's settings only the effort has a place in Flint. */
async function overridesOf(params: Opening, visit: Visit, threadId?: string) {
  const { model, cwd, sandbox, permissions, developerInstructions, approvalPolicy } = params;
  const effort: unknown = params.config?.model_reasoning_effort;
  return {
    ...present({ model, cwd, developerInstructions }),
    ...sandboxWanted(permissions, "sandbox", sandbox),
    ...(await approvalWanted(approvalPolicy, visit, threadId)),
    ...(typeof effort === "string" ? { config: { [REASONING_EFFORT]: effort } } : {}),
  } satisfies Omit<Params<"thread/settings/update">, "threadId">;
}

/** Whoever opens a thread learns what it used so far; those who follow it know. */
function tellUsage(visit: Visit, opened: Parameters<typeof lastUsageOf>[0]): void {
  const told = lastUsageOf(opened);
  if (told !== undefined) visit.send(usage(told));
}

function archivedText(threadId: string): string {
  return `session ${threadId} is archived. Run \`codex unarchive ${threadId}\` to unarchive it first.`;
}

function withSource(
  opened: ReturnType<typeof openedThread>,
  threadSource: string,
): ReturnType<typeof openedThread> {
  return { ...opened, thread: { ...opened.thread, threadSource } };
}

/** What a thread that never reaches the core would work with. */
async function newSettings(visit: Visit, { model, cwd }: Opening): Promise<ThreadSettings> {
  const inForce = await visit.client.core.call("config/read", {});
  return {
    model: model ?? inForce.model,
    cwd: cwd ?? inForce.cwd,
    approvalPolicy: inForce.approvalPolicy,
    sandboxPolicy: { type: "readOnly" },
    config: {},
  };
}

/** The turns that a fork keeps. Their text is left out where nobody wants it. */
async function keptTurns(params: CodexClientParams<"thread/fork">, visit: Visit): Promise<EncodedTurn[]> {
  const { threadId, lastTurnId, beforeTurnId, excludeTurns = false } = params;
  const keep = excludeTurns ? ({ id, status }: Turn) => ({ id, status, text: "" }) : encodedTurn;
  const turns = (await eachTurn(visit, threadId, keep)).filter(({ status }) => status !== "inProgress");
  const cut = lastTurnId ?? beforeTurnId;
  if (cut == null) return turns;
  const place = turns.findIndex(({ id }) => id === cut);
  if (place === -1) throw refused(`turn not found: ${cut}`, "turnNotFound");
  return turns.slice(0, lastTurnId == null ? place : place + 1);
}

/** For a fork without any turn: what its source works with. */
async function settingsToBeginWith(visit: Visit, threadId: string) {
  const { model, cwd, approvalPolicy, sandboxPolicy } = await visit.client.core.call("config/read", {
    threadId,
  });
  return { model, cwd, approvalPolicy, sandbox: sandboxPolicy };
}

/** Turns that were read, with the latest as they are now. */
function joined(earlier: readonly EncodedTurn[], latest: readonly Turn[]): EncodedTurn[] {
  const ids = new Set(latest.map(({ id }) => id));
  return [...earlier.filter(({ id }) => !ids.has(id)), ...latest.map(encodedTurn)];
}
