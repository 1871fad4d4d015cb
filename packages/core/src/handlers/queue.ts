import { FlintError, type QueuedInput } from "@flint/protocol";
import type { LiveThread } from "../thread/live-thread.ts";
import { dequeue, findQueued, queueEvent, reorder, replaceQueued, senderOf } from "../turn/decisions.ts";
import type { ThreadContext, ThreadHandlers, ThreadOutcome } from "./handler.ts";
import { checkInput, messageEvents } from "./turn.ts";

/** The queued inputs of a thread. */
export const queueHandlers: Pick<
  ThreadHandlers,
  | "thread/queue/list"
  | "thread/queue/update"
  | "thread/queue/reorder"
  | "thread/queue/delete"
  | "thread/queue/promote"
> = {
  async "thread/queue/list"(_params, { thread }) {
    return { result: { queue: [...thread.log.state.queue] } };
  },

  async "thread/queue/update"({ queuedInputId, input }, { thread }) {
    checkInput(input);
    thread.turns.pending.rejectIfSent(queuedInputId);
    return changed(thread, replaceQueued(thread.log.state.queue, queuedInputId, input));
  },

  async "thread/queue/reorder"({ queuedInputIds }, { thread }) {
    return changed(thread, reorder(thread.log.state.queue, queuedInputIds));
  },

  async "thread/queue/delete"({ queuedInputId }, { thread }) {
    thread.turns.pending.rejectIfSent(queuedInputId);
    return changed(thread, dequeue(thread.log.state.queue, queuedInputId));
  },

  async "thread/queue/promote"({ queuedInputId }, context) {
    const { thread } = context;
    const { pending } = thread.turns;
    pending.rejectIfSent(queuedInputId);
    const chosen = findQueued(thread.log.state.queue, queuedInputId);
    const { activeTurnId: turnId } = thread.log.state;
    if (turnId === undefined) return startQueued(context, queuedInputId);
    const answer = thread.turns.steer(chosen.input);
    pending.add({ queuedInputId }, answer);
    return {
      answer,
      accepted() {
        const queue = thread.log.state.queue.filter(({ id }) => id !== queuedInputId);
        const shown = messageEvents(thread, turnId, chosen.input, senderOf(chosen));
        return { result: { turnId, queue }, events: [queueEvent(thread.log.state, queue), ...shown] };
      },
      otherwise: (again) => startQueued(again, queuedInputId),
    };
  },
};

/** Starts a turn with a queued input. Throws while another one is running. */
async function startQueued(
  { thread }: ThreadContext,
  queuedInputId: string,
): Promise<ThreadOutcome<"thread/queue/promote">> {
  const chosen = findQueued(thread.log.state.queue, queuedInputId);
  const { activeTurnId } = thread.log.state;
  if (activeTurnId !== undefined) {
    const message = "This agent does not accept input during a turn; it stays queued.";
    throw new FlintError("unsupported", message, { activeTurnId });
  }
  const queue = dequeue(thread.log.state.queue, queuedInputId);
  const decided = thread.turns.decideQueued(chosen);
  return {
    result: { turnId: decided.turn.id, queue },
    events: decided.events,
    after: () => thread.turns.start(decided.started),
  };
}

function changed(thread: LiveThread, queue: QueuedInput[]) {
  return { result: { queue }, events: [queueEvent(thread.log.state, queue)] };
}
