import {
  type EventBody,
  FlintError,
  inputText,
  LIMITS,
  mintId,
  type QueuedInput,
  type UserInput,
} from "@flint/protocol";
import type { LiveThread } from "../thread/live-thread.ts";
import { enqueue } from "../turn/decide/queue.ts";
import { itemEvents, queueEvent, settingsEvents, userMessage } from "../turn/decide/turn.ts";
import type { FreeHandlers, ThreadContext, ThreadHandlers, ThreadOutcome } from "./handler.ts";

/** Starting, steering and stopping turns. */
export const turnHandlers: Pick<
  FreeHandlers & ThreadHandlers,
  "turn/start" | "turn/steer" | "turn/interrupt" | "thread/compact/start" | "thread/shellCommand"
> = {
  async "turn/start"(params, context) {
    const { thread, services } = context;
    const { input, clientId, outputSchema, delivery = "reject" } = params;
    checkInput(input);
    if (delivery === "reject") thread.refuseIfActive();
    const before = thread.log.state.settings;
    const settings = await services.withOverrides(before, { ...params, sandbox: params.sandboxPolicy });
    const changes = settingsEvents(thread.log.state, settings);
    const joined = await joinRunning(context, params, changes);
    if (joined !== undefined) return { ...joined, ...subscribeIfNew(context) };
    const decided = thread.decideTurn({ kind: "prompt", input, clientId, outputSchema, settings });
    return {
      result: { turn: decided.turn },
      events: [...changes, ...decided.events],
      ...subscribeIfNew(context),
      after: () => thread.start(decided.started),
    };
  },

  async "turn/steer"({ expectedTurnId, input, clientId }, { thread }) {
    checkInput(input);
    const activeTurnId = thread.runningTurnId(expectedTurnId);
    const steer = await steered(thread, input, clientId);
    if (steer !== undefined) return { result: { turnId: steer.turnId }, ...steer };
    const message = 'The agent takes no input now. Send it with delivery "queue" instead.';
    throw new FlintError("unsupported", message, { activeTurnId });
  },

  async "turn/interrupt"({ threadId, turnId }, { services }) {
    const { thread } = await services.registry.load(threadId);
    const running = thread.runningTurnId(turnId);
    return { result: {}, after: () => interruptIfRunning(thread, running) };
  },

  async "thread/shellCommand"({ command, timeoutMs }, context) {
    const { thread } = context;
    const decided = thread.decideTurn({ kind: "shell", input: [{ type: "text", text: command }] });
    return {
      result: { turn: decided.turn },
      events: decided.events,
      ...subscribeIfNew(context),
      after: () => thread.startShell(decided.started, timeoutMs),
    };
  },

  async "thread/compact/start"(_params, { thread }) {
    const decided = thread.decideTurn({ kind: "compact", input: [] });
    return {
      result: { turn: decided.turn },
      events: decided.events,
      after: () => thread.start(decided.started),
    };
  },
};

/** An input that the running turn has taken: what shows it in the turn, and what lets the turn end. */
interface Steer {
  readonly turnId: string;
  readonly events: readonly EventBody[];
  release(): void;
}

/** Gives input to the running turn. Undefined if its agent cannot take it now, or no turn runs any more. */
export async function steered(
  thread: LiveThread,
  input: readonly UserInput[],
  clientId: string | undefined,
): Promise<Steer | undefined> {
  const release = await thread.steer(input);
  const { activeTurnId } = thread.log.state;
  if (release === undefined || activeTurnId === undefined) return undefined;
  const events = itemEvents(thread.id, activeTurnId, userMessage(input, clientId));
  return { turnId: activeTurnId, events, release };
}

type StartParams = Parameters<(typeof turnHandlers)["turn/start"]>[0];

/** What becomes of an input while a turn runs: the turn takes it, or it waits. Undefined if no turn runs. */
async function joinRunning(
  { thread, services }: ThreadContext,
  { input, clientId, delivery, outputSchema }: StartParams,
  changes: readonly EventBody[],
): Promise<ThreadOutcome<"turn/start"> | undefined> {
  if (thread.log.state.activeTurnId === undefined) return undefined;
  if (outputSchema !== undefined) {
    const message = "An outputSchema needs a turn of its own. Send it without, or when no turn runs.";
    throw new FlintError("invalidParams", message, { field: "outputSchema" });
  }
  const steer = delivery === "steer" ? await steered(thread, input, clientId) : undefined;
  const running = thread.log.state.turns.at(-1);
  if (steer !== undefined && running !== undefined) {
    const { events, release } = steer;
    return { result: { turn: { ...running, items: [] } }, events: [...changes, ...events], release };
  }
  if (thread.log.state.activeTurnId === undefined) return undefined;
  const queuedInput = newQueuedInput(services.options.clock.now(), input, clientId);
  const queue = enqueue(thread.log.state.queue, queuedInput);
  return { result: { queuedInput }, events: [...changes, queueEvent(thread.log.state, queue)] };
}

function newQueuedInput(now: number, input: readonly UserInput[], clientId: string | undefined): QueuedInput {
  const queued: QueuedInput = { id: mintId(now), input: [...input], createdAtMs: now };
  return clientId === undefined ? queued : { ...queued, clientId };
}

/** Whoever starts a turn hears of it, also if it never asked to follow the thread. */
function subscribeIfNew({ client, thread }: ThreadContext): Pick<ThreadOutcome<"turn/start">, "subscribe"> {
  return client.isSubscribed(thread.id)
    ? {}
    : { subscribe: { afterSeq: thread.log.current().seq, first: [] } };
}

/** The turn may end between the answer and the deed; then there is nothing left to stop. */
function interruptIfRunning(thread: LiveThread, turnId: string): void {
  if (thread.log.state.activeTurnId === turnId) thread.interrupt(turnId);
}

/** Throws `invalidParams` for more text than one turn may carry. */
export function checkInput(input: readonly UserInput[]): void {
  const bytes = Buffer.byteLength(inputText(input));
  if (bytes <= LIMITS.prompt) return;
  const message = `The input has ${bytes} bytes; at most ${LIMITS.prompt} are taken. Put long texts into files.`;
  throw new FlintError("invalidParams", message, { field: "input", limit: LIMITS.prompt, bytes });
}
