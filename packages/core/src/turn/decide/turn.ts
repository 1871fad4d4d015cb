import {
  type EventBody,
  FlintError,
  mintId,
  type QueuedInput,
  type ReviewTarget,
  type ThreadItem,
  type ThreadSettings,
  type ThreadState,
  type Turn,
  type TurnKind,
  type UserInput,
} from "@flint/protocol";
import { refuseIfExhausted } from "../../budget/limits.ts";
import { dequeue } from "./queue.ts";
import { reviewPrompt, reviewTitle } from "./review.ts";

/** What is needed to begin a turn. */
export interface NewTurn {
  readonly kind: TurnKind;
  readonly input: readonly UserInput[];
  readonly review?: ReviewTarget | undefined;
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly clientId?: string | undefined;
  /** Why the agent begins it by itself; then there is no input. */
  readonly agentInitiated?: string | undefined;
  /** What is in force from this turn on, if that changes with it. */
  readonly settings?: ThreadSettings | undefined;
}

/** What an agent is given for a turn. */
export interface StartedTurn {
  readonly turnId: string;
  readonly kind: TurnKind;
  readonly input: readonly UserInput[];
  readonly review: ReviewTarget | undefined;
  readonly outputSchema: Readonly<Record<string, unknown>> | undefined;
  readonly agentInitiated?: string | undefined;
}

/** A turn that is decided: the events that make it true, and what is to be run once they are told. */
export interface DecidedTurn {
  readonly turn: Turn;
  readonly events: readonly EventBody[];
  readonly started: StartedTurn;
}

/** Makes a turn that can be committed. Refuses while another one runs, and when the thread's budget is used up. */
export function decideTurn(state: ThreadState, wanted: NewTurn, now: number): DecidedTurn {
  refuseIfActive(state);
  refuseIfExhausted(state, (wanted.settings ?? state.settings).budget);
  const threadId = state.thread.id;
  const { kind, review, outputSchema, agentInitiated } = wanted;
  const why = agentInitiated === undefined ? {} : { _meta: { startedBy: "agent", reason: agentInitiated } };
  const turn: Turn = { id: mintId(now), status: "inProgress", items: [], kind, startedAtMs: now, ...why };
  const events: EventBody[] = [{ type: "turn/started", data: { threadId, turn } }];
  for (const item of firstItems(wanted)) events.push(...itemEvents(threadId, turn.id, item));
  const input = review === undefined ? heard(state, wanted) : [textInput(reviewPrompt(review))];
  return { turn, events, started: { turnId: turn.id, kind, input, review, outputSchema, agentInitiated } };
}

/** A turn made from an input that waits; it leaves the queue with it. */
export function decideQueuedTurn(state: ThreadState, next: QueuedInput, now: number): DecidedTurn {
  const decided = decideTurn(state, { kind: "prompt", input: next.input, clientId: next.clientId }, now);
  return { ...decided, events: [queueEvent(state, dequeue(state.queue, next.id)), ...decided.events] };
}

/** Throws `turnInProgress` with the way out while a turn runs. */
export function refuseIfActive({ thread, activeTurnId }: ThreadState): void {
  if (activeTurnId === undefined) return;
  const message = `Thread ${thread.id} is busy with turn ${activeTurnId}. Wait for it, interrupt it, or send the input with delivery "steer" or "queue".`;
  throw new FlintError("turnInProgress", message, { activeTurnId });
}

/** The running turn's id, or an error that says there is none, or another one than expected. */
export function runningTurnId({ thread, activeTurnId }: ThreadState, expected?: string): string {
  if (activeTurnId === undefined) {
    throw new FlintError("notRunning", `Thread ${thread.id} runs no turn.`, { threadId: thread.id });
  }
  if (expected !== undefined && expected !== activeTurnId) {
    const message = `Turn ${expected} is not running; the running one is ${activeTurnId}.`;
    throw new FlintError("notRunning", message, { activeTurnId });
  }
  return activeTurnId;
}

/** The item that shows what the user sent. */
export function userMessage(input: readonly UserInput[], clientId?: string): ThreadItem {
  const item: ThreadItem = { type: "userMessage", id: mintId(), content: [...input] };
  return clientId === undefined ? item : { ...item, clientId };
}

/** An item that is complete from the start. */
export function itemEvents(threadId: string, turnId: string, item: ThreadItem): EventBody[] {
  const data = { threadId, turnId, item };
  return [
    { type: "item/started", data },
    { type: "item/completed", data },
  ];
}

/** The settings event for a thread, if the settings really changed. */
export function settingsEvents(state: ThreadState, settings: ThreadSettings): EventBody[] {
  if (JSON.stringify(settings) === JSON.stringify(state.settings)) return [];
  return [{ type: "thread/settings/updated", data: { threadId: state.thread.id, settings } }];
}

/** The event for another queue. */
export function queueEvent(state: ThreadState, queue: QueuedInput[]): EventBody {
  return { type: "thread/queue/changed", data: { threadId: state.thread.id, queue } };
}

/** What stands at the beginning of a turn: the user's message, or the note that a review begins. */
function firstItems({ kind, review, input, clientId, agentInitiated }: NewTurn): ThreadItem[] {
  if (agentInitiated !== undefined) return [];
  if (review !== undefined) return [{ type: "enteredReviewMode", id: mintId(), review: reviewTitle(review) }];
  return kind === "compact" || kind === "shell" ? [] : [userMessage(input, clientId)];
}

/** The user's input, after what happened since the agent last heard of the thread. */
function heard({ unheard }: ThreadState, { kind, input, agentInitiated }: NewTurn): readonly UserInput[] {
  if (agentInitiated !== undefined) return [];
  return kind !== "prompt" || unheard.length === 0 ? input : [textInput(unheard.join("\n\n")), ...input];
}

function textInput(text: string): UserInput {
  return { type: "text", text };
}
