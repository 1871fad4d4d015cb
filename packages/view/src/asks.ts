import type { Approval, QuestionRequest, ThreadState, UserQuestion } from "@flint/protocol";
import { type ApprovalPrompt, approvalPrompt } from "./approval.ts";

/** The thread or task in which something waits for the user. */
interface AskPlace {
  readonly id: string;
  readonly threadId: string;
  /** The name of the thread, or what it began with. */
  readonly thread: string;
  readonly agent: string;
  readonly cwd: string;
  readonly turnId: string;
  readonly itemId: string;
  readonly requestedAtMs: number;
  /** Time at which it ends without an answer. */
  readonly expiresAtMs: number;
}

/** Something that waits for the user: an action to approve, or questions to answer. */
export type Ask = AskPlace &
  (
    | { readonly kind: "approval"; readonly prompt: ApprovalPrompt; readonly approval: Approval }
    | {
        readonly kind: "question";
        /** `budget` if a limit was reached and the turn waits whether it may continue. */
        readonly about: "budget" | "agent";
        readonly questions: readonly UserQuestion[];
      }
  );

/** The part of a thread's state that says what waits. */
export type Waiting = Pick<ThreadState, "thread" | "approvals" | "questions">;

const asks = new WeakMap<Approval | QuestionRequest, Ask>();

/** Everything that waits in a thread, oldest first. What is unchanged is the same object as before. */
export function asksOf(state: Waiting): readonly Ask[] {
  return [
    ...state.approvals.map((approval) => memoised(approval, () => approvalAsk(approval, state))),
    ...state.questions.map((request) => memoised(request, () => questionAsk(request, state))),
  ].sort(byAge);
}

/** Everything that waits in several threads, oldest first. */
export function asksOfAll(states: Iterable<Waiting>): readonly Ask[] {
  return [...states].flatMap(asksOf).sort(byAge);
}

function memoised(open: Approval | QuestionRequest, make: () => Ask): Ask {
  const known = asks.get(open);
  if (known !== undefined) return known;
  const ask = make();
  asks.set(open, ask);
  return ask;
}

function byAge(left: Ask, right: Ask): number {
  return left.requestedAtMs - right.requestedAtMs;
}

function approvalAsk(approval: Approval, { thread }: Waiting): Ask {
  const { action, suggestions, agent = thread.modelProvider } = approval;
  return {
    ...placeOf(approval, thread),
    kind: "approval",
    agent,
    itemId: action.itemId,
    prompt: approvalPrompt(action, suggestions),
    approval,
  };
}

/** The id of the question that Flint asks when a limit is reached. */
const BUDGET = "budget";

function questionAsk(request: QuestionRequest, { thread }: Waiting): Ask {
  const { questions, itemId } = request;
  const [first] = questions;
  const about = questions.length === 1 && first?.id === BUDGET ? "budget" : "agent";
  return {
    ...placeOf(request, thread),
    kind: "question",
    agent: thread.modelProvider,
    itemId,
    about,
    questions,
  };
}

function placeOf(
  { id, turnId, requestedAtMs, expiresAtMs }: Approval | QuestionRequest,
  { id: threadId, name, preview, cwd }: Waiting["thread"],
): Omit<AskPlace, "agent" | "itemId"> {
  const thread = name ?? (preview === "" ? threadId : preview);
  return { id, threadId, thread, cwd, turnId, requestedAtMs, expiresAtMs };
}
