import type { CommandContext } from "@flint/view/commands";
import type { SessionContext } from "../context.ts";

/** Returns the conditions that a session meets, for commands that depend on them. */
export function commandContext({ state, turns }: Pick<SessionContext, "state" | "turns">): CommandContext {
  const isRunning = state?.activeTurnId !== undefined;
  return {
    thread: state !== undefined,
    turns: !turns.isComplete || turns.known.length > 0,
    idle: !isRunning,
    running: isRunning,
    queued: state !== undefined && state.queue.length > 0,
    waiting: state !== undefined && state.approvals.length + state.questions.length > 0,
  };
}
