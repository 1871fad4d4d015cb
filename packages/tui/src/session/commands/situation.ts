import type { ThreadState } from "@flint/protocol";
import type { Situation } from "@flint/view/commands";

/** What is the case in a session, for commands that make sense only then. */
export function situationOf({ state }: { readonly state: ThreadState | undefined }): Situation {
  const isRunning = state?.activeTurnId !== undefined;
  return {
    thread: state !== undefined,
    turns: state !== undefined && state.turns.length > 0,
    idle: !isRunning,
    running: isRunning,
    queued: state !== undefined && state.queue.length > 0,
    waiting: state !== undefined && state.approvals.length + state.questions.length > 0,
  };
}
