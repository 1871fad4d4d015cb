import {
  type EventBody,
  FlintError,
  inputText,
  LIMITS,
  mintId,
  type QueuedInput,
  type Result,
  type UserInput,
} from "@flint/protocol";
import { checkLimits } from "../budget/enforcement.ts";
import type { LiveThread } from "../thread/live-thread.ts";
import {
  dequeue,
  enqueue,
  findQueued,
  itemEvents,
  queueEvent,
  reorder,
  replaceQueued,
  type Sender,
  senderOf,
  settingsEvents,
  userMessage,
} from "../turn/decisions.ts";
import type { GlobalHandlers, ThreadContext, ThreadHandlers, ThreadOutcome } from "./handler.ts";
import { announceNewThread, createThread } from "./thread.ts";

/** Starting, steering and interrupting turns of all kinds. */
export const turnHandlers: Pick<
  GlobalHandlers & ThreadHandlers,
  | "turn/start"
  | "turn/steer"
  | "turn/interrupt"
  | "thread/compact/start"
  | "thread/shellCommand"
  | "thread/inject"
  | "review/start"
> = {
  async "turn/start"(params, context) {
    const { thread, services } = context;
    const { input, clientId, outputSchema, delivery = "reject" } = params;
    checkInput(input);
    const earlier = await earlierInput(context, params);
    if (earlier !== undefined) return { result: earlier, ...subscribeIfNew(context) };
    if (delivery === "reject") thread.turns.rejectIfActive();
    const before = thread.log.state.settings;
    const settings = await services.settings.override(before, { ...params, sandbox: params.sandboxPolicy });
    if (settings.budget !== undefined) await checkLimits(settings, services.catalogue);
    const changes = settingsEvents(thread.log.state, settings);
    const joined = await joinRunning(context, params, changes);
    if (clientId !== undefined) thread.clientIds.add(clientId);
    if (joined !== undefined) return { ...joined, ...subscribeIfNew(context) };
    const sender = senderOf({ clientId, client: context.client.name });
    const decided = thread.turns.decide({ kind: "prompt", input, sender, outputSchema, settings });
    return {
      result: { turn: decided.turn },
      events: [...changes, ...decided.events],
      ...subscribeIfNew(context),
      after: () => thread.turns.start(decided.started),
    };
  },

  async "turn/steer"({ expectedTurnId, input, clientId }, { thread, client }) {
    checkInput(input);
    const activeTurnId = thread.turns.runningId(expectedTurnId);
    const steer = await steerRunningTurn(thread, input, senderOf({ clientId, client: client.name }));
    if (steer !== undefined) return { result: { turnId: steer.turnId }, ...steer };
    const message = 'This agent does not accept input during a turn. Send it with delivery "queue" instead.';
    throw new FlintError("unsupported", message, { activeTurnId });
  },

  async "turn/interrupt"({ threadId, turnId }, { services, client }) {
    const { thread } = await services.registry.load(threadId);
    const running = thread.turns.runningId(turnId);
    return { result: {}, after: () => interruptIfRunning(thread, running, client.name) };
  },

  async "thread/shellCommand"({ command, timeoutMs }, context) {
    const { thread } = context;
    const decided = thread.turns.decide({ kind: "shell", input: [{ type: "text", text: command }] });
    return {
      result: { turn: decided.turn },
      events: decided.events,
      ...subscribeIfNew(context),
      after: () => thread.turns.startShell(decided.started, timeoutMs),
    };
  },

  async "thread/inject"({ messages }, { thread }) {
    const { turn, events } = thread.turns.decideInjected(messages);
    // The open session does not know about them; the next one will.
    return { result: { turn }, events, after: () => void thread.closeSession() };
  },

  async "thread/compact/start"(_params, { thread }) {
    const decided = thread.turns.decide({ kind: "compact", input: [] });
    return {
      result: { turn: decided.turn },
      events: decided.events,
      after: () => thread.turns.start(decided.started),
    };
  },

  async "review/start"({ target, delivery }, { thread, services, client }) {
    const request = { kind: "review", input: [], review: target } as const;
    if (delivery !== "detached") {
      const decided = thread.turns.decide(request);
      return {
        result: { turn: decided.turn, reviewThreadId: thread.id },
        events: decided.events,
        after: () => thread.turns.start(decided.started),
      };
    }
    const { settings } = thread.log.state;
    const described = { settings, ephemeral: false, forkedFromId: thread.id };
    const { thread: review, filled: decided } = await createThread(services, described, async (created) => {
      const turn = created.turns.decide(request);
      await created.log.commit(turn.events);
      return turn;
    });
    return {
      result: { turn: decided.turn, reviewThreadId: review.id },
      after: () => {
        client.subscribe(review, { afterSeq: 0, first: [] }, services.options.clock.now());
        announceNewThread(services, review.log.state);
        review.turns.start(decided.started);
      },
    };
  },
};

/** Input that the running turn accepted: the events that show it, and what lets the turn end again. */
interface Steer {
  readonly turnId: string;
  readonly events: readonly EventBody[];
  release(): void;
}

/** Sends input to the running turn. Undefined if its agent cannot accept it now, or no turn is running. */
export async function steerRunningTurn(
  thread: LiveThread,
  input: readonly UserInput[],
  sender: Sender,
): Promise<Steer | undefined> {
  const release = await thread.turns.steer(input);
  const { activeTurnId } = thread.log.state;
  if (release === undefined || activeTurnId === undefined) return undefined;
  const events = itemEvents(thread.id, activeTurnId, userMessage(input, sender));
  return { turnId: activeTurnId, events, release };
}

/**
 * Returns the result of an earlier request with the same `clientId`, so that a repeated one gets it again.
 */
async function earlierInput(
  { thread, services }: ThreadContext,
  { clientId, input }: StartParams,
): Promise<Result<"turn/start"> | undefined> {
  if (clientId === undefined) return undefined;
  // Compared as the log has it, without secrets.
  const earlier = await thread.clientIds.find(clientId, services.redactor.value(input));
  if (earlier === undefined || "queuedInput" in earlier) return earlier;
  return { turn: { ...earlier.turn, items: [] } };
}

type StartParams = Parameters<(typeof turnHandlers)["turn/start"]>[0];

/** Handles input while a turn is running: the turn accepts it, or it is queued. Undefined if no turn is running. */
async function joinRunning(
  { thread, services, client }: ThreadContext,
  { input, clientId, delivery, outputSchema }: StartParams,
  changes: readonly EventBody[],
): Promise<ThreadOutcome<"turn/start"> | undefined> {
  if (thread.log.state.activeTurnId === undefined) return undefined;
  if (outputSchema !== undefined) {
    const message = "outputSchema cannot be used while steering. Remove it, or wait for the turn to end.";
    throw new FlintError("invalidParams", message, { field: "outputSchema" });
  }
  const sender = senderOf({ clientId, client: client.name });
  const steer = delivery === "steer" ? await steerRunningTurn(thread, input, sender) : undefined;
  const running = thread.log.state.turns.at(-1);
  if (steer !== undefined && running !== undefined) {
    const { events, release } = steer;
    return { result: { turn: { ...running, items: [] } }, events: [...changes, ...events], release };
  }
  if (thread.log.state.activeTurnId === undefined) return undefined;
  const queuedInput = newQueuedInput(services.options.clock.now(), input, sender);
  const queue = enqueue(thread.log.state.queue, queuedInput);
  return { result: { queuedInput }, events: [...changes, queueEvent(thread.log.state, queue)] };
}

function newQueuedInput(now: number, input: readonly UserInput[], sender: Sender): QueuedInput {
  return { id: mintId(now), input: [...input], createdAtMs: now, ...sender };
}

/** A client that starts a turn receives its events even if it was not subscribed to the thread. */
function subscribeIfNew({ client, thread }: ThreadContext): Pick<ThreadOutcome<"turn/start">, "subscribe"> {
  return client.isSubscribed(thread.id)
    ? {}
    : { subscribe: { afterSeq: thread.log.current().seq, first: [] } };
}

/** The turn may have ended since the response was sent. */
function interruptIfRunning(thread: LiveThread, turnId: string, client: string | undefined): void {
  if (thread.log.state.activeTurnId === turnId) thread.turns.interrupt(turnId, client);
}

/** Throws `invalidParams` for more text than one turn may have. */
export function checkInput(input: readonly UserInput[]): void {
  const bytes = Buffer.byteLength(inputText(input));
  if (bytes <= LIMITS.prompt) return;
  const message = `The input has ${bytes} bytes; at most ${LIMITS.prompt} are accepted. Put long texts into files.`;
  throw new FlintError("invalidParams", message, { field: "input", limit: LIMITS.prompt, bytes });
}

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
    const steer = await steerRunningTurn(thread, chosen.input, senderOf(chosen));
    if (steer !== undefined) {
      const { turnId, events, release } = steer;
      return { result: { turnId, queue }, events: [queueEvent(thread.log.state, queue), ...events], release };
    }
    const { activeTurnId } = thread.log.state;
    if (activeTurnId !== undefined) {
      const message = "This agent does not accept input during a turn; it stays queued.";
      throw new FlintError("unsupported", message, { activeTurnId });
    }
    const decided = thread.turns.decideQueued(chosen);
    return {
      result: { turnId: decided.turn.id, queue },
      events: decided.events,
      after: () => thread.turns.start(decided.started),
    };
  },
};

function changed(thread: LiveThread, queue: QueuedInput[]) {
  return { result: { queue }, events: [queueEvent(thread.log.state, queue)] };
}
