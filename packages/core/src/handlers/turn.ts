import {
  type EventBody,
  FlintError,
  inputText,
  LIMITS,
  type Method,
  mintId,
  type QueuedInput,
  type Result,
  type Turn,
  type UserInput,
} from "@flint/protocol";
import { checkLimits } from "../budget/enforcement.ts";
import type { LiveThread } from "../thread/live-thread.ts";
import {
  enqueue,
  itemEvents,
  queueEvent,
  type Sender,
  senderOf,
  settingsEvents,
  userMessage,
} from "../turn/decisions.ts";
import type { GlobalHandlers, SentInput, ThreadContext, ThreadHandlers, ThreadOutcome } from "./handler.ts";
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
    const awaited = clientId === undefined ? undefined : thread.turns.pending.answerTo(clientId);
    if (awaited !== undefined)
      return afterAnswer(awaited, (again) => turnHandlers["turn/start"](params, again));
    const earlier = await earlierInput(context, params);
    if (earlier !== undefined) return { result: earlier, ...subscribeIfNew(context) };
    if (delivery === "reject") thread.turns.rejectIfActive();
    const before = thread.log.state.settings;
    const settings = await services.settings.override(before, { ...params, sandbox: params.sandboxPolicy });
    if (settings.budget !== undefined) await checkLimits(settings, services.catalogue);
    const changes = settingsEvents(thread.log.state, settings);
    if (delivery === "steer" && thread.log.state.activeTurnId !== undefined && changes.length === 0) {
      rejectSchema(outputSchema);
      return steerStarted(context, params);
    }
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
    const turnId = thread.turns.runningId(expectedTurnId);
    const sender = senderOf({ clientId, client: client.name });
    return {
      answer: thread.turns.steer(input),
      accepted: () => ({ result: { turnId }, events: messageEvents(thread, turnId, input, sender) }),
      async otherwise() {
        const message =
          'This agent does not accept input during a turn. Send it with delivery "queue" instead.';
        throw new FlintError("unsupported", message, { activeTurnId: turnId });
      },
    };
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

/** The events that show input which the running turn accepted. */
export function messageEvents(
  { id }: LiveThread,
  turnId: string,
  input: readonly UserInput[],
  sender: Sender,
): readonly EventBody[] {
  return itemEvents(id, turnId, userMessage(input, sender));
}

/** Input that steers the running turn, or is queued if its agent does not accept it. */
function steerStarted(context: ThreadContext, params: StartParams): SentInput<"turn/start"> {
  const { thread, client } = context;
  const { input, clientId } = params;
  const turnId = thread.turns.runningId();
  const answer = thread.turns.steer(input);
  thread.turns.pending.add({ clientId }, answer);
  return {
    answer,
    accepted() {
      if (clientId !== undefined) thread.clientIds.add(clientId);
      const sender = senderOf({ clientId, client: client.name });
      const running = thread.log.state.turns.find(({ id }) => id === turnId);
      const turn: Turn = { id: turnId, status: "inProgress", ...running, items: [] };
      const events = messageEvents(thread, turnId, input, sender);
      return { result: { turn }, events, ...subscribeIfNew(context) };
    },
    async otherwise(again) {
      const { activeTurnId, turns } = again.thread.log.state;
      // After an interruption or a failure the user should look before this input starts a turn.
      const waits = activeTurnId === undefined && turns.at(-1)?.status !== "completed";
      if (waits) {
        if (clientId !== undefined) thread.clientIds.add(clientId);
        return queued(again, params, []);
      }
      return turnHandlers["turn/start"]({ ...params, delivery: "queue" }, again);
    },
  };
}

/** Runs work in the queue of a thread when the agent has answered another request. */
function afterAnswer<Name extends Method>(
  answer: Promise<unknown>,
  work: SentInput<Name>["otherwise"],
): SentInput<Name> {
  const settled = () => undefined;
  return {
    answer: answer.then(settled, settled),
    // It is never accepted itself.
    accepted: () => {
      throw new FlintError("internalError", "Another request has no answer of its own.");
    },
    otherwise: work,
  };
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

function rejectSchema(outputSchema: StartParams["outputSchema"]): void {
  if (outputSchema === undefined) return;
  const message = "outputSchema cannot be used while steering. Remove it, or wait for the turn to end.";
  throw new FlintError("invalidParams", message, { field: "outputSchema" });
}

/**
 * Handles input that comes with settings, or is to be queued, while a turn is running: the turn accepts it, or it is
 * queued. Undefined if no turn is running.
 */
async function joinRunning(
  context: ThreadContext,
  params: StartParams,
  changes: readonly EventBody[],
): Promise<ThreadOutcome<"turn/start"> | undefined> {
  const { thread, client } = context;
  const { input, clientId, delivery, outputSchema } = params;
  if (thread.log.state.activeTurnId === undefined) return undefined;
  rejectSchema(outputSchema);
  // Settings are changed together with the input, so that another request cannot come in between.
  const release = delivery === "steer" ? await thread.turns.steer(input) : undefined;
  const running = thread.log.state.turns.at(-1);
  if (release !== undefined && running !== undefined) {
    const events = messageEvents(thread, running.id, input, senderOf({ clientId, client: client.name }));
    return { result: { turn: { ...running, items: [] } }, events: [...changes, ...events], release };
  }
  if (thread.log.state.activeTurnId === undefined) return undefined;
  return queued(context, params, changes);
}

function queued(
  { thread, services, client }: ThreadContext,
  { input, clientId }: StartParams,
  changes: readonly EventBody[],
): ThreadOutcome<"turn/start"> {
  const now = services.options.clock.now();
  const sender = senderOf({ clientId, client: client.name });
  const queuedInput: QueuedInput = { id: mintId(now), input: [...input], createdAtMs: now, ...sender };
  const queue = enqueue(thread.log.state.queue, queuedInput);
  return { result: { queuedInput }, events: [...changes, queueEvent(thread.log.state, queue)] };
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
