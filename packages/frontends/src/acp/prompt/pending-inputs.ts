import { asFlintError, type FlintError, mintId, type Params, type Turn } from "@flint/protocol";
import type { CoreCalls } from "../../shared/core-calls.ts";
import { isOutOfSteps } from "./stop-reason.ts";

/**
 * Maximum number of times that a turn that is out of steps continues automatically before the user has to
 * request it.
 */
const MOST_CONTINUATIONS = 5;

/** The outcome of an input: with its turn, without becoming one, with an error, or without needing one. */
export type InputResult =
  | { readonly kind: "turn"; readonly turn: Turn }
  | { readonly kind: "cancelled" }
  | { readonly kind: "failed"; readonly error: FlintError }
  | { readonly kind: "done" };

/** An input for the agent. */
export interface TurnInput extends Pick<Params<"turn/start">, "input" | "model"> {
  /** True if Flint wrote it on behalf of the user. The client gets it as a message of another client. */
  readonly isSynthetic?: boolean;
}

/** Callbacks for the progress of an input. */
export interface InputCallbacks {
  /** Called once when it has ended, in order with the updates of its turn. */
  onEnd(result: InputResult): void;
  /** Called when its message is in the conversation. */
  onInserted?(messageId: string): void;
  /** Called when it is sent, with a function that cancels it. */
  onSent?(cancel: () => Promise<void>): void;
  /** Reports whether the client has cancelled it, and all that follows it. */
  isCancelled?(): boolean;
}

/** An input of this client that has not ended. */
class PendingInput {
  /** Marks its message in the log, so that its turn is recognised whenever it starts. */
  readonly clientId = mintId();
  turnId: string | undefined;
  queuedInputId: string | undefined;
  isCancelled = false;
  readonly #callbacks: InputCallbacks;
  #hasEnded = false;

  constructor(callbacks: InputCallbacks) {
    this.#callbacks = callbacks;
  }

  /** Reports whether it is queued and not cancelled. */
  get isWaiting(): boolean {
    return this.turnId === undefined && this.queuedInputId !== undefined && !this.isCancelled;
  }

  inserted(messageId: string): void {
    this.#callbacks.onInserted?.(messageId);
  }

  end(result: InputResult): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#callbacks.onEnd(result);
  }
}

/** The inputs that the client of a session waits for. Each ends exactly once. */
export class PendingInputs {
  readonly #core: CoreCalls;
  readonly #threadId: string;
  readonly #inputs = new Set<PendingInput>();
  /** The client ids of the messages that the client wrote itself. */
  readonly #own = new Set<string>();

  constructor(core: CoreCalls, threadId: string) {
    this.#core = core;
    this.#threadId = threadId;
  }

  /** Sends an input. It is queued while a turn is running. */
  send({ isSynthetic, ...turn }: TurnInput, callbacks: InputCallbacks): void {
    const input = this.#add(callbacks);
    const { clientId } = input;
    if (isSynthetic !== true) this.#own.add(clientId);
    const params = { threadId: this.#threadId, ...turn, delivery: "queue", clientId } as const;
    const sent = this.#core.call("turn/start", params, ({ turn: started, queuedInput }) => {
      input.turnId = started?.id;
      input.queuedInputId = queuedInput?.id;
      if (input.isCancelled) void this.#cancel(input);
    });
    this.#failWith(input, sent);
  }

  /** Waits for a turn that is not a prompt, such as a review; `start` starts it and passes on its id. */
  track(start: (started: (turnId: string) => void) => Promise<unknown>, callbacks: InputCallbacks): void {
    const input = this.#add(callbacks);
    const starting = start((turnId) => {
      input.turnId = turnId;
      input.inserted(input.clientId);
      if (input.isCancelled) void this.#cancel(input);
    });
    this.#failWith(input, starting);
  }

  /** Reports whether an input of this client is waiting for a turn. */
  isAwaited(turnId: string): boolean {
    return [...this.#inputs].some((input) => input.turnId === turnId);
  }

  /** Reports whether the client wrote the message with this client id itself. */
  isOwn(clientId: string | undefined): boolean {
    return clientId !== undefined && this.#own.has(clientId);
  }

  /** A user message appeared in a turn: if it is one of these inputs, this is its turn. */
  assignTurn(clientId: string | undefined, turnId: string): void {
    for (const input of this.#inputs) if (input.clientId === clientId) input.turnId = turnId;
  }

  /** A user message was sent to the client, which may now learn its id. */
  messageSent(clientId: string | undefined, messageId: string): void {
    for (const input of this.#inputs) if (input.clientId === clientId) input.inserted(messageId);
  }

  /** A turn ended. After a turn that failed the core waits for the user, who has already sent the next input here. */
  turnCompleted(turn: Turn): void {
    const ended = [...this.#inputs].filter((input) => input.turnId === turn.id);
    for (const input of ended) this.#end(input, { kind: "turn", turn });
    if (turn.status === "completed") return;
    const next = [...this.#inputs].find((input) => input.isWaiting);
    if (next !== undefined) void this.#promote(next);
  }

  /** The queue changed: an input that left it without becoming a turn was deleted by another client. */
  queueChanged(queued: ReadonlySet<string>): void {
    for (const input of this.#inputs) {
      const { queuedInputId, turnId } = input;
      if (queuedInputId !== undefined && turnId === undefined && !queued.has(queuedInputId)) {
        void this.#checkDeleted(input);
      }
    }
  }

  /** Cancels every input: queued ones are deleted, and running turns are interrupted. */
  async cancelAll(): Promise<void> {
    await Promise.all([...this.#inputs].map((input) => this.#cancel(input)));
  }

  /** Ends every input as cancelled, and leaves turns running. */
  close(): void {
    for (const input of [...this.#inputs]) this.#end(input, { kind: "cancelled" });
  }

  #add(callbacks: InputCallbacks): PendingInput {
    const input = new PendingInput(callbacks);
    this.#inputs.add(input);
    callbacks.onSent?.(() => this.#cancel(input));
    return input;
  }

  #failWith(input: PendingInput, call: Promise<unknown>): void {
    call.catch((error: unknown) => this.#end(input, { kind: "failed", error: asFlintError(error) }));
  }

  #end(input: PendingInput, result: InputResult): void {
    this.#inputs.delete(input);
    input.end(result);
  }

  async #promote(input: PendingInput): Promise<void> {
    const { queuedInputId = "" } = input;
    // Expected: it has left the queue by now, one way or another.
    try {
      await this.#core.call("thread/queue/promote", { threadId: this.#threadId, queuedInputId });
    } catch (error) {
      if (input.turnId === undefined) this.#end(input, { kind: "failed", error: asFlintError(error) });
    }
  }

  async #cancel(input: PendingInput): Promise<void> {
    input.isCancelled = true;
    const threadId = this.#threadId;
    const { turnId, queuedInputId } = input;
    // Expected: it has ended, or started, by now.
    try {
      if (turnId !== undefined) await this.#core.call("turn/interrupt", { threadId, turnId });
      else if (queuedInputId !== undefined) {
        await this.#core.call("thread/queue/delete", { threadId, queuedInputId });
        this.#end(input, { kind: "cancelled" });
      }
    } catch {
      if (input.turnId !== turnId) await this.#cancel(input);
    }
  }

  /** Lists the queue behind everything that was decided before; by then the turn of the input would have appeared. */
  async #checkDeleted(input: PendingInput): Promise<void> {
    await this.#core.call("thread/queue/list", { threadId: this.#threadId }).catch(() => undefined);
    if (input.turnId === undefined) this.#end(input, { kind: "cancelled" });
  }
}

/** A session as far as sending input needs it. */
interface InputTarget {
  readonly inputs: PendingInputs;
  /** Reports whether there is work left: entries of the plan, or tasks of the workspace. */
  hasOpenWork(): Promise<boolean>;
}

/** Sends an input. A turn that is out of steps continues automatically a few times, while there is work left. */
export function sendInput(
  target: InputTarget,
  turn: TurnInput,
  callbacks: InputCallbacks,
  continuations = 0,
): void {
  const onEnd = (result: InputResult): void => {
    const isUnfinished = result.kind === "turn" && isOutOfSteps(result.turn);
    if (isUnfinished && continuations < MOST_CONTINUATIONS) void continueOrEnd(result);
    else callbacks.onEnd(result);
  };
  const continueOrEnd = async (result: InputResult): Promise<void> => {
    const isOpen = await target.hasOpenWork();
    if (callbacks.isCancelled?.() === true) return callbacks.onEnd({ kind: "cancelled" });
    if (!isOpen) return callbacks.onEnd(result);
    const next: TurnInput = { input: [{ type: "text", text: "continue" }], isSynthetic: true };
    sendInput(target, next, followUp(callbacks), continuations + 1);
  };
  target.inputs.send(turn, { ...callbacks, onEnd });
}

/** Callbacks for an input that follows another: only the first message of a prompt is the client's. */
export function followUp({ onEnd, onSent, isCancelled }: InputCallbacks): InputCallbacks {
  return {
    onEnd,
    ...(onSent === undefined ? {} : { onSent }),
    ...(isCancelled === undefined ? {} : { isCancelled }),
  };
}
