import {
  errorMessage,
  HARNESS,
  HARNESS_ITEMS,
  type HarnessApprovalRequest,
  type HarnessDecision,
  type HarnessItem,
  type HarnessNotificationParams,
  type HarnessTurn,
  LIMITS,
} from "@flint/protocol";
import { type Id, Peer, type Transport } from "@flint/rpc";
import { escapeControls } from "@flint/view";

/** The options of the example client. */
export interface HarnessClientOptions {
  /** The connection to a harness server. It is closed at the end. */
  readonly transport: Transport;
  /** The absolute path of the folder to work in. */
  readonly cwd: string;
  readonly prompt: string;
  write(text: string): void;
  /** Asks the user. The signal aborts when no answer is needed any more; an error means no. */
  decide(request: HarnessApprovalRequest, signal: AbortSignal): Promise<HarnessDecision>;
}

/**
 * Runs a prompt in a new thread and prints the work as it happens. Resolves with the exit code: 0 if the turn completed; 1
 * if it failed, was cancelled or the connection closed, with the reason on the last line.
 */
export async function runHarnessClient(options: HarnessClientOptions): Promise<number> {
  return new HarnessClient(options).run();
}

const { requests: REQUESTS, serverNotifications: NOTIFICATIONS } = HARNESS;

/** The reason the turn ended; undefined if it completed. */
type Ending = string | undefined;

class HarnessClient {
  readonly #options: HarnessClientOptions;
  readonly #peer: Peer;
  readonly #screen: HarnessScreen;
  readonly #ended: Promise<Ending>;
  readonly #unanswered = new Map<string, AbortController>();
  #asking: Promise<void> = Promise.resolve();
  #threadId: string | undefined;
  #end: (ending: Ending) => void = () => {};

  constructor(options: HarnessClientOptions) {
    this.#options = options;
    this.#screen = new HarnessScreen((text) => options.write(text));
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#peer = new Peer(options.transport, {
      header: HARNESS.header,
      lineLimit: LIMITS.line,
      queueLimit: LIMITS.clientQueue,
      handlers: {
        request: (id, method) => this.#refuse(id, method),
        notification: (method, params) => this.#onNotification(method, params),
        bad: ({ message }) => this.#screen.line(`warning: ignored a line from the server: ${message}`),
        crashed: (error) => this.#end(errorMessage(error)),
      },
    });
  }

  async run(): Promise<number> {
    this.#peer.start();
    try {
      await this.#begin();
      const ending = await Promise.race([this.#ended, this.#disconnected()]);
      if (ending !== undefined) return this.#fail(ending);
      this.#screen.endLine();
      return 0;
    } catch (error) {
      // A rejected request, or a connection that closed before the response: the message says which.
      return this.#fail(errorMessage(error));
    } finally {
      for (const open of this.#unanswered.values()) open.abort();
      this.#peer.close();
    }
  }

  async #begin(): Promise<void> {
    const { cwd, prompt } = this.#options;
    await this.#ask("initialize", REQUESTS.initialize.result, {
      clientInfo: { name: "flint harness client" },
    });
    const { thread } = await this.#ask("thread.create", REQUESTS["thread.create"].result, { directory: cwd });
    this.#threadId = thread.threadId;
    const input = [{ type: "text", text: prompt }];
    await this.#ask("turn.start", REQUESTS["turn.start"].result, { threadId: thread.threadId, input });
  }

  async #ask<Result>(method: string, schema: Schema<Result>, params: object): Promise<Result> {
    const parsed = schema.safeParse(await this.#peer.request(method, params));
    if (parsed.success) return parsed.data;
    throw new Error(`invalid response to ${method}; is this a harness server?`);
  }

  async #disconnected(): Promise<Ending> {
    const reason = await this.#peer.closed;
    const why = reason === undefined ? "" : `: ${reason.message}`;
    return `the connection closed before the turn ended${why}`;
  }

  #fail(message: string): number {
    this.#screen.line(`error: ${message}`);
    return 1;
  }

  /** The protocol has no requests to the client; an unanswered one would block the server. */
  #refuse(id: Id, method: string): void {
    const code = HARNESS.errorCodes.methodNotFound;
    this.#peer.replyError(id, { code, message: `this client has no method ${method}` });
  }

  #onNotification(method: string, params: unknown): void {
    switch (method) {
      case "item.started":
        when(NOTIFICATIONS["item.started"].params, params, ({ item }) => this.#onItemStarted(item));
        break;
      case "item.delta":
        when(NOTIFICATIONS["item.delta"].params, params, (delta) => this.#onDelta(delta));
        break;
      case "item.completed":
        when(NOTIFICATIONS["item.completed"].params, params, ({ item }) => this.#onItemCompleted(item));
        break;
      case "approval.requested":
        when(NOTIFICATIONS["approval.requested"].params, params, (request) => this.#onApproval(request));
        break;
      case "turn.completed":
        when(NOTIFICATIONS["turn.completed"].params, params, ({ turn }) => {
          this.#onTurnEnded(turn, turn.status === "completed" ? undefined : "the turn was cancelled");
        });
        break;
      case "turn.error":
        when(NOTIFICATIONS["turn.error"].params, params, ({ turn, error }) =>
          this.#onTurnEnded(turn, error.message),
        );
        break;
      default:
      // Other notifications are not printed.
    }
  }

  #onTurnEnded(turn: HarnessTurn, ending: Ending): void {
    if (this.#isOurs(turn)) this.#end(ending);
  }

  #isOurs({ threadId }: { threadId: string }): boolean {
    return threadId === this.#threadId;
  }

  #onItemStarted(item: HarnessItem): void {
    if (!this.#isOurs(item) || item.type !== "tool_exec") return;
    when(HARNESS_ITEMS.tool_exec.data, item.data, ({ tool, command }) => {
      this.#screen.line(typeof command === "string" ? `$ ${command}` : `* ${tool}`);
    });
  }

  #onDelta({
    threadId,
    itemId,
    itemType,
    field,
    delta,
    offset,
  }: HarnessNotificationParams<"item.delta">): void {
    const shown = itemType === "tool_log" || (itemType === "assistant_message" && field === "text");
    if (shown && this.#isOurs({ threadId })) this.#screen.text(itemId, delta, offset);
  }

  #onItemCompleted(item: HarnessItem): void {
    if (!this.#isOurs(item)) return;
    const { itemId, type, data } = item;
    if (type === "assistant_message") {
      when(HARNESS_ITEMS[type].data, data, ({ text = "" }) => this.#screen.endText(itemId, text));
    } else if (type === "tool_log") {
      when(HARNESS_ITEMS[type].data, data, ({ output }) => this.#screen.endText(itemId, output));
    } else if (type === "artifact") {
      when(HARNESS_ITEMS[type].data, data, ({ path, change }) => {
        this.#screen.line(`${change === "add" ? "+" : "~"} ${path}`);
      });
    } else if (type === "approval") {
      // The item of an approval has the id of its request.
      this.#unanswered.get(itemId)?.abort();
    }
  }

  /** Asks one question at a time. */
  #onApproval(request: HarnessApprovalRequest): void {
    if (!this.#isOurs(request)) return;
    const open = new AbortController();
    this.#unanswered.set(request.requestId, open);
    this.#asking = this.#asking.then(() => this.#answer(request, open.signal));
  }

  async #answer(request: HarnessApprovalRequest, signal: AbortSignal): Promise<void> {
    const decision = await decided(() => this.#options.decide(request, signal), signal);
    if (decision === undefined) return;
    const { requestId } = request;
    try {
      await this.#peer.request("approval.respond", { requestId, decision });
    } catch (error) {
      // Another client was faster, or the connection is closed, which run() reports.
      if (!signal.aborted) this.#screen.line(`warning: the answer was not accepted: ${errorMessage(error)}`);
    }
  }
}

/** The user's answer, a rejection if asking failed, or undefined when no answer is needed any more. */
async function decided(
  decide: () => Promise<HarnessDecision>,
  signal: AbortSignal,
): Promise<HarnessDecision | undefined> {
  if (signal.aborted) return undefined;
  const aborted = new Promise<undefined>((resolve) => {
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  try {
    return await Promise.race([decide(), aborted]);
  } catch {
    // A user who could not be asked has not agreed.
    return signal.aborted ? undefined : "reject";
  }
}

/** The part of a zod schema that is used here. */
interface Schema<Output> {
  safeParse(value: unknown): { success: true; data: Output } | { success: false };
}

/** Acts on valid values; a newer server may send shapes that this client does not know. */
function when<Output>(schema: Schema<Output>, value: unknown, act: (output: Output) => void): void {
  const parsed = schema.safeParse(value);
  if (parsed.success) act(parsed.data);
}

/** Prints streamed text, each item on lines of its own. Repeated pieces are printed once. */
export class HarnessScreen {
  readonly #write: (text: string) => void;
  readonly #shown = new Map<string, number>();
  #current: string | undefined;
  #lineOpen = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** Prints a line. */
  line(text: string): void {
    this.endLine();
    this.#put(`${text}\n`);
  }

  /** Prints a piece of an item's text that starts at `offset`, or where the last piece ended. */
  text(itemId: string, piece: string, offset?: number): void {
    const shown = this.#shown.get(itemId) ?? 0;
    const start = offset ?? shown;
    const fresh = piece.slice(Math.max(0, shown - start));
    if (fresh === "") return;
    if (this.#current !== itemId) this.endLine();
    this.#current = itemId;
    this.#shown.set(itemId, start + piece.length);
    this.#put(fresh);
  }

  /** Prints what was not streamed of an item's complete text. */
  endText(itemId: string, whole: string): void {
    this.text(itemId, whole, 0);
    if (this.#current === itemId) this.endLine();
    this.#shown.delete(itemId);
  }

  /** Ends the current line, if there is one. */
  endLine(): void {
    if (this.#lineOpen) this.#put("\n");
    this.#current = undefined;
  }

  #put(text: string): void {
    this.#lineOpen = !text.endsWith("\n");
    this.#write(escapeControls(text));
  }
}
