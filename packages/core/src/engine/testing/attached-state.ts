import { emptyThread, type Result, type ThreadState } from "@flint/protocol";

/** The state that a client has after it attached. */
export function attachedState(answer: Result<"thread/attach">): ThreadState {
  const { thread, settings, seq, turns, approvals, questions, queue, usage } = answer;
  const active = turns.findLast((turn) => turn.status === "inProgress");
  return {
    ...emptyThread(thread.id),
    ...{ thread, settings, seq, turns, approvals, questions, queue, usage },
    activeTurnId: active?.id,
  };
}
