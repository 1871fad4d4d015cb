import { FlintError, type QueuedInput } from "@flint/protocol";
import type { LiveThread } from "../thread/live-thread.ts";
import { dequeue, findQueued, reorder, replaceQueued } from "../turn/decide/queue.ts";
import { queueEvent } from "../turn/decide/turn.ts";
import type { ThreadHandlers } from "./handler.ts";
import { checkInput, steered } from "./turn.ts";

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
    return changed(thread, replaceQueued(thread.log.state.queue, queuedInputId, input));
  },

  async "thread/queue/reorder"({ queuedInputIds }, { thread }) {
    return changed(thread, reorder(thread.log.state.queue, queuedInputIds));
  },

  async "thread/queue/delete"({ queuedInputId }, { thread }) {
    return changed(thread, dequeue(thread.log.state.queue, queuedInputId));
  },

  async "thread/queue/promote"({ queuedInputId }, { thread }) {
    const chosen = findQueued(thread.log.state.queue, queuedInputId);
    const queue = dequeue(thread.log.state.queue, queuedInputId);
    const steer = await steered(thread, chosen.input, chosen.clientId);
    if (steer !== undefined) {
      const { turnId, events, release } = steer;
      return { result: { turnId, queue }, events: [queueEvent(thread.log.state, queue), ...events], release };
    }
    const { activeTurnId } = thread.log.state;
    if (activeTurnId !== undefined) {
      const message = "The agent takes no input now; it stays in the queue.";
      throw new FlintError("unsupported", message, { activeTurnId });
    }
    const decided = thread.decideQueued(chosen);
    return {
      result: { turnId: decided.turn.id, queue },
      events: decided.events,
      after: () => thread.start(decided.started),
    };
  },
};

function changed(thread: LiveThread, queue: QueuedInput[]) {
  return { result: { queue }, events: [queueEvent(thread.log.state, queue)] };
}
