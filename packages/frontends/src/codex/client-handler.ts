import { type FlintError, type ThreadEvent, type ThreadSettings, threadIdOf } from "@flint/protocol";
import { CODEX, type CodexThreadStatus } from "@flint/protocol/codex";
import type { RpcError } from "@flint/rpc";
import { ClientAsks, type OpenAsk } from "../shared/client-asks.ts";
import type { Encoded } from "../shared/encoder.ts";
import type { Client, ClientHandler } from "../shared/frontend.ts";
import type { RequestContext } from "../shared/request-context.ts";
import { AnnouncedFiles } from "./announced-files.ts";
import type { ApprovalWords } from "./approval-words.ts";
import { EncodedAnswer } from "./encoded-answer.ts";
import { HeldStart } from "./held-start.ts";
import { HeldUsage } from "./held-usage.ts";
import type { CodexHost } from "./host/host.ts";
import { inbound } from "./inbound.ts";
import { type CodexMessage, type CodexNotification, tell } from "./outbound.ts";
import { inCodexWords, refused } from "./refusals.ts";
import { TitleThreads } from "./title-threads.ts";
import { ToldStatuses } from "./told-statuses.ts";
import { type Hello, helloOf, type Understood, understand } from "./understanding.ts";
import type { KnownThread, Visit } from "./visit.ts";
import { encodeTold } from "./wire.ts";

/** What all clients of the Codex front end share. */
export interface SharedByClients {
  readonly host: CodexHost;
  readonly words: ApprovalWords;
  encode(event: ThreadEvent): readonly Encoded<CodexMessage>[];
  requestId(key: string): number;
}

/** Serves one client of the Codex front end. */
export class CodexClientHandler implements ClientHandler, Visit {
  readonly client: Client;
  readonly titles: TitleThreads;
  readonly #shared: SharedByClients;
  readonly #asks: ClientAsks;
  readonly #statuses = new ToldStatuses();
  readonly #files = new AnnouncedFiles();
  readonly #usage = new HeldUsage();
  readonly #starts = new HeldStart((event) => this.#pass(event));
  readonly #known = new Map<string, KnownThread>();
  readonly #openings = new Map<string, (settings: ThreadSettings) => void>();
  #hello: Hello | undefined;

  constructor(client: Client, shared: SharedByClients) {
    this.#shared = shared;
    this.client = client;
    this.#asks = new ClientAsks(client, {
      requestId: (key) => shared.requestId(key),
      onResolved: (ask) => this.#resolved(ask),
    });
    this.titles = new TitleThreads((message) => this.send(message), shared.words);
  }

  get host(): CodexHost {
    return this.#shared.host;
  }

  get words(): ApprovalWords {
    return this.#shared.words;
  }

  async request(params: unknown, context: RequestContext): Promise<void> {
    const { method } = context;
    const understood = understand(method, params, this.#hello);
    // From here on, not from the answer on: a client may send what follows in the same breath.
    if (understood.method === "initialize") this.#hello = helloOf(understood.params);
    try {
      await handlerOf(understood)(understood.params, this, (answer) => {
        if (answer instanceof EncodedAnswer) context.replyEncoded(answer.text);
        else context.reply(answer);
      });
    } catch (error) {
      // Whatever the core refuses is refused in the words of this wire.
      throw inCodexWords(error, method, understood.params);
    }
  }

  notification(): void {
    // `initialized` is all that there is, and nobody waits for it: not every client sends it.
  }

  event(event: ThreadEvent): void {
    this.#remember(event);
    for (const known of this.#files.inOrder(event)) {
      for (const next of this.#usage.inOrder(known)) {
        for (const told of this.#starts.inOrder(next, threadIdOf(next))) this.#pass(told);
      }
    }
  }

  threadListEvent(event: ThreadEvent): void {
    if (this.#hello === undefined) return;
    for (const message of this.#shared.encode(event)) {
      if (message.kind === "line") this.#deliver(message);
    }
  }

  errorOf(error: FlintError): RpcError {
    return { code: CODEX.errorCodes[error.kind], message: error.message };
  }

  /** The real server says nothing to what is no message; an answer without an id would fit none of its schemas. */
  malformed(): undefined {
    return undefined;
  }

  close(): void {
    this.#asks.forgetAll();
    this.#starts.forget();
  }

  get hello(): Hello {
    if (this.#hello === undefined) throw refused("Not initialized", "notInitialized");
    return this.#hello;
  }

  known(threadId: string): KnownThread {
    return this.#known.get(threadId) ?? { settings: undefined, activeTurnId: undefined };
  }

  send(message: CodexNotification): void {
    this.#sendLine(message, encodeTold(message.method, message.params, Date.now()));
  }

  onStarted(threadId: string, answer: (settings: ThreadSettings) => void): void {
    this.#openings.set(threadId, answer);
  }

  note(threadId: string, known: Partial<KnownThread>): void {
    this.#known.set(threadId, { ...this.known(threadId), ...known });
  }

  learns(threadId: string, status: CodexThreadStatus): void {
    this.#statuses.isNews({ threadId, status });
  }

  forget(threadId: string): void {
    this.#known.delete(threadId);
    this.#asks.forget(threadId);
    this.#files.forget(threadId);
  }

  #pass(event: ThreadEvent): void {
    for (const message of this.#shared.encode(event)) this.#deliver(message);
  }

  #deliver(message: Encoded<CodexMessage>): void {
    switch (message.kind) {
      case "line":
        this.#sendLine(message.notification, message.line);
        break;
      case "ask":
        this.#asks.ask(message);
        break;
      case "resolved":
        this.#asks.resolve(message.key);
        break;
      default:
        message satisfies never;
    }
  }

  /** All who were asked hear that nobody waits any more, also the one who answered. */
  #resolved({ id: requestId, threadId }: OpenAsk): void {
    this.send(tell("serverRequest/resolved", { threadId, requestId }));
  }

  #sendLine(message: CodexNotification, line: string): void {
    if (message.status !== undefined && !this.#statuses.isNews(message.status)) return;
    if (this.#hello?.unwanted.has(message.method) !== true) this.client.sendLine(line);
  }

  /** Keeps what later answers need, and answers for a thread that begins before the client hears of it. */
  #remember(event: ThreadEvent): void {
    switch (event.type) {
      case "thread/started":
        this.#begun(event.data.thread.id, event.data.settings);
        break;
      case "thread/settings/updated":
        this.note(event.data.threadId, { settings: event.data.settings });
        break;
      case "turn/started":
        this.note(event.data.threadId, { activeTurnId: event.data.turn.id });
        break;
      case "turn/completed":
        this.note(event.data.threadId, { activeTurnId: undefined });
        break;
      case "thread/closed":
      case "thread/deleted":
        this.forget(event.data.threadId);
        break;
    }
  }

  #begun(threadId: string, settings: ThreadSettings): void {
    this.note(threadId, { settings });
    const answer = this.#openings.get(threadId);
    this.#openings.delete(threadId);
    answer?.(settings);
  }
}

type AnyHandler = (params: unknown, visit: Visit, reply: (answer: unknown) => void) => void | Promise<void>;

/** The handler of a request, for params that were checked by the row of the same name. */
function handlerOf({ method }: Understood): AnyHandler {
  const handler: unknown = inbound[method];
  // Name, params and handler belong together; the union has lost which belongs to which.
  return handler as AnyHandler;
}
