import {
  type Approval,
  grantKeys,
  type QuestionRequest,
  type Resolution,
  type RuleSuggestion,
} from "../approval/approval.ts";
import { type DeltaBody, type EventBody, isDelta, type ThreadEvent } from "../events.ts";
import { commandNote, goalNote, noticeNote, withNote } from "./agent-notes.ts";
import type { ToolCallRequest } from "./client-tool.ts";
import type { QueuedInput } from "./input.ts";
import type { Goal, Thread, ThreadSettings, Turn } from "./thread.ts";
import { onDelta, withItem } from "./thread-items.ts";
import { type Cost, NO_USAGE, type TokenUsage, totalTokens } from "./usage.ts";

/** What a thread looks like after its events: the one picture that server, SDK and screens share. */
export interface ThreadState {
  readonly seq: number;
  readonly thread: Thread;
  readonly settings: ThreadSettings;
  /** In order. The server keeps only the latest few in memory; a client may keep all. */
  readonly turns: readonly Turn[];
  readonly activeTurnId: string | undefined;
  /** Items of the running turn that have started and not ended. */
  readonly openItemIds: readonly string[];
  readonly approvals: readonly Approval[];
  readonly questions: readonly QuestionRequest[];
  /** The calls that a client has to run. */
  readonly toolCalls: readonly ToolCallRequest[];
  readonly queue: readonly QueuedInput[];
  readonly usage: TokenUsage;
  readonly lastUsage: TokenUsage;
  /** The turn that was last told to have used anything. */
  readonly usageTurnId: string | undefined;
  readonly modelContextWindow: number | undefined;
  readonly cost: Cost | undefined;
  /** What was allowed for the rest of the thread, as `grantKeys` names it. */
  readonly grants: readonly string[];
  /** The suggestions that were taken for the rest of the thread. */
  readonly rules: readonly RuleSuggestion[];
  /** How many turns have ended, also such as were dropped again, and how long they worked without waiting for a person. */
  readonly endedTurns: number;
  readonly workedMs: number;
  /** The agents' own session ids, by agent. */
  readonly nativeIds: Readonly<Record<string, string>>;
  /** The last turn that each agent ended, by agent; what came after it the agent does not know. */
  readonly lastTurns: Readonly<Record<string, string>>;
  /** The agent of the latest turn that ended. */
  readonly lastAgent: string | undefined;
  readonly goal: Goal | undefined;
  /** What happened since the latest turn of an agent, and what the next one is told of it. */
  readonly unheard: readonly string[];
}

/** A thread nobody has told anything about yet; its first event replaces it. */
export function emptyThread(threadId: string): ThreadState {
  const thread: Thread = {
    id: threadId,
    preview: "",
    modelProvider: "",
    model: "",
    cwd: "/",
    createdAt: 0,
    updatedAt: 0,
    archived: false,
    ephemeral: false,
    status: { type: "idle" },
  };
  return {
    seq: 0,
    thread,
    settings: {
      model: "",
      cwd: "/",
      approvalPolicy: "always",
      sandboxPolicy: { type: "readOnly" },
      config: {},
    },
    turns: [],
    activeTurnId: undefined,
    openItemIds: [],
    approvals: [],
    questions: [],
    toolCalls: [],
    queue: [],
    usage: NO_USAGE,
    lastUsage: NO_USAGE,
    usageTurnId: undefined,
    modelContextWindow: undefined,
    cost: undefined,
    grants: [],
    rules: [],
    endedTurns: 0,
    workedMs: 0,
    nativeIds: {},
    lastTurns: {},
    lastAgent: undefined,
    goal: undefined,
    unheard: [],
  };
}

/** The state after one more event. Pure; an event that is already contained changes nothing but may be repeated. */
export function reduceThread(state: ThreadState, event: ThreadEvent): ThreadState {
  if (event.seq !== undefined && event.seq <= state.seq) return state;
  const next = isDelta(event) ? onDelta(state, event) : onEvent(state, event, event.at);
  return event.seq === undefined ? next : { ...next, seq: event.seq };
}

type Whole = Exclude<EventBody, DeltaBody>;

function onEvent(state: ThreadState, event: Whole, at: number): ThreadState {
  switch (event.type) {
    case "thread/started":
      return { ...state, thread: event.data.thread, settings: event.data.settings };
    case "thread/settings/updated":
      return withSettings(state, event.data.settings);
    case "thread/name/updated":
      return withThread(state, { name: event.data.name });
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
      return { ...state, nativeIds: { ...state.nativeIds, [event.data.agent]: event.data.nativeId } };
    case "thread/reverted":
      return onReverted(state, new Set(event.data.turnIds));
    case "thread/revert/undone":
      return onRevertUndone(state, event.data.turns);
    case "thread/queue/changed":
      return { ...state, queue: event.data.queue };
    case "thread/tokenUsage/updated":
      return {
        ...state,
        usage: event.data.usage,
        lastUsage: event.data.last,
        usageTurnId: event.data.turnId,
        modelContextWindow: event.data.modelContextWindow ?? state.modelContextWindow,
        cost: event.data.cost ?? state.cost,
        goal: withSpent(state.goal, { tokensUsed: totalTokens(event.data.last) }),
      };
    case "turn/started":
      return onTurnStarted(state, event.data.turn, at);
    case "turn/completed":
      return onTurnCompleted(state, event.data.turn, at);
    case "item/started":
      return {
        ...withItem(state, event.data.turnId, event.data.item),
        openItemIds: opened(state, event.data.item.id),
      };
    case "item/completed":
      return {
        ...withItem(state, event.data.turnId, event.data.item),
        openItemIds: without(state, event.data.item.id),
      };
    case "approval/requested":
      return withStatus({ ...state, approvals: withOne(state.approvals, event.data.approval) });
    case "approval/resolved":
      return withStatus(onApprovalResolved(state, event.data.approvalId, event.data.resolution));
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
    case "turn/diff/updated":
    case "item/mcpToolCall/progress":
    case "thread/deleted":
    case "thread/closed":
    case "error":
    case "warning":
    case "model/rerouted":
    case "config/updated":
    case "extension/notified":
      return state;
  }
}

/** The agent that a model id names. */
export function agentOfModel(model: string): string {
  return model.split("/")[0] ?? model;
}

function withThread(state: ThreadState, change: Partial<Thread>): ThreadState {
  return { ...state, thread: { ...state.thread, ...change } };
}

function withSettings(state: ThreadState, settings: ThreadSettings): ThreadState {
  const modelProvider = agentOfModel(settings.model);
  return { ...withThread(state, { model: settings.model, cwd: settings.cwd, modelProvider }), settings };
}

/** The status follows from what is open, so it never has to be kept in step by hand. */
function withStatus(state: ThreadState): ThreadState {
  if (state.activeTurnId === undefined) return withThread(state, { status: { type: "idle" } });
  const activeFlags: NonNullable<Thread["status"]["activeFlags"]> = [];
  if (state.approvals.length > 0) activeFlags.push("waitingOnApproval");
  if (state.questions.length > 0) activeFlags.push("waitingOnUserInput");
  return withThread(state, { status: { type: "active", activeFlags } });
}

/** What is asked again, as a late joiner is, is still one question. */
function withOne<Open extends { readonly id: string }>(open: readonly Open[], one: Open): readonly Open[] {
  return [...open.filter(({ id }) => id !== one.id), one];
}

function opened(state: ThreadState, itemId: string): readonly string[] {
  return state.openItemIds.includes(itemId) ? state.openItemIds : [...state.openItemIds, itemId];
}

function without(state: ThreadState, itemId: string): readonly string[] {
  return state.openItemIds.filter((other) => other !== itemId);
}

function onApprovalResolved(state: ThreadState, approvalId: string, resolution: Resolution): ThreadState {
  const approval = state.approvals.find((open) => open.id === approvalId);
  const approvals = state.approvals.filter((open) => open.id !== approvalId);
  const { outcome, scope, rule } = resolution.decision;
  if (approval === undefined || outcome !== "allow" || scope !== "session") return { ...state, approvals };
  const taken = approval.suggestions?.find((suggestion) => suggestion.id === rule);
  if (taken !== undefined) return { ...state, approvals, rules: [...state.rules, taken] };
  return { ...state, approvals, grants: [...new Set([...state.grants, ...grantKeys(approval.action)])] };
}

function onTurnStarted(state: ThreadState, turn: Turn, at: number): ThreadState {
  const known = state.turns.filter((other) => other.id !== turn.id);
  const isTold = turn.kind !== "shell" && turn._meta?.startedBy === undefined;
  const unheard = isTold ? [] : state.unheard;
  const started = { ...state, turns: [...known, turn], activeTurnId: turn.id, openItemIds: [], unheard };
  return withStatus(withThread(started, { updatedAt: Math.floor(at / 1000) }));
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
  return withStatus(withThread(ended, { updatedAt: Math.floor(at / 1000) }));
}

/** What is told twice is counted once. */
function withWork(state: ThreadState, turn: Turn): ThreadState {
  const known = state.turns.find(({ id }) => id === turn.id);
  if (known?.status !== "inProgress") return state;
  const worked = Math.max(0, (turn.durationMs ?? 0) - (turn.waitedMs ?? 0));
  const agent = agentOfModel(state.settings.model);
  const note = turn.kind === "shell" ? commandNote(completedTurn(known, turn)) : noticeNote(turn);
  return {
    ...state,
    endedTurns: state.endedTurns + 1,
    workedMs: state.workedMs + worked,
    lastTurns: { ...state.lastTurns, [agent]: turn.id },
    lastAgent: agent,
    goal: withSpent(state.goal, { timeUsedSeconds: worked / 1000 }),
    unheard: withNote(state.unheard, note),
  };
}

/** An agent hears of a goal that is new or reads otherwise than before. */
function onGoal(state: ThreadState, goal: Goal): ThreadState {
  const isNew = goal.objective !== state.goal?.objective || goal.status !== state.goal.status;
  return { ...state, goal, unheard: withNote(state.unheard, isNew ? goalNote(goal) : "") };
}

/** A goal with what more went into it; one that is not being worked on takes nothing. */
function withSpent(
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

/** A completed turn may come without its items; then the ones that came one by one are its items. */
function completedTurn(known: Turn, completed: Turn): Turn {
  return completed.itemsView === "notLoaded"
    ? { ...completed, items: known.items, itemsView: known.itemsView }
    : completed;
}

function onReverted(state: ThreadState, gone: ReadonlySet<string>): ThreadState {
  return { ...state, turns: state.turns.filter((turn) => !gone.has(turn.id)) };
}

/** They were the last ones, and no other has begun since. */
function onRevertUndone(state: ThreadState, back: readonly Turn[]): ThreadState {
  const ids = new Set(back.map((turn) => turn.id));
  return { ...state, turns: [...state.turns.filter((turn) => !ids.has(turn.id)), ...back] };
}
