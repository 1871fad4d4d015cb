import {
  type BackgroundCommand,
  type Decision,
  FlintError,
  HARNESS,
  HARNESS_VERSION,
  type HarnessBackgroundCommand,
  type HarnessDecision,
  type HarnessEvent,
  LIMITS,
  type ParamsOf,
  type Result,
  readLoggedEvent,
} from "@flint/protocol";
import { type RequestCall, type RequestTable, TableFrontend } from "../shared/table-frontend.ts";
import { events, threadOf } from "./events.ts";
import { approvalOf } from "./items.ts";

/** The harness protocol: dotted methods, approvals as notifications, history as the same notifications. */
export function harnessFrontend(): TableFrontend<typeof HARNESS> {
  return new TableFrontend({ vocabulary: HARNESS, initializeFirst: false, requests, events });
}

type Harness = typeof HARNESS;

const INITIALIZED = {
  version: HARNESS_VERSION,
  capabilities: { threads: true, turns: true, approvals: true, streaming: true, persistence: true },
};

const DONE = { ok: true };

/** The decision that each word of this wire stands for. */
const DECISIONS: Readonly<Record<HarnessDecision, Decision>> = {
  once: { outcome: "allow", scope: "once" },
  always: { outcome: "allow", scope: "always" },
  reject: { outcome: "deny", scope: "once" },
};

/** Maps the requests of the harness protocol to calls of the core. */
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
  "thread.get": ({ threadId: given }) => ({
    method: "thread/events/list",
    params: { threadId: threadIdOf(given) },
    answer: ({ thread, events: logged }) => ({ thread: threadOf(thread), events: historyOf(logged) }),
    // This wire has no subscribe: a client that reads the history of a thread receives what comes after it.
    attach: ({ events: logged, epoch }) => ({
      threadId: threadIdOf(given),
      epoch,
      afterSeq: logged.at(-1)?.seq ?? 0,
      turns: 0,
    }),
  }),
  "turn.start": startTurn,
  "turn.cancel": ({ threadId }) => ({
    method: "turn/interrupt",
    params: { threadId: threadIdOf(threadId) },
    answer: () => DONE,
  }),
  "approval.respond": ({ requestId, decision }) => ({
    method: "approval/respond",
    params: { ...approvalOf(requestId), decision: DECISIONS[decision] },
    answer: () => DONE,
  }),
  "background.list": ({ threadId }) => ({
    method: "thread/backgroundCommands/list",
    params: { threadId: threadIdOf(threadId) },
    answer: ({ data }) => ({ commands: data.map(backgroundCommandOf) }),
  }),
  "background.stop": ({ threadId, processId }) => ({
    method: "thread/backgroundCommands/stop",
    params: { threadId: threadIdOf(threadId), ...(processId === undefined ? {} : { processId }) },
    answer: ({ stopped }) => ({ stopped: [...stopped] }),
  }),
};

function backgroundCommandOf({ cwd, ...command }: BackgroundCommand): HarnessBackgroundCommand {
  return { ...command, ...(cwd === undefined ? {} : { directory: cwd }) };
}

/** Names of roles, not of agents: that of any agent that writes code. */
const ROLES: ReadonlySet<string> = new Set(["code", "build", "default"]);

/** The id of a thread, also where it is written like that of a session. */
function threadIdOf(id: string): string {
  return id.replace(/^ses_/, "");
}

/** `agent` names an agent of the server; the name of a role leaves the thread with the agent that it has. */
function startTurn({ threadId, input, model, agent, _meta }: ParamsOf<Harness, "turn.start">): RequestCall {
  return {
    method: "turn/start",
    params: {
      threadId: threadIdOf(threadId),
      input,
      // This wire has neither steering nor a queue: a busy thread rejects the turn.
      delivery: "reject",
      ...(model === undefined ? {} : { model: `${model.providerID}/${model.modelID}` }),
      ...(agent === undefined || ROLES.has(agent) ? {} : { agent }),
      ...(_meta === undefined ? {} : { _meta }),
    },
    answer: turnStarted,
  };
}

function turnStarted({ turn }: Result<"turn/start">): { turnId: string } {
  if (turn !== undefined) return { turnId: turn.id };
  throw new FlintError("internalError", "The turn was not started although the thread was not busy.");
}

type LoggedEvent = Result<"thread/events/list">["events"][number];

/** The history of a thread as the messages of this wire. Events written by another version of Flint are left out. */
export function historyOf(logged: readonly LoggedEvent[]): HarnessEvent[] {
  return logged.flatMap((entry) => {
    const event = readLoggedEvent(entry);
    if (event === undefined) return [];
    return events(event).map(({ method, params }) => ({ type: method, time: event.at, ...params }));
  });
}
