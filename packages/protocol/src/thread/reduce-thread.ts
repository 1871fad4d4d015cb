import { grantsMadeBy, type Resolution, type ResolvedBy } from "../approval/approval.ts";
import { type DeltaBody, type EventBody, type EventData, isDelta, type ThreadEvent } from "../events.ts";
import { commandNote, goalNote, grantNote, noticeNote, withNote } from "./agent-notes.ts";
import { markReverted, withChildOf } from "./child-threads.ts";
import type { Goal, Thread, ThreadSettings, Turn } from "./thread.ts";
import { onDelta, withItem, withPlan } from "./thread-items.ts";
import type { ThreadState } from "./thread-state.ts";
import { type Cost, totalTokens } from "./usage.ts";

/** The state after one more event. Pure; an event that was applied before changes nothing. */
export function reduceThread(state: ThreadState, event: ThreadEvent): ThreadState {
  if (event.seq !== undefined && event.seq <= state.seq) return state;
  const next = isDelta(event) ? onDelta(state, event) : onEvent(state, event, event.at);
  return event.seq === undefined ? next : { ...next, seq: event.seq };
}

type Whole = Exclude<EventBody, DeltaBody>;

function onEvent(state: ThreadState, event: Whole, at: number): ThreadState {
  switch (event.type) {
    case "thread/started":
      return withSummary({ ...state, thread: event.data.thread, settings: event.data.settings });
    case "thread/settings/updated":
      return withSettings(state, event.data.settings);
    case "thread/name/updated":
      return withThread(state, { name: event.data.name });
    case "thread/commands/updated":
      return { ...state, agentCommands: { agent: event.data.agent, commands: event.data.commands } };
    case "thread/goal/updated":
      return onGoal(state, event.data.goal);
    case "thread/goal/cleared":
      return { ...state, goal: undefined };
    case "thread/archived":
      return withThread(state, { archived: true });
    case "thread/unarchived":
      return withThread(state, { archived: false });
    case "thread/status/changed":
      return withThread(state, { status: event.data.status });
    case "thread/session/updated":
      return onSession(state, event.data);
    case "thread/reverted":
      return onReverted(state, new Set(event.data.turnIds));
    case "thread/revert/undone":
      return onRevertUndone(state, event.data.turns);
    case "thread/queue/changed":
      return { ...state, queue: event.data.queue };
    case "thread/tokenUsage/updated":
      return {
        ...withCost(state, event.data.cost),
        usage: event.data.usage,
        // A sub-agent has a context of its own.
        ...(event.data.parentItemId === undefined
          ? { lastUsage: event.data.last, usageTurnId: event.data.turnId }
          : {}),
        modelContextWindow: event.data.modelContextWindow ?? state.modelContextWindow,
        goal: withUsage(state.goal, { tokensUsed: totalTokens(event.data.last) }),
      };
    case "turn/started":
      return onTurnStarted(state, event.data.turn, at);
    case "turn/completed":
      return onTurnCompleted(state, event.data.turn, at);
    case "item/started":
      return {
        ...withItem(withChildThread(state, event.data, at), event.data.turnId, event.data.item),
        openItemIds: opened(state, event.data.item.id),
      };
    case "item/completed":
      return {
        ...withItem(withChildThread(state, event.data, at), event.data.turnId, event.data.item),
        openItemIds: without(state, event.data.item.id),
      };
    case "approval/requested":
      return withStatus({ ...state, approvals: withOne(state.approvals, event.data.approval) });
    case "approval/resolved":
      return withStatus(onApprovalResolved(state, event.data.approvalId, event.data.resolution, at));
    case "grant/changed":
      return onGrant(state, event.data);
    case "question/requested":
      return withStatus({ ...state, questions: withOne(state.questions, event.data.request) });
    case "question/resolved":
      return withStatus({
        ...state,
        questions: state.questions.filter((question) => question.id !== event.data.questionId),
      });
    case "tool/requested":
      return { ...state, toolCalls: withOne(state.toolCalls, event.data.request) };
    case "tool/resolved":
      return { ...state, toolCalls: state.toolCalls.filter(({ id }) => id !== event.data.callId) };
    case "turn/plan/updated":
      return withPlan(state, event.data.turnId, event.data.plan);
    case "turn/diff/updated":
    case "item/mcpToolCall/progress":
    case "item/fileChange/patchUpdated":
    case "thread/deleted":
    case "thread/closed":
    case "error":
    case "warning":
    case "model/rerouted":
    case "config/updated":
    case "account/login/completed":
    case "account/updated":
    case "account/limits":
    case "task/event":
    case "extension/notified":
      return state;
  }
}

/** The agent that a model id names. */
export function agentOfModel(model: string): string {
  return model.split("/")[0] ?? model;
}

/** A call that starts a sub-agent adds a thread to those of the sub-agents, and its end changes it. */
function withChildThread(state: ThreadState, data: EventData<"item/started">, at: number): ThreadState {
  const childThreads = withChildOf(data, state.thread.childThreads, at);
  return childThreads === undefined ? state : withThread(state, { childThreads });
}

function withRevertedChildren(
  state: ThreadState,
  turnIds: ReadonlySet<string>,
  reverted: boolean,
): ThreadState {
  const { childThreads } = state.thread;
  if (childThreads === undefined) return state;
  return withThread(state, { childThreads: markReverted(childThreads, turnIds, reverted) });
}

function withThread(state: ThreadState, change: Partial<Thread>): ThreadState {
  return { ...state, thread: { ...state.thread, ...change } };
}

/** An empty id marks a session that no longer matches the conversation. */
function onSession(
  state: ThreadState,
  { agent, nativeId: id, cost }: EventData<"thread/session/updated">,
): ThreadState {
  const nativeIds = { ...state.nativeIds, [agent]: id };
  const { [agent]: earlier, ...costs } = state.nativeCosts;
  const known = cost ?? (state.nativeIds[agent] === id ? earlier : undefined);
  const nativeCosts = known === undefined ? costs : { ...costs, [agent]: known };
  const { nativeSession: _ended, ...thread } = state.thread;
  return {
    ...state,
    nativeIds,
    nativeCosts,
    thread: id === "" ? thread : { ...thread, nativeSession: { agent, id } },
  };
}

function withSettings(state: ThreadState, settings: ThreadSettings): ThreadState {
  const modelProvider = settings.modelProvider ?? agentOfModel(settings.model);
  const { budget: _budget, taskId: _task, ...before } = state.thread;
  const thread = { ...before, model: settings.model, cwd: settings.cwd, modelProvider };
  return withSummary({ ...state, thread, settings });
}

/** Adds the summary of the settings that lists of threads show. */
function withSummary(state: ThreadState): ThreadState {
  const { budget, task } = state.settings;
  return withThread(state, {
    ...(budget === undefined ? {} : { budget }),
    ...(task === undefined ? {} : { taskId: task.taskId }),
  });
}

function withCost(state: ThreadState, cost: Cost | undefined): ThreadState {
  return cost === undefined ? state : { ...withThread(state, { cost }), cost };
}

/** Derives the status from what is open. */
function withStatus(state: ThreadState): ThreadState {
  if (state.activeTurnId === undefined) return withThread(state, { status: { type: "idle" } });
  const activeFlags: NonNullable<Thread["status"]["activeFlags"]> = [];
  if (state.approvals.length > 0) activeFlags.push("waitingOnApproval");
  if (state.questions.length > 0) activeFlags.push("waitingOnUserInput");
  return withThread(state, { status: { type: "active", activeFlags } });
}

/** A request that is repeated, as for a client that attaches later, is still one request. */
function withOne<Open extends { readonly id: string }>(open: readonly Open[], one: Open): readonly Open[] {
  return [...open.filter(({ id }) => id !== one.id), one];
}

function opened(state: ThreadState, itemId: string): readonly string[] {
  return state.openItemIds.includes(itemId) ? state.openItemIds : [...state.openItemIds, itemId];
}

function without(state: ThreadState, itemId: string): readonly string[] {
  return state.openItemIds.filter((other) => other !== itemId);
}

/** Maximum number of remembered approvals without an answer, and of unused grants for one time. */
const MAX_LAPSED = 8;
const MAX_ONCE = 8;

const IS_ANSWER: Readonly<Record<ResolvedBy, boolean>> = {
  ...{ client: true, rule: true },
  ...{ timeout: false, interrupt: false, turnEnded: false, serverStopped: false },
};

function onApprovalResolved(
  state: ThreadState,
  approvalId: string,
  { decision, by }: Resolution,
  at: number,
): ThreadState {
  const approval = state.approvals.find((open) => open.id === approvalId);
  if (approval === undefined) return state;
  const approvals = state.approvals.filter((open) => open.id !== approvalId);
  const lapsed = IS_ANSWER[by] ? state.lapsedApprovals : withOne(state.lapsedApprovals, approval);
  // What is allowed for always is a rule, which is stored elsewhere.
  const made = decision.scope === "session" ? grantsMadeBy(approval, decision, at) : [];
  return {
    ...state,
    approvals,
    lapsedApprovals: lapsed.slice(-MAX_LAPSED),
    grants: made.reduce(withOne, state.grants),
  };
}

/** A grant for one time: the agent is informed of it in its next turn, unless it was used by then. */
function onGrant(state: ThreadState, { grant, status, approvalId }: EventData<"grant/changed">): ThreadState {
  const note = grantNote(grant);
  const others = state.grants.filter(({ id }) => id !== grant.id);
  const agentNotes = state.agentNotes.filter((other) => other !== note);
  if (status === "used") return { ...state, grants: others, agentNotes };
  const once = others.filter(({ scope }) => scope === "once").slice(1 - MAX_ONCE);
  return {
    ...state,
    grants: [...others.filter(({ scope }) => scope !== "once"), ...once, grant],
    lapsedApprovals: state.lapsedApprovals.filter(({ id }) => id !== approvalId),
    agentNotes: withNote(agentNotes, note),
  };
}

function onTurnStarted(state: ThreadState, turn: Turn, at: number): ThreadState {
  const known = state.turns.filter((other) => other.id !== turn.id);
  const isAgentTurn =
    turn.kind !== "shell" && turn.kind !== "injected" && turn._meta?.startedBy === undefined;
  const agentNotes = isAgentTurn ? [] : state.agentNotes;
  const started = { ...state, turns: [...known, turn], activeTurnId: turn.id, openItemIds: [], agentNotes };
  return withStatus(withOutcome(withThread(started, { updatedAt: Math.floor(at / 1000) }), turn));
}

function onTurnCompleted(state: ThreadState, turn: Turn, at: number): ThreadState {
  const turns = state.turns.map((known) => (known.id === turn.id ? completedTurn(known, turn) : known));
  const ended: ThreadState = {
    ...withWork(state, turn),
    turns,
    activeTurnId: state.activeTurnId === turn.id ? undefined : state.activeTurnId,
    openItemIds: state.activeTurnId === turn.id ? [] : state.openItemIds,
    approvals: state.approvals.filter((approval) => approval.turnId !== turn.id),
    questions: state.questions.filter((question) => question.turnId !== turn.id),
    toolCalls: state.toolCalls.filter((call) => call.turnId !== turn.id),
  };
  return withStatus(withOutcome(withThread(ended, { updatedAt: Math.floor(at / 1000) }), turn));
}

/** Lists the thread as failed if its latest turn has failed, with the usage limit if that is why. */
function withOutcome(state: ThreadState, latest: Turn | undefined): ThreadState {
  const { lastTurnFailed: _failed, usageLimit: _limit, ...thread } = state.thread;
  if (latest?.status !== "failed") return { ...state, thread };
  const usageLimit = latest.error?.limit;
  const why = usageLimit === undefined ? {} : { usageLimit };
  return { ...state, thread: { ...thread, lastTurnFailed: true, ...why } };
}

/** A repeated event is counted once. */
function withWork(state: ThreadState, turn: Turn): ThreadState {
  const known = state.turns.find(({ id }) => id === turn.id);
  if (known?.status !== "inProgress") return state;
  // No agent has seen it: the next one gets it as a turn that it missed.
  if (turn.kind === "injected") return { ...state, endedTurns: state.endedTurns + 1 };
  const worked = Math.max(0, (turn.durationMs ?? 0) - (turn.waitedMs ?? 0));
  const agent = agentOfModel(state.settings.model);
  const note = turn.kind === "shell" ? commandNote(completedTurn(known, turn)) : noticeNote(turn);
  return {
    ...state,
    endedTurns: state.endedTurns + 1,
    workedMs: state.workedMs + worked,
    lastTurns: { ...state.lastTurns, [agent]: turn.id },
    lastAgent: agent,
    goal: withUsage(state.goal, { timeUsedSeconds: worked / 1000 }),
    agentNotes: withNote(state.agentNotes, note),
  };
}

/** An agent is informed of a goal that is new or has changed. */
function onGoal(state: ThreadState, goal: Goal): ThreadState {
  const isNew = goal.objective !== state.goal?.objective || goal.status !== state.goal.status;
  return { ...state, goal, agentNotes: withNote(state.agentNotes, isNew ? goalNote(goal) : "") };
}

/** A goal with more usage; one that is not active uses nothing. */
function withUsage(
  goal: Goal | undefined,
  { tokensUsed = 0, timeUsedSeconds = 0 }: { tokensUsed?: number; timeUsedSeconds?: number },
): Goal | undefined {
  if (goal?.status !== "active") return goal;
  return {
    ...goal,
    tokensUsed: goal.tokensUsed + tokensUsed,
    timeUsedSeconds: goal.timeUsedSeconds + timeUsedSeconds,
  };
}

/** A completed turn may come without its items; then it has those that were sent one by one. */
function completedTurn(known: Turn, completed: Turn): Turn {
  return completed.itemsView === "notLoaded"
    ? { ...completed, items: known.items, itemsView: known.itemsView }
    : completed;
}

function onReverted(state: ThreadState, gone: ReadonlySet<string>): ThreadState {
  const turns = state.turns.filter((turn) => !gone.has(turn.id));
  return withOutcome({ ...withRevertedChildren(state, gone, true), turns }, turns.at(-1));
}

/** They were the last turns, and none has started since. */
function onRevertUndone(state: ThreadState, back: readonly Turn[]): ThreadState {
  const ids = new Set(back.map((turn) => turn.id));
  const turns = [...state.turns.filter((turn) => !ids.has(turn.id)), ...back];
  return withOutcome({ ...withRevertedChildren(state, ids, false), turns }, turns.at(-1));
}
