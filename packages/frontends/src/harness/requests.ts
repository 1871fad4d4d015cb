import {
  FlintError,
  type HARNESS,
  HARNESS_VERSION,
  LIMITS,
  type ParamsOf,
  type Result,
} from "@flint/protocol";
import type { RequestCall, RequestTable } from "../shared/table-frontend.ts";
import { approvalNamedBy, decisionOf } from "./approvals.ts";
import { historyOf } from "./history.ts";
import { threadOf } from "./threads.ts";

type Harness = typeof HARNESS;

const INITIALIZED = {
  version: HARNESS_VERSION,
  capabilities: { threads: true, turns: true, approvals: true, streaming: true, persistence: true },
};

const DONE = { ok: true };

/** How the requests of the harness protocol become calls of the core. */
export const requests: RequestTable<Harness> = {
  initialize: ({ clientInfo }) => ({
    method: "initialize",
    params: {
      clientInfo: { name: clientInfo?.name ?? "harness client", version: clientInfo?.version ?? "unknown" },
    },
    answer: () => INITIALIZED,
  }),
  "thread.create": ({ title, directory }) => ({
    method: "thread/start",
    params: {
      ...(title === undefined ? {} : { name: title }),
      ...(directory === undefined ? {} : { cwd: directory }),
    },
    answer: ({ thread }) => ({ thread: threadOf(thread) }),
  }),
  "thread.list": ({ cursor }) => ({
    method: "thread/list",
    params: { limit: LIMITS.threads, ...(cursor === undefined ? {} : { cursor }) },
    answer: ({ data, nextCursor }) => ({
      threads: data.map(threadOf),
      ...(nextCursor === undefined ? {} : { nextCursor }),
    }),
  }),
  "thread.get": ({ threadId }) => ({
    method: "thread/events/list",
    params: { threadId },
    answer: ({ thread, events }) => ({ thread: threadOf(thread), events: historyOf(events) }),
    // This wire has no subscribe: a client that reads the history of a thread receives what comes after it.
    attach: ({ events, epoch }) => ({ threadId, epoch, afterSeq: events.at(-1)?.seq ?? 0, turns: 0 }),
  }),
  "turn.start": startTurn,
  "turn.cancel": ({ threadId }) => ({
    method: "turn/interrupt",
    params: { threadId },
    answer: () => DONE,
  }),
  "approval.respond": ({ requestId, decision }) => ({
    method: "approval/respond",
    params: { ...approvalNamedBy(requestId), decision: decisionOf(decision) },
    answer: () => DONE,
  }),
};

/** The core knows no agents by name: the name travels as metadata, for a driver that does. */
function startTurn({ threadId, input, model, agent, _meta }: ParamsOf<Harness, "turn.start">): RequestCall {
  const meta = { ..._meta, ...(agent === undefined ? {} : { agent }) };
  return {
    method: "turn/start",
    params: {
      threadId,
      input,
      // This wire has neither steering nor a queue: a busy thread refuses.
      delivery: "reject",
      ...(model === undefined ? {} : { model: `${model.providerID}/${model.modelID}` }),
      ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }),
    },
    answer: turnStarted,
  };
}

function turnStarted({ turn }: Result<"turn/start">): { turnId: string } {
  if (turn !== undefined) return { turnId: turn.id };
  throw new FlintError("internalError", "The turn was not started although the thread was not busy.");
}
