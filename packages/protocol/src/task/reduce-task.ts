import { addCost, addUsage, NO_USAGE } from "../thread/usage.ts";
import { marksAfter } from "./account-marks.ts";
import type {
  RunUsage,
  TaskAnswer,
  TaskAsk,
  TaskEvent,
  TaskEventBody,
  TaskEventData,
} from "./task-events.ts";
import { reviewModeOf } from "./task-spec.ts";
import {
  type AccountMarks,
  currentRound,
  type RoundState,
  type TaskState,
  type TaskUsage,
} from "./task-state.ts";
import { withContests } from "./verdict.ts";

/** The state after one more event; the first has to be `task/added`. An event that was applied before changes nothing. */
export function reduceTask(id: string, state: TaskState | undefined, event: TaskEvent): TaskState {
  if (state === undefined) return firstState(id, event);
  if (event.version <= state.version) return state;
  const accounts = marksAfter(state, event);
  return { ...onEvent(state, event), accounts, version: event.version, updatedAt: event.at };
}

/** The same for all tasks, so that thousands that wait take little memory. */
const NONE: readonly never[] = [];
const UNUSED: TaskUsage = { tokens: NO_USAGE, cost: undefined, seconds: 0, turns: 0 };
const NO_MARKS: AccountMarks = {};

function firstState(id: string, event: TaskEvent): TaskState {
  if (event.type !== "task/added") throw new Error(`The log of task ${id} starts with ${event.type}`);
  const { spec, number, by, key, waiting } = event.data;
  return {
    id,
    version: event.version,
    number,
    spec,
    addedBy: by,
    key,
    addedAt: event.at,
    updatedAt: event.at,
    phase: waiting ? "waiting" : "ready",
    step: "prepare",
    fence: 0,
    run: undefined,
    attempt: 1,
    from: undefined,
    base: undefined,
    folder: undefined,
    rounds: NONE,
    earlierAttempts: NONE,
    findings: NONE,
    executor: 0,
    reviewer: 0,
    executorThread: undefined,
    instructions: NONE,
    suspended: undefined,
    wasWaiting: false,
    ask: undefined,
    answer: undefined,
    usage: UNUSED,
    lostRuns: 0,
    backoffs: 0,
    limitsInRow: 0,
    accounts: NO_MARKS,
    conflicts: 0,
    extraRounds: 0,
    extraBudgets: 0,
    result: undefined,
    mergeAs: undefined,
    merged: undefined,
    error: undefined,
    steers: 0,
  };
}

function onEvent(state: TaskState, event: TaskEventBody): TaskState {
  switch (event.type) {
    case "task/added":
    case "task/logged":
      return state;
    case "task/released":
      return { ...state, phase: "ready" };
    case "attempt/started":
      return withNewAttempt(state, event.data.attempt, event.data.from);
    case "run/leased":
      return { ...state, phase: "running", fence: event.data.fence, run: event.data };
    case "run/released":
      return { ...state, phase: "ready", run: undefined };
    case "run/lost":
      return {
        ...state,
        phase: "ready",
        run: undefined,
        fence: event.data.fence,
        lostRuns: state.lostRuns + 1,
        ...withInterruption(state, event.data.instructions),
      };
    case "run/used":
      return { ...state, usage: withUsage(state.usage, event.data.usage) };
    case "round/prepared":
      return {
        ...state,
        base: event.data.base,
        folder: event.data.folder,
        // A worker that takes over prepares a folder of its own in any step.
        step: state.step === "prepare" ? "execute" : state.step,
      };
    case "round/started":
      return onRoundStarted(state, event.data);
    case "round/turn":
      return onTurn(state, event.data);
    case "round/executed":
      return onExecuted(state, event.data);
    case "round/checked":
      return {
        ...withRound(state, { checks: event.data.results }),
        findings: event.data.findings,
        step: "review",
        // If several judge, all of them judge each round.
        reviewer: reviewModeOf(state.spec) === "first" ? state.reviewer : 0,
      };
    case "round/reviewed":
      return onReviewed(state, event.data);
    case "round/rejected":
      return { ...state, findings: event.data.findings, step: "execute" };
    case "task/fallback":
      return event.data.role === "executor"
        ? { ...state, executor: event.data.index, backoffs: 0 }
        : { ...state, reviewer: event.data.index };
    case "task/suspended":
      return {
        ...state,
        phase: "suspended",
        run: undefined,
        suspended: event.data,
        wasWaiting: state.phase === "waiting" || (state.phase === "suspended" && state.wasWaiting),
        backoffs: state.backoffs + (event.data.reason === "backoff" ? 1 : 0),
        limitsInRow: state.limitsInRow + (event.data.reason === "usageLimit" ? 1 : 0),
        ...withInterruption(state, event.data.instructions),
      };
    case "task/resumed":
      return {
        ...state,
        phase: state.wasWaiting ? "waiting" : "ready",
        suspended: undefined,
        wasWaiting: false,
      };
    case "task/asking":
      return { ...state, phase: "asking", run: undefined, ask: event.data.ask };
    case "task/answered":
      return onAnswered(state, event.data);
    case "task/reviewed":
      return { ...state, phase: "approving", run: undefined, result: event.data };
    case "task/approved":
      return {
        ...state,
        phase: state.run === undefined ? "ready" : "running",
        step: "merge",
        mergeAs: event.data.merge ?? state.mergeAs,
      };
    case "task/rejected":
      return {
        ...state,
        phase: "ready",
        step: "execute",
        findings: event.data.findings,
        extraRounds: withOneMoreRound(state),
      };
    case "merge/conflict":
      return { ...state, step: "execute", findings: event.data.findings, conflicts: state.conflicts + 1 };
    case "task/merged":
      return { ...state, merged: event.data };
    case "task/ended":
      return { ...state, phase: event.data.status, run: undefined, ask: undefined, error: event.data.error };
    case "task/cancelled":
      return { ...state, phase: "cancelled", run: undefined, ask: undefined, suspended: undefined };
    case "task/retried":
      return { ...withNewAttempt(state, state.attempt + 1, event.data.from), phase: "ready" };
    case "task/steered":
      if (event.data.answers === true)
        return event.data.live ? { ...state, instructions: withoutNote(state, event.data.content) } : state;
      return {
        ...state,
        steers: state.steers + 1,
        instructions: event.data.live ? state.instructions : withNote(state, event.data.content),
      };
  }
}

function withNote(state: TaskState, note: string | undefined): readonly string[] {
  return note === undefined || note === "" ? state.instructions : [...state.instructions, note];
}

/** The executor's turn was cut off, as far as the task knows. */
function withInterruption(state: TaskState, note: string | undefined) {
  const { rounds } = note === undefined ? state : withRound(state, { interruption: note });
  return { rounds, instructions: withNote(state, note) };
}

/** Without the last note of these words: a running turn has it. */
function withoutNote({ instructions }: TaskState, note: string): readonly string[] {
  const at = instructions.lastIndexOf(note);
  return at === -1 ? instructions : instructions.toSpliced(at, 1);
}

function withNewAttempt(state: TaskState, attempt: number, from: string | undefined): TaskState {
  const { rounds, folder } = state;
  return {
    ...state,
    step: "prepare",
    attempt,
    from,
    folder: undefined,
    rounds: [],
    earlierAttempts: [...state.earlierAttempts, { attempt: state.attempt, rounds, folder }],
    findings: [],
    executor: 0,
    reviewer: 0,
    executorThread: undefined,
    suspended: undefined,
    wasWaiting: false,
    ask: undefined,
    answer: undefined,
    lostRuns: 0,
    backoffs: 0,
    limitsInRow: 0,
    conflicts: 0,
    extraRounds: 0,
    result: undefined,
    mergeAs: undefined,
    merged: undefined,
    error: undefined,
  };
}

function withRound(state: TaskState, change: Partial<RoundState>): TaskState {
  const last = state.rounds.at(-1);
  return last === undefined
    ? state
    : { ...state, rounds: [...state.rounds.slice(0, -1), { ...last, ...change }] };
}

function onRoundStarted(state: TaskState, data: TaskEventData<"round/started">): TaskState {
  const { fence, instructions } = state;
  const round = { ...data, fence, instructionsRead: instructions.length, checks: [], reviews: [] };
  // A turn that is tried again is the same round.
  const earlier = state.rounds.filter((known) => known.round !== data.round);
  return { ...state, rounds: [...earlier, round] };
}

function onTurn(state: TaskState, { role, turn }: TaskEventData<"round/turn">): TaskState {
  if (role === "reviewer") return withRound(state, { reviewing: turn });
  const known = state.executorThread;
  // A thread that has had a turn keeps it until its next one is known.
  const executorThread = known?.threadId === turn.threadId ? { ...known, ...turn } : turn;
  return { ...withRound(state, { turn }), executorThread };
}

function onExecuted(state: TaskState, data: TaskEventData<"round/executed">): TaskState {
  const { turn, commit, tree, protectedPaths, summary, contested, usage } = data;
  const { instructionsRead, interruption } = currentRound(state) ?? {};
  // A turn that was only thought to be cut off has ended: no later one gets that note.
  const instructions = interruption === undefined ? state.instructions : withoutNote(state, interruption);
  return {
    ...withRound(state, { turn, commit, tree, protectedPaths, summary }),
    executorThread: turn,
    step: "check",
    instructions: instructions.slice(instructionsRead),
    answer: undefined,
    backoffs: 0,
    limitsInRow: 0,
    findings: withContests(state.findings, contested),
    result: { commit, tree },
    usage: withUsage(state.usage, usage),
  };
}

function onReviewed(state: TaskState, data: TaskEventData<"round/reviewed">): TaskState {
  const { reviewer, turn, verdict, note } = data;
  const reviews = [...(state.rounds.at(-1)?.reviews ?? []), { reviewer, turn, verdict, note }];
  return {
    ...withRound(state, { reviewing: undefined, reviews }),
    reviewer: data.next ?? state.reviewer,
    limitsInRow: 0,
    findings: data.findings,
    usage: withUsage(state.usage, data.usage),
  };
}

function onAnswered(state: TaskState, { answer }: TaskEventData<"task/answered">): TaskState {
  const ask = state.ask;
  return {
    ...state,
    phase: "ready",
    ask: undefined,
    answer: ask === undefined || answer.response === undefined ? undefined : { ask, answer },
    instructions: withNote(state, answerNote(ask, answer)),
    findings: state.findings.map((finding) => ({ ...finding, contests: 0 })),
    extraRounds: withOneMoreRound(state),
    extraBudgets: state.extraBudgets + (ask?.reason === "budget" ? 1 : 0),
    lostRuns: 0,
    backoffs: 0,
  };
}

/** The text that passes an answer to the agent that asked, in a later turn, maybe days after the question. */
function answerNote(ask: TaskAsk | undefined, { message, response }: TaskAnswer): string | undefined {
  if (ask?.reason === "question")
    return `You asked:\n${ask.message}\nThe answer is:\n${message ?? "Decide yourself."}`;
  if (ask?.reason !== "approval") return message;
  const decided = response?.outcome === "deny" ? "declined" : "allowed, once";
  const asked = ask.message.replace(/^Approve: /, "");
  return [`You asked for ${asked}. It is ${decided}. Continue with the task.`, message]
    .filter(Boolean)
    .join("\n");
}

/** The user's word allows the round after the current one. */
function withOneMoreRound({ rounds, spec, extraRounds }: TaskState): number {
  const last = rounds.at(-1);
  const next = last === undefined ? 1 : last.tree === undefined ? last.round : last.round + 1;
  return Math.max(extraRounds, next - spec.rounds);
}

function withUsage(usage: TaskUsage, more: RunUsage): TaskUsage {
  return {
    tokens: more.tokens === undefined ? usage.tokens : addUsage(usage.tokens, more.tokens),
    cost: more.cost === undefined ? usage.cost : addCost(usage.cost, more.cost),
    seconds: usage.seconds + more.seconds,
    turns: usage.turns + 1,
  };
}
