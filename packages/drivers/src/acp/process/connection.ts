import type { Clock } from "@flint/core/ports";
import { errorMessage, FlintError, LIMITS, STANDARD_CODES, stringOf } from "@flint/protocol";
import {
  type Id,
  idText,
  Peer,
  PeerClosedError,
  PeerTimeoutError,
  type Receiver,
  RemoteError,
  type Trace,
  type Transport,
  WrappedTransport,
} from "@flint/rpc";
import type { AgentProcess } from "../../shared/agent-process.ts";
import { type JsonObject, objectOf } from "../../shared/json.ts";

/** The error codes of the protocol. */
export const ACP_CODES = {
  ...STANDARD_CODES,
  authRequired: -32000,
  notFound: -32002,
  cancelled: -32800,
} as const;

/** The reason a request of an agent is refused; the message is sent to the agent. */
export class RequestRefusal extends Error {
  override readonly name = "RequestRefusal";
  readonly code: number;

  constructor(kind: keyof typeof ACP_CODES, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = ACP_CODES[kind];
  }
}

/** Handles what an agent sends. */
export interface AgentHandlers {
  notification(method: string, params: JsonObject): void;
  /** Resolves with the response. Rejects with a RequestRefusal. */
  request(method: string, params: JsonObject): Promise<unknown>;
  /** Resolves when more may be read. */
  ready(): Promise<void>;
}

/** The facts about its agent that a connection needs. */
export interface AcpConnectionOptions {
  readonly displayName: string;
  readonly clock: Clock;
  readonly trace?: Trace | undefined;
}

/** Maximum number of malformed lines that an agent may print; a banner or some log lines are harmless. */
const MAX_MALFORMED_LINES = 200;
/** Maximum number of open requests of an agent. */
const MAX_OPEN_REQUESTS = 64;
const DETAIL_CHARACTERS = 1000;

/** The connection to one agent's process. When either ends, so does the other, and every pending request is rejected. */
export class AcpConnection {
  readonly #options: AcpConnectionOptions;
  readonly #process: AgentProcess;
  readonly #handlers: AgentHandlers;
  readonly #peer: Peer;
  /** Cancels each request of the agent that is open. */
  readonly #open = new Map<string, () => void>();
  #malformedLines = 0;

  constructor(options: AcpConnectionOptions, process: AgentProcess, handlers: AgentHandlers) {
    this.#options = options;
    this.#process = process;
    this.#handlers = handlers;
    const transport = new PacedTransport(process.transport, () => handlers.ready());
    this.#peer = new Peer(transport, {
      header: true,
      lineLimit: LIMITS.line,
      queueLimit: LIMITS.clientQueue,
      handlers: {
        request: (id, method, params) => this.#onRequest(id, method, objectOf(params)),
        notification: (method, params) => this.#onNotification(method, objectOf(params)),
        bad: ({ message }) => this.#onMalformed(message),
      },
      ...(options.trace === undefined ? {} : { trace: options.trace }),
    });
    this.#peer.start();
    // Something that the process started may keep its output open after it has ended.
    void process.exited.then(() => this.#peer.close());
  }

  /** Has the session stored, as it is so far, where the agent finds it outside of the sandbox. */
  publishSession(): void {
    void this.#process.sessions.publish();
  }

  /** Resolves when nothing more can come from the agent. */
  get closed(): Promise<unknown> {
    return this.#peer.closed;
  }

  /** Sends a request. Rejects with an error of the peer, which `failure` turns into a FlintError. */
  async request(method: string, params: object, timeoutMs?: number): Promise<JsonObject> {
    if (timeoutMs === undefined) return objectOf(await this.#peer.request(method, params));
    const late = new AbortController();
    const expire = () => late.abort(new PeerTimeoutError(method, timeoutMs));
    const cancel = this.#options.clock.after(timeoutMs, expire);
    return objectOf(await this.#peer.request(method, params, { signal: late.signal }).finally(cancel));
  }

  /** Sends a notification. */
  notify(method: string, params: object): void {
    this.#peer.notify(method, params);
  }

  /** Stops the agent and everything it started. */
  async stop(): Promise<void> {
    this.#peer.close();
    await this.#process.stop();
  }

  /** The FlintError for a request that was rejected. An agent that did not answer is stopped. */
  async failure(thrown: unknown): Promise<FlintError> {
    const { displayName } = this.#options;
    if (thrown instanceof RemoteError) return refusedBy(displayName, thrown);
    if (!(thrown instanceof PeerClosedError || thrown instanceof PeerTimeoutError)) throw thrown;
    await this.stop();
    const ended = await this.#process.failure();
    if (thrown instanceof PeerClosedError && this.#malformedLines === 0) return ended;
    const malformed =
      this.#malformedLines === 0 ? "" : ` It printed ${this.#malformedLines} lines that are not messages.`;
    const message = `${displayName}: ${thrown.message}.${malformed}${await this.#process.lastLines()}`;
    return new FlintError("agentFailed", message, {}, { cause: thrown });
  }

  #onNotification(method: string, params: JsonObject): void {
    if (method === "$/cancel_request") this.#open.get(String(params.requestId))?.();
    else this.#handlers.notification(method, params);
  }

  async #onRequest(id: Id, method: string, params: JsonObject): Promise<void> {
    const key = idText(id);
    if (this.#open.size >= MAX_OPEN_REQUESTS || this.#open.has(key)) {
      this.#peer.replyError(id, { code: ACP_CODES.internalError, message: "Too many requests are open." });
      return;
    }
    const cancelled = new Promise<never>((_, reject) => {
      this.#open.set(key, () => reject(new RequestRefusal("cancelled", "The request was cancelled.")));
    });
    // Expected: a refusal. Anything else is a fault of ours, and the agent gets an answer as well.
    try {
      this.#peer.reply(id, await Promise.race([this.#handle(method, params), cancelled]));
    } catch (thrown) {
      const code = thrown instanceof RequestRefusal ? thrown.code : ACP_CODES.internalError;
      this.#peer.replyError(id, { code, message: errorMessage(thrown) });
    } finally {
      this.#open.delete(key);
    }
  }

  /** A request right behind the end of a turn comes in the same chunk, and is not part of that turn. */
  async #handle(method: string, params: JsonObject): Promise<unknown> {
    await new Promise((resolve) => setImmediate(resolve));
    return this.#handlers.request(method, params);
  }

  #onMalformed(message: string): void {
    this.#malformedLines += 1;
    if (this.#malformedLines > MAX_MALFORMED_LINES)
      this.#peer.close(new Error(`it does not speak the protocol: ${message}`));
  }
}

function refusedBy(displayName: string, error: RemoteError): FlintError {
  const data = objectOf(error.data);
  const details = stringOf(error.data) ?? stringOf(data.details) ?? stringOf(data.message);
  const more =
    details === undefined || details === error.message ? "" : `: ${details.slice(0, DETAIL_CHARACTERS)}`;
  const message = `${displayName} refused ${error.method}: ${error.message}${more}`;
  return new FlintError("agentFailed", message, { code: error.code }, { cause: error });
}

/** Amount of data that may be read before its reader has to be ready for more. */
const MAX_UNCONFIRMED_BYTES = 256 * 1024;

/** A transport that is read no faster than its content can be processed. */
class PacedTransport extends WrappedTransport {
  readonly #ready: () => Promise<void>;
  #unconfirmed = 0;
  #isWaiting = false;
  #isPaused = false;

  /** `ready` resolves when more may be read. */
  constructor(inner: Transport, ready: () => Promise<void>) {
    super(inner);
    this.#ready = ready;
  }

  override start(receiver: Receiver): void {
    this.inner.start({
      chunk: (bytes) => {
        receiver.chunk(bytes);
        this.#count(bytes.length);
      },
      closed: (reason) => receiver.closed(reason),
    });
  }

  override pause(): void {
    this.#isPaused = true;
    this.inner.pause();
  }

  override resume(): void {
    this.#isPaused = false;
    this.#resumeInner();
  }

  #count(bytes: number): void {
    this.#unconfirmed += bytes;
    if (this.#unconfirmed < MAX_UNCONFIRMED_BYTES || this.#isWaiting) return;
    this.#isWaiting = true;
    this.inner.pause();
    void this.#ready().finally(() => {
      this.#unconfirmed = 0;
      this.#isWaiting = false;
      this.#resumeInner();
    });
  }

  #resumeInner(): void {
    if (!this.#isWaiting && !this.#isPaused) this.inner.resume();
  }
}
