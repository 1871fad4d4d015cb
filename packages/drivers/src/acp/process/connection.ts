import type { Clock } from "@flint/core/ports";
import { FlintError, LIMITS } from "@flint/protocol";
import {
  type Id,
  idText,
  Peer,
  PeerClosedError,
  PeerTimeoutError,
  RemoteError,
  type Trace,
} from "@flint/rpc";
import type { AgentProcess } from "../../shared/agent-process.ts";
import { type JsonObject, objectOf, stringOf } from "../wire.ts";
import { PacedTransport } from "./paced-transport.ts";
import { ACP_CODES, RequestRefusal } from "./request-refusal.ts";

/** What is done with what an agent says by itself. */
export interface AgentServices {
  notified(method: string, params: JsonObject): void;
  /** Answers a request. Rejects with a RequestRefusal. */
  requested(method: string, params: JsonObject): Promise<unknown>;
  /** Resolves when more may be read. */
  caughtUp(): Promise<void>;
}

/** What a connection has to know about its agent. */
export interface AcpWire {
  readonly title: string;
  readonly clock: Clock;
  readonly trace?: Trace | undefined;
}

/** How many lines that are no messages an agent may print; a banner or some log lines are harmless. */
const BAD_LINES = 200;
/** How many requests of an agent may wait for an answer. */
const OPEN_REQUESTS = 64;
const DETAILS = 1000;

/** The wire to one agent's process. When either ends, so does the other, and everything pending is rejected. */
export class AcpConnection {
  readonly #title: string;
  readonly #clock: Clock;
  readonly #process: AgentProcess;
  readonly #services: AgentServices;
  readonly #peer: Peer;
  readonly #open = new Map<string, () => void>();
  #badLines = 0;

  constructor(wire: AcpWire, process: AgentProcess, services: AgentServices) {
    this.#title = wire.title;
    this.#clock = wire.clock;
    this.#process = process;
    this.#services = services;
    const transport = new PacedTransport(process.transport, () => services.caughtUp());
    this.#peer = new Peer(transport, {
      header: true,
      lineLimit: LIMITS.line,
      queueLimit: LIMITS.clientQueue,
      handlers: {
        request: (id, method, params) => this.#answer(id, method, objectOf(params)),
        notification: (method, params) => this.#notified(method, objectOf(params)),
        bad: ({ message }) => this.#onBad(message),
      },
      ...(wire.trace === undefined ? {} : { trace: wire.trace }),
    });
    this.#peer.start();
    // A process that ended while something it started holds its output says nothing more.
    void process.exited.then(() => this.#peer.close());
  }

  /** Resolves when nothing more can be heard of the agent. */
  get closed(): Promise<unknown> {
    return this.#peer.closed;
  }

  /** Asks the agent. Rejects with what the peer rejects with; `failure` makes words of it. */
  async request(method: string, params: object, timeoutMs?: number): Promise<JsonObject> {
    if (timeoutMs === undefined) return objectOf(await this.#peer.request(method, params));
    const late = new AbortController();
    const expire = () => late.abort(new PeerTimeoutError(method, timeoutMs));
    const cancel = this.#clock.after(timeoutMs, expire);
    return objectOf(await this.#peer.request(method, params, { signal: late.signal }).finally(cancel));
  }

  /** Tells the agent. */
  notify(method: string, params: object): void {
    this.#peer.notify(method, params);
  }

  /** Ends the agent and everything it started. */
  async stop(): Promise<void> {
    this.#peer.close();
    await this.#process.stop();
  }

  /** What went wrong with a request, in words. An agent that did not answer is ended for it. */
  async failure(thrown: unknown): Promise<FlintError> {
    if (thrown instanceof RemoteError) return refusedBy(this.#title, thrown);
    if (!(thrown instanceof PeerClosedError || thrown instanceof PeerTimeoutError)) throw thrown;
    await this.stop();
    const ended = await this.#process.failure();
    if (thrown instanceof PeerClosedError && this.#badLines === 0) return ended;
    const garbage = this.#badLines === 0 ? "" : ` It printed ${this.#badLines} lines that are no messages.`;
    const message = `${this.#title}: ${thrown.message}.${garbage}${await this.#process.lastLines()}`;
    return new FlintError("agentFailed", message, {}, { cause: thrown });
  }

  #notified(method: string, params: JsonObject): void {
    if (method === "$/cancel_request") this.#open.get(String(params.requestId))?.();
    else this.#services.notified(method, params);
  }

  async #answer(id: Id, method: string, params: JsonObject): Promise<void> {
    const key = idText(id);
    if (this.#open.size >= OPEN_REQUESTS || this.#open.has(key)) {
      this.#peer.replyError(id, { code: ACP_CODES.internalError, message: "Too many requests are open." });
      return;
    }
    const withdrawn = new Promise<never>((_, reject) => {
      this.#open.set(key, () => reject(new RequestRefusal("cancelled", "The request was withdrawn.")));
    });
    // Expected: a refusal, which the agent is told. Anything else is a fault of ours, and it is told as well.
    try {
      this.#peer.reply(id, await Promise.race([this.#serve(method, params), withdrawn]));
    } catch (thrown) {
      const code = thrown instanceof RequestRefusal ? thrown.code : ACP_CODES.internalError;
      this.#peer.replyError(id, { code, message: thrown instanceof Error ? thrown.message : String(thrown) });
    } finally {
      this.#open.delete(key);
    }
  }

  /** What an agent asks right behind its last words of a turn comes with them, and must not be taken for a part of it. */
  async #serve(method: string, params: JsonObject): Promise<unknown> {
    await new Promise((resolve) => setImmediate(resolve));
    return this.#services.requested(method, params);
  }

  #onBad(message: string): void {
    this.#badLines += 1;
    if (this.#badLines > BAD_LINES) this.#peer.close(new Error(`it does not speak the protocol: ${message}`));
  }
}

function refusedBy(title: string, error: RemoteError): FlintError {
  const data = objectOf(error.data);
  const details = stringOf(error.data) ?? stringOf(data.details) ?? stringOf(data.message);
  const more = details === undefined || details === error.message ? "" : `: ${details.slice(0, DETAILS)}`;
  const message = `${title} refused ${error.method}: ${error.message}${more}`;
  return new FlintError("agentFailed", message, { code: error.code }, { cause: error });
}
