import { asFlintError, type FlintError, mintId, type Params, type Turn } from "@flint/protocol";
import type { Client } from "../../shared/frontend.ts";
import { answerOf } from "../core.ts";

/** How an input ended: with its turn, without ever becoming one, with an error, or without needing a turn. */
export type InputEnd =
  | { readonly kind: "done" }
  | { readonly kind: "turn"; readonly turn: Turn }
  | { readonly kind: "cancelled" }
  | { readonly kind: "failed"; readonly error: FlintError };

/** What is sent. */
export interface TurnWishes extends Pick<Params<"turn/start">, "input" | "model"> {
  /** Set for what the door says in the user's place: the client is shown it like a message from elsewhere. */
  readonly isNudge?: boolean;
}

/** Who is told what becomes of an input. */
export interface InputWatch {
  /** Called once, in the order of what is told. */
  onEnd(end: InputEnd): void;
  /** Called when the message stands in the conversation. */
  onInserted?(messageId: string): void;
  /** Called when it is sent, with what stops it. */
  onSent?(cancel: () => Promise<void>): void;
}

/** An input of this client that has no end yet. */
class Input {
  /** Marks the input in the log, so that its turn is known whenever it begins. */
  readonly clientId = mintId();
  turnId: string | undefined;
  queuedInputId: string | undefined;
  isCancelled = false;
  readonly #watch: InputWatch;
  #isOver = false;

  constructor(watch: InputWatch) {
    this.#watch = watch;
  }

  /** Its message stands in the conversation. */
  inserted(messageId: string): void {
    this.#watch.onInserted?.(messageId);
  }

  /** Whether it stands in the queue, and its sender still wants it. */
  get isWaiting(): boolean {
    return this.turnId === undefined && this.queuedInputId !== undefined && !this.isCancelled;
  }

  end(end: InputEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#watch.onEnd(end);
  }
}

/**
 * The inputs that the client of a session waits for. Each ends exactly once: with the turn it became or joined, or because
 * it will never become one.
 */
export class PromptTurns {
  readonly #client: Client;
  readonly #threadId: string;
  readonly #inputs = new Set<Input>();
  /** The marks of what the client wrote itself. */
  readonly #marks = new Set<string>();

  constructor(client: Client, threadId: string) {
    this.#client = client;
    this.#threadId = threadId;
  }

  /** Whether a turn of this client is under way or waits. */
  get isBusy(): boolean {
    return this.#inputs.size > 0;
  }

  /** Sends an input; while a turn runs it waits in the queue. */
  send({ isNudge, ...wishes }: TurnWishes, watch: InputWatch): void {
    const input = this.#add(watch);
    if (isNudge !== true) this.#marks.add(input.clientId);
    const params = {
      threadId: this.#threadId,
      ...wishes,
      delivery: "queue",
      clientId: input.clientId,
    } as const;
    this.#call(
      input,
      this.#client.core.call("turn/start", params, ({ turn, queuedInput }) => {
        input.turnId = turn?.id;
        input.queuedInputId = queuedInput?.id;
        if (input.isCancelled) void this.#cancel(input);
      }),
    );
  }

  /** Waits for a turn that is no prompt, such as a review; `start` gives its id. */
  follow(start: (begun: (turnId: string) => void) => Promise<unknown>, watch: InputWatch): void {
    const input = this.#add(watch);
    this.#call(
      input,
      start((turnId) => {
        input.turnId = turnId;
        input.inserted(input.clientId);
        if (input.isCancelled) void this.#cancel(input);
      }),
    );
  }

  /** Whether this client waits for a turn. */
  isWaitedFor(turnId: string): boolean {
    return [...this.#inputs].some((input) => input.turnId === turnId);
  }

  /** Whether an input with this mark came from this client. */
  isOwn(clientId: string | undefined): boolean {
    return clientId !== undefined && this.#marks.has(clientId);
  }

  /** A message of the user appeared in a turn: if it is one of ours, this is its turn. */
  appeared(clientId: string | undefined, turnId: string): void {
    for (const input of this.#inputs) if (input.clientId === clientId) input.turnId = turnId;
  }

  /** That message was told: now its sender may know under which name. */
  told(clientId: string | undefined, messageId: string): void {
    for (const input of this.#inputs) if (input.clientId === clientId) input.inserted(messageId);
  }

  /** A turn ended. After a bad end the core waits for a person; the one who waits here has already spoken. */
  turnEnded(turn: Turn): void {
    const ended = [...this.#inputs].filter((input) => input.turnId === turn.id);
    for (const input of ended) this.#end(input, { kind: "turn", turn });
    if (turn.status === "completed") return;
    const next = [...this.#inputs].find((input) => input.isWaiting);
    if (next !== undefined) void this.#promote(next);
  }

  /** The queue changed: what left it without becoming a turn was taken back by somebody. */
  queueChanged(waiting: ReadonlySet<string>): void {
    for (const input of this.#inputs) {
      const { queuedInputId, turnId } = input;
      if (queuedInputId !== undefined && turnId === undefined && !waiting.has(queuedInputId)) {
        void this.#checkGone(input);
      }
    }
  }

  /** Stops everything of this client: what waits is taken back, what runs is interrupted. */
  async cancelAll(): Promise<void> {
    await Promise.all([...this.#inputs].map((input) => this.#cancel(input)));
  }

  /** Nobody waits any more. */
  close(): void {
    for (const input of [...this.#inputs]) this.#end(input, { kind: "cancelled" });
  }

  #add(watch: InputWatch): Input {
    const input = new Input(watch);
    this.#inputs.add(input);
    watch.onSent?.(() => this.#cancel(input));
    return input;
  }

  #call(input: Input, called: Promise<unknown>): void {
    called.catch((error: unknown) => this.#end(input, { kind: "failed", error: asFlintError(error) }));
  }

  #end(input: Input, end: InputEnd): void {
    this.#inputs.delete(input);
    input.end(end);
  }

  async #promote(input: Input): Promise<void> {
    const { queuedInputId = "" } = input;
    // Expected: it has left the queue by now, one way or another.
    try {
      await answerOf(this.#client, "thread/queue/promote", { threadId: this.#threadId, queuedInputId });
    } catch (error) {
      if (input.turnId === undefined) this.#end(input, { kind: "failed", error: asFlintError(error) });
    }
  }

  async #cancel(input: Input): Promise<void> {
    input.isCancelled = true;
    const threadId = this.#threadId;
    const { turnId, queuedInputId } = input;
    // Expected: it has ended, or begun, by now.
    try {
      if (turnId !== undefined) await answerOf(this.#client, "turn/interrupt", { threadId, turnId });
      else if (queuedInputId !== undefined) {
        await answerOf(this.#client, "thread/queue/delete", { threadId, queuedInputId });
        this.#end(input, { kind: "cancelled" });
      }
    } catch {
      if (input.turnId !== turnId) await this.#cancel(input);
    }
  }

  /** The queue is asked again behind everything that was decided before; by then its turn would have been told. */
  async #checkGone(input: Input): Promise<void> {
    await answerOf(this.#client, "thread/queue/list", { threadId: this.#threadId }).catch(() => undefined);
    if (input.turnId === undefined) this.#end(input, { kind: "cancelled" });
  }
}
