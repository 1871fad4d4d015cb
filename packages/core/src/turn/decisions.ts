import {
  type EventBody,
  FlintError,
  LIMITS,
  mintId,
  type QueuedInput,
  type ReviewTarget,
  type ThreadItem,
  type ThreadSettings,
  type ThreadState,
  type Turn,
  type TurnKind,
  textInput,
  type UserInput,
} from "@flint/protocol";
import { rejectIfExhausted } from "../budget/limits.ts";
import { rejectBeyondLocks, type SettingsLocks } from "../settings/settings-locks.ts";

/** A request for a new turn. */
export interface NewTurn {
  readonly kind: TurnKind;
  readonly input: readonly UserInput[];
  readonly review?: ReviewTarget | undefined;
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  /** The sender of the input. */
  readonly sender?: Sender | undefined;
  /** The reason the agent initiated it; then there is no input. */
  readonly agentInitiated?: string | undefined;
  /** Set for a turn of a pursued goal: one that continues the work, or one that checks it. */
  readonly forGoal?: "prompt" | "check" | undefined;
  /** The settings from this turn on, if they change with it. */
  readonly settings?: ThreadSettings | undefined;
}

/** A turn to start once its events were sent: its id, and what the agent gets for it. */
export interface StartedTurn {
  readonly turnId: string;
  readonly kind: TurnKind;
  readonly input: readonly UserInput[];
  readonly review: ReviewTarget | undefined;
  readonly outputSchema: Readonly<Record<string, unknown>> | undefined;
  readonly agentInitiated?: string | undefined;
}

/** A decided turn: the events to store, and what to run once they were sent. */
export interface DecidedTurn {
  readonly turn: Turn;
  readonly events: readonly EventBody[];
  readonly started: StartedTurn;
}

/**
 * Decides on a new turn. Throws while another one is running, when the thread's budget is used up, and when its
 * settings, which may be older than the locks, go beyond what is locked.
 */
export function decideTurn(
  state: ThreadState,
  request: NewTurn,
  now: number,
  locks?: SettingsLocks,
): DecidedTurn {
  const settings = request.settings ?? state.settings;
  rejectIfActive(state);
  rejectBeyondLocks(settings, locks);
  rejectIfExhausted(state, settings.budget);
  const threadId = state.thread.id;
  const { kind, review, outputSchema, agentInitiated } = request;
  const why = startedBy(request);
  const turn: Turn = { id: mintId(now), status: "inProgress", items: [], kind, startedAtMs: now, ...why };
  const events: EventBody[] = [{ type: "turn/started", data: { threadId, turn } }];
  for (const item of firstItems(request)) events.push(...itemEvents(threadId, turn.id, item));
  const input = review === undefined ? inputWithNotes(state, request) : [textInput(reviewPrompt(review))];
  return { turn, events, started: { turnId: turn.id, kind, input, review, outputSchema, agentInitiated } };
}

/** Returns the reason a turn began that no user started. */
function startedBy({ agentInitiated, forGoal }: NewTurn): Pick<Turn, "_meta"> {
  if (agentInitiated !== undefined) return { _meta: { startedBy: "agent", reason: agentInitiated } };
  if (forGoal === undefined) return {};
  const reason = forGoal === "check" ? "Checks whether the goal is reached" : "Continues towards the goal";
  return { _meta: { startedBy: "goal", reason, ...(forGoal === "check" ? { goalCheck: true } : {}) } };
}

/** Decides on a turn for a queued input, which leaves the queue with it. */
export function decideQueuedTurn(
  state: ThreadState,
  next: QueuedInput,
  now: number,
  locks?: SettingsLocks,
): DecidedTurn {
  const request = { kind: "prompt", input: next.input, sender: senderOf(next) } as const;
  const decided = decideTurn(state, request, now, locks);
  return { ...decided, events: [queueEvent(state, dequeue(state.queue, next.id)), ...decided.events] };
}

/** A message that a client adds to the history. */
export interface InjectedMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
}

/** Decides on a turn that consists of given messages and is over at once. Throws while another one is running. */
export function decideInjected(
  state: ThreadState,
  messages: readonly InjectedMessage[],
  now: number,
): { readonly turn: Turn; readonly events: EventBody[] } {
  rejectIfActive(state);
  const size = messages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  if (size > LIMITS.injected) {
    const message = `The messages have ${size} bytes; at most ${LIMITS.injected} can be added at once, because most agents get them with their next input. Shorten them, or send them with turn/start.`;
    throw new FlintError("invalidParams", message, { field: "messages", limit: LIMITS.injected });
  }
  const threadId = state.thread.id;
  const turn: Turn = { id: mintId(now), status: "inProgress", items: [], kind: "injected", startedAtMs: now };
  const items = messages.map(
    ({ role, text }): ThreadItem =>
      role === "user" ? userMessage([textInput(text)]) : { type: "agentMessage", id: mintId(), text },
  );
  const ended: Turn = { ...turn, status: "completed", items, completedAtMs: now, durationMs: 0 };
  const events: EventBody[] = [
    { type: "turn/started", data: { threadId, turn } },
    ...items.flatMap((item) => itemEvents(threadId, turn.id, item)),
    { type: "turn/completed", data: { threadId, turn: ended } },
  ];
  return { turn: ended, events };
}

/** Throws `turnInProgress`, with the ways out, while a turn is running. */
export function rejectIfActive({ thread, activeTurnId }: ThreadState): void {
  if (activeTurnId === undefined) return;
  const message = `Thread ${thread.id} is busy with turn ${activeTurnId}. Wait for it, interrupt it, or send the input with delivery "steer" or "queue".`;
  throw new FlintError("turnInProgress", message, { activeTurnId });
}

/** The id of the running turn. Throws `notRunning` if there is none, or another than expected. */
export function runningTurnId({ thread, activeTurnId }: ThreadState, expected?: string): string {
  if (activeTurnId === undefined) {
    throw new FlintError("notRunning", `Thread ${thread.id} has no running turn.`, { threadId: thread.id });
  }
  if (expected !== undefined && expected !== activeTurnId) {
    const message = `Turn ${expected} is not running; the running one is ${activeTurnId}.`;
    throw new FlintError("notRunning", message, { activeTurnId });
  }
  return activeTurnId;
}

/** The sender of an input: the id that the client gave it, and the client's own name. */
export type Sender = Pick<QueuedInput, "clientId" | "client">;

/** The sender alone, of something that names one; only what is known. */
export function senderOf({
  clientId,
  client,
}: {
  clientId?: string | undefined;
  client?: string | undefined;
}): Sender {
  return {
    ...(clientId === undefined ? {} : { clientId }),
    ...(client === undefined ? {} : { client }),
  };
}

/** The item for the user's input. */
export function userMessage(input: readonly UserInput[], sender: Sender = {}): ThreadItem {
  return { type: "userMessage", id: mintId(), content: [...input], ...sender };
}

/** The events of an item that is complete from the start. */
export function itemEvents(threadId: string, turnId: string, item: ThreadItem): EventBody[] {
  const data = { threadId, turnId, item };
  return [
    { type: "item/started", data },
    { type: "item/completed", data },
  ];
}

/** The settings event of a thread, if the settings changed. */
export function settingsEvents(state: ThreadState, settings: ThreadSettings): EventBody[] {
  if (JSON.stringify(settings) === JSON.stringify(state.settings)) return [];
  return [{ type: "thread/settings/updated", data: { threadId: state.thread.id, settings } }];
}

/** The event of a changed queue. */
export function queueEvent(state: ThreadState, queue: QueuedInput[]): EventBody {
  return { type: "thread/queue/changed", data: { threadId: state.thread.id, queue } };
}

/** The first items of a turn: the user's message, or the start of a review. */
function firstItems({ kind, review, input, sender, agentInitiated }: NewTurn): ThreadItem[] {
  if (agentInitiated !== undefined) return [];
  if (review !== undefined) return [{ type: "enteredReviewMode", id: mintId(), review: reviewTitle(review) }];
  return kind === "compact" || kind === "shell" ? [] : [userMessage(input, sender)];
}

/** The user's input, after notes on what happened since the agent's last turn. */
function inputWithNotes(
  { agentNotes }: ThreadState,
  { kind, input, agentInitiated }: NewTurn,
): readonly UserInput[] {
  if (agentInitiated !== undefined) return [];
  return kind !== "prompt" || agentNotes.length === 0
    ? input
    : [textInput(agentNotes.join("\n\n")), ...input];
}

/** The title of a review, in one line. */
function reviewTitle(target: ReviewTarget): string {
  switch (target.type) {
    case "uncommittedChanges":
      return "the uncommitted changes";
    case "baseBranch":
      return `the changes against ${target.branch}`;
    case "commit":
      return target.title === undefined ? `commit ${target.sha}` : `commit ${target.sha} (${target.title})`;
    case "custom":
      return target.instructions;
  }
}

/** The prompt for a review. */
function reviewPrompt(target: ReviewTarget): string {
  const task = target.type === "custom" ? target.instructions : `Review ${reviewTitle(target)}.`;
  return [
    task,
    "Read the changes and the code around them. Change nothing.",
    "Report each problem with its file and line, its severity, and how to fix it; the most severe first.",
    "If nothing is wrong, say so in one sentence.",
  ].join("\n");
}

type Queue = readonly QueuedInput[];

/** Appends an input to the queue. Throws `overloaded` if it is full. */
export function enqueue(queue: Queue, input: QueuedInput): QueuedInput[] {
  if (queue.length >= LIMITS.queuedInputs) {
    const message = `The queue of the thread is full (${LIMITS.queuedInputs} inputs). Delete one first.`;
    throw new FlintError("overloaded", message, { limit: LIMITS.queuedInputs });
  }
  return [...queue, input];
}

/** Returns an input of the queue. Throws `queuedInputNotFound`, with the ids that there are. */
export function findQueued(queue: Queue, id: string): QueuedInput {
  const found = queue.find((input) => input.id === id);
  if (found !== undefined) return found;
  const message = `Input ${id} is not queued; it may have started already.`;
  throw new FlintError("queuedInputNotFound", message, { queuedInputIds: queue.map((input) => input.id) });
}

/** Removes an input from the queue. */
export function dequeue(queue: Queue, id: string): QueuedInput[] {
  findQueued(queue, id);
  return queue.filter((input) => input.id !== id);
}

/** Replaces the content of an input in the queue. */
export function replaceQueued(queue: Queue, id: string, input: QueuedInput["input"]): QueuedInput[] {
  findQueued(queue, id);
  return queue.map((queued) => (queued.id === id ? { ...queued, input } : queued));
}

/** Reorders the queue; `ids` must name each input once. */
export function reorder(queue: Queue, ids: readonly string[]): QueuedInput[] {
  const unique = new Set(ids);
  if (unique.size !== ids.length || ids.length !== queue.length) {
    const message = `Name each of the ${queue.length} inputs of the queue exactly once.`;
    throw new FlintError("invalidParams", message, { queuedInputIds: queue.map((input) => input.id) });
  }
  return ids.map((id) => findQueued(queue, id));
}
