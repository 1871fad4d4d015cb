import { FlintError, inputText, LIMITS, mintId, type QueuedInput, type UserInput } from "@flint/protocol";
import { dequeue, enqueue, findQueued, reorder, replaceQueued } from "../decide/queue.ts";
import { itemEvents, type LiveThread, settingsEvents, userMessage } from "../live-thread.ts";
import type { FreeHandlers, ThreadContext, ThreadHandlers, ThreadOutcome } from "./handler.ts";
import { createThread } from "./thread.ts";

/** Starting, steering and stopping turns, and the queue of those that wait. */
export const turnHandlers: Pick<
  FreeHandlers & ThreadHandlers,
  | "turn/start"
  | "turn/steer"
  | "turn/interrupt"
  | "thread/compact/start"
  | "review/start"
  | "thread/queue/list"
  | "thread/queue/update"
  | "thread/queue/reorder"
  | "thread/queue/delete"
  | "thread/queue/promote"
> = {
  async "turn/start"(params, context) {
    const { thread, services } = context;
    checkInput(params.input);
    const { activeTurnId } = thread.log.state;
    if (activeTurnId !== undefined && params.delivery === "steer") {
      return (await steered(context, params.input, params.clientId)) ?? queued(context, params.input, params.clientId);
    }
    if (activeTurnId !== undefined && params.delivery === "queue") {
      return queued(context, params.input, params.clientId);
    }
    const wanted = { ...params, sandbox: params.sandboxPolicy };
    const settings = await services.withOverrides(thread.log.state.settings, wanted);
    const { input, clientId, outputSchema } = params;
    const decided = thread.decideTurn({ kind: "prompt", input, clientId, outputSchema });
    return {
      result: { turn: decided.turn },
      events: [...settingsEvents(thread, settings), ...decided.events],
      ...followIfNew(context),
      after: () => thread.start(decided.started),
    };
  },

  async "turn/steer"({ expectedTurnId, input, clientId }, context) {
    checkInput(input);
    const turnId = context.thread.runningTurnId(expectedTurnId);
    const outcome = await steered(context, input, clientId);
    if (outcome === undefined) {
      throw new FlintError("unsupported", "The agent takes no input now. Send it with delivery \"queue\" instead.", {
        activeTurnId: turnId,
      });
    }
    return { ...outcome, result: { turnId } };
  },

  async "turn/interrupt"({ threadId, turnId }, { services }) {
    const thread = services.registry.loaded(threadId) ?? (await services.registry.load(threadId)).thread;
    thread.runningTurnId(turnId);
    return { result: {}, after: () => interruptIfRunning(thread, turnId) };
  },

  async "thread/compact/start"(_params, { thread }) {
    const decided = thread.decideTurn({ kind: "compact", input: [] });
    return { result: { turn: decided.turn }, events: decided.events, after: () => thread.start(decided.started) };
  },

  async "review/start"({ target, delivery }, context) {
    const { thread, services, client } = context;
    if (delivery !== "detached") {
      const decided = thread.decideTurn({ kind: "review", input: [], review: target });
      return {
        result: { turn: decided.turn, reviewThreadId: thread.id },
        events: decided.events,
        after: () => thread.start(decided.started),
      };
    }
    const { settings } = thread.log.state;
    const review = await createThread(services, { settings, ephemeral: false, forkedFromId: thread.id });
    const decided = review.decideTurn({ kind: "review", input: [], review: target });
    await review.log.commit(decided.events);
    return {
      result: { turn: decided.turn, reviewThreadId: review.id },
      after: () => {
        client.follow(review, { afterSeq: 0, first: [] }, services.options.clock.now());
        review.start(decided.started);
      },
    };
  },

  async "thread/queue/list"(_params, { thread }) {
    return { result: { queue: [...thread.log.state.queue] } };
  },

  async "thread/queue/update"({ queuedInputId, input }, { thread }) {
    checkInput(input);
    return queueOutcome(thread, replaceQueued(thread.log.state.queue, queuedInputId, input));
  },

  async "thread/queue/reorder"({ queuedInputIds }, { thread }) {
    return queueOutcome(thread, reorder(thread.log.state.queue, queuedInputIds));
  },

  async "thread/queue/delete"({ queuedInputId }, { thread }) {
    return queueOutcome(thread, dequeue(thread.log.state.queue, queuedInputId));
  },

  async "thread/queue/promote"({ queuedInputId }, context) {
    const { thread } = context;
    const chosen = findQueued(thread.log.state.queue, queuedInputId);
    const queue = dequeue(thread.log.state.queue, queuedInputId);
    const { activeTurnId } = thread.log.state;
    if (activeTurnId === undefined) {
      const decided = thread.decideQueued(chosen);
      return {
        result: { turnId: decided.turn.id, queue },
        events: decided.events,
        after: () => thread.start(decided.started),
      };
    }
    const outcome = await steered(context, chosen.input, chosen.clientId);
    if (outcome === undefined) {
      throw new FlintError("unsupported", "The agent takes no input now; it stays in the queue.", { activeTurnId });
    }
    const changed = { type: "thread/queue/changed", data: { threadId: thread.id, queue } } as const;
    return { result: { turnId: activeTurnId, queue }, events: [changed, ...(outcome.events ?? [])] };
  },
};

/** Whoever starts a turn hears of it, also if it never asked to follow the thread. */
function followIfNew({ client, thread }: ThreadContext): Pick<ThreadOutcome<"turn/start">, "follow"> {
  return client.follows(thread.id) ? {} : { follow: { afterSeq: thread.log.current().seq, first: [] } };
}

/** The turn may end between the answer and the deed; then there is nothing left to stop. */
function interruptIfRunning(thread: LiveThread, turnId: string | undefined): void {
  if (thread.log.state.activeTurnId !== undefined) thread.interrupt(turnId);
}

async function steered(
  { thread }: ThreadContext,
  input: readonly UserInput[],
  clientId: string | undefined,
): Promise<ThreadOutcome<"turn/start"> | undefined> {
  const turnId = thread.runningTurnId();
  if (!(await thread.steer(input))) return undefined;
  const running = thread.log.state.turns.findLast((turn) => turn.id === turnId);
  if (running === undefined) return undefined;
  const events = itemEvents(thread.id, turnId, userMessage(input, clientId));
  return { result: { turn: { ...running, items: [] } }, events };
}

function queued(
  { thread, services }: ThreadContext,
  input: readonly UserInput[],
  clientId: string | undefined,
): ThreadOutcome<"turn/start"> {
  const now = services.options.clock.now();
  const queuedInput: QueuedInput = { id: mintId(now), input: [...input], createdAtMs: now };
  if (clientId !== undefined) queuedInput.clientId = clientId;
  const queue = enqueue(thread.log.state.queue, queuedInput);
  return {
    result: { queuedInput },
    events: [{ type: "thread/queue/changed", data: { threadId: thread.id, queue } }],
  };
}

function queueOutcome(thread: LiveThread, queue: QueuedInput[]) {
  const changed = { type: "thread/queue/changed", data: { threadId: thread.id, queue } } as const;
  return { result: { queue }, events: [changed] };
}

function checkInput(input: readonly UserInput[]): void {
  const length = inputText(input).length;
  if (length <= LIMITS.prompt) return;
  const message = `The input has ${length} characters; at most ${LIMITS.prompt} are taken. Put long texts into files.`;
  throw new FlintError("invalidParams", message, { field: "input", limit: LIMITS.prompt, length });
}
