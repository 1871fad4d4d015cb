import { type ApprovalPolicy, errorMessage } from "@flint/protocol";
import type { FlintClient } from "../client/flint-client.ts";
import { FlintConnectionError, FlintRequestError, TurnFailedError } from "../errors.ts";
import type { AgentEvent } from "../events/agent-event.ts";
import type { ThreadHandle } from "../thread/thread-handle.ts";
import type { TurnResult } from "../thread/turn-run.ts";

/** Maps each conversation to its thread. */
export interface ConversationMap {
  get(key: string): Promise<string | undefined>;
  set(key: string, threadId: string): Promise<void>;
  delete(key: string): Promise<void>;
}

/** A map in memory, lost when the program ends. */
export class MemoryConversationMap implements ConversationMap {
  readonly #threads = new Map<string, string>();

  async get(key: string): Promise<string | undefined> {
    return this.#threads.get(key);
  }

  async set(key: string, threadId: string): Promise<void> {
    this.#threads.set(key, threadId);
  }

  async delete(key: string): Promise<void> {
    this.#threads.delete(key);
  }
}

/** Folder and settings of a turn, a listener for its events, and a signal that stops it. */
export type ConversationContext = {
  readonly cwd: string;
  readonly model?: string | undefined;
  readonly approvalPolicy?: ApprovalPolicy | undefined;
  readonly onEvent?: ((event: AgentEvent) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
};

/**
 * The function that opens each new connection of the adapter, and the store that remembers its conversations.
 */
export type ConversationAdapterOptions = {
  readonly connect: () => Promise<FlintClient>;
  /** In memory if absent. */
  readonly conversations?: ConversationMap | undefined;
  /** Time for which `closeAll` waits for running turns to stop. 5 s if absent. */
  readonly closeMs?: number | undefined;
};

const CLOSE_MS = 5_000;

/**
 * The smallest thing a chat channel needs: a key, a prompt, an answer. Conversations continue after restarts of the
 * program or the server, turns of one key run one after the other, and every failure is a TurnFailedError.
 */
export class ConversationAdapter {
  readonly #connect: () => Promise<FlintClient>;
  readonly #conversations: ConversationMap;
  readonly #closeMs: number;
  readonly #queue = new KeyedQueue();
  readonly #threads = new Map<string, ThreadHandle>();
  readonly #running = new Set<AbortController>();
  #client: Promise<FlintClient> | undefined;
  #closed = false;

  constructor(options: ConversationAdapterOptions) {
    this.#connect = options.connect;
    this.#conversations = options.conversations ?? new MemoryConversationMap();
    this.#closeMs = options.closeMs ?? CLOSE_MS;
  }

  /** Sends a prompt in the conversation of a key and resolves to the answer of the agent. */
  runTurn(conversationKey: string, prompt: string, context: ConversationContext): Promise<string> {
    return this.#queue.run(conversationKey, () => this.#turn(conversationKey, prompt, context));
  }

  /** Makes the next turn of a key start in a new thread. Waits for the turns that were asked for before. */
  startNewSession(conversationKey: string): Promise<void> {
    return this.#queue.run(conversationKey, () => this.#forget(conversationKey));
  }

  /** Stops what runs, refuses what waits, and ends the connection with all that was started for it. */
  async closeAll(): Promise<void> {
    this.#closed = true;
    for (const controller of this.#running) controller.abort(new Error("The adapter is closing."));
    await settledWithin(this.#queue.settled(), this.#closeMs);
    // A connection that could not be made needs no closing.
    const client = await this.#client?.catch(() => undefined);
    await client?.close();
    await this.#queue.settled();
  }

  async #turn(key: string, prompt: string, context: ConversationContext): Promise<string> {
    const controller = new AbortController();
    const abort = (): void => controller.abort(context.signal?.reason);
    context.signal?.addEventListener("abort", abort, { once: true });
    if (context.signal?.aborted) abort();
    this.#running.add(controller);
    try {
      if (this.#closed) throw new FlintConnectionError("closed", "The adapter was closed.");
      controller.signal.throwIfAborted();
      return answerOf(await this.#runOrStartOver(key, prompt, context, controller.signal));
    } catch (thrown) {
      // The one path on which every failure leaves, whatever its source.
      throw asTurnFailure(key, this.#threads.get(key)?.id, thrown, controller.signal);
    } finally {
      this.#running.delete(controller);
      context.signal?.removeEventListener("abort", abort);
    }
  }

  /** A turn whose thread no longer exists is started once more, in a new thread. */
  async #runOrStartOver(
    key: string,
    prompt: string,
    context: ConversationContext,
    signal: AbortSignal,
  ): Promise<TurnResult> {
    const client = await this.#connected();
    try {
      const thread = (await this.#known(client, key)) ?? (await this.#begin(client, key, context));
      return await runIn(thread, prompt, context, signal);
    } catch (thrown) {
      // Deleted, or of another state folder.
      if (!(thrown instanceof FlintRequestError) || thrown.kind !== "threadNotFound") throw thrown;
    }
    await this.#forget(key);
    return runIn(await this.#begin(client, key, context), prompt, context, signal);
  }

  async #known(client: FlintClient, key: string): Promise<ThreadHandle | undefined> {
    const open = this.#threads.get(key);
    if (open !== undefined) return open;
    const threadId = await this.#conversations.get(key);
    if (threadId === undefined) return undefined;
    const thread = await client.resumeThread(threadId);
    this.#threads.set(key, thread);
    return thread;
  }

  async #begin(client: FlintClient, key: string, context: ConversationContext): Promise<ThreadHandle> {
    const thread = await client.startThread(settingsOf(context));
    this.#threads.set(key, thread);
    await this.#conversations.set(key, thread.id);
    return thread;
  }

  async #forget(key: string): Promise<void> {
    this.#threads.get(key)?.release();
    this.#threads.delete(key);
    await this.#conversations.delete(key);
  }

  #connected(): Promise<FlintClient> {
    this.#client ??= this.#open();
    return this.#client;
  }

  async #open(): Promise<FlintClient> {
    try {
      const client = await this.#connect();
      void client.closed.then(() => this.#disconnected());
      return client;
    } catch (thrown) {
      // The next turn tries again.
      this.#disconnected();
      throw thrown;
    }
  }

  #disconnected(): void {
    this.#client = undefined;
    this.#threads.clear();
  }
}

function runIn(
  thread: ThreadHandle,
  prompt: string,
  context: ConversationContext,
  signal: AbortSignal,
): Promise<TurnResult> {
  // Some agents look at their working directory, others only at the prompt.
  const input = `Workspace: ${context.cwd}\n\n${prompt}`;
  return thread.run(input, { ...settingsOf(context), onEvent: context.onEvent, signal });
}

function settingsOf(context: ConversationContext) {
  const { cwd, model, approvalPolicy } = context;
  return {
    cwd,
    ...(model === undefined ? {} : { model }),
    ...(approvalPolicy === undefined ? {} : { approvalPolicy }),
  };
}

function answerOf({ status, turn, text }: TurnResult): string {
  if (status === "completed") return text;
  throw new TurnFailedError("interrupted", "It was interrupted.", { turn });
}

function asTurnFailure(
  key: string,
  threadId: string | undefined,
  cause: unknown,
  signal: AbortSignal,
): TurnFailedError {
  const message = `The turn of conversation "${key}" failed: ${errorMessage(cause)}`;
  const turn = cause instanceof TurnFailedError && cause.turn !== undefined ? { turn: cause.turn } : {};
  return new TurnFailedError(failureOf(cause, signal), message, { threadId, ...turn, cause });
}

function failureOf(cause: unknown, signal: AbortSignal): TurnFailedError["kind"] {
  if (cause instanceof TurnFailedError) return cause.kind;
  if (cause instanceof FlintRequestError) return "request";
  if (cause instanceof FlintConnectionError) return "connection";
  return signal.aborted ? "interrupted" : "other";
}

async function settledWithin(settled: Promise<void>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([settled, late]);
  clearTimeout(timer);
}

/** Runs work of one key in order, one at a time; different keys run concurrently. */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Runs the work once everything before it under the same key has settled. */
  run<Value>(key: string, work: () => Promise<Value>): Promise<Value> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const result = before.then(work);
    const tail = result.then(ignore, ignore).then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    this.#tails.set(key, tail);
    return result;
  }

  /** Resolves when everything queued so far has settled. */
  async settled(): Promise<void> {
    await Promise.all(this.#tails.values());
  }
}

function ignore(): void {}
