import { STANDARD_CODES } from "@flint/protocol";
import {
  type BadMessage,
  decode,
  type Envelope,
  encodeError,
  encodeNotification,
  encodeRequest,
  encodeResult,
  type Id,
  type Incoming,
  idText,
  type Reading,
  type RpcError,
} from "./codec.ts";
import { type LineFault, LineReader } from "./lines.ts";
import { Outbox } from "./outbox.ts";
import { PeerClosedError, PendingRequests, type RequestOptions } from "./pending-requests.ts";
import type { Transport } from "./transport.ts";

/** A line that is not a message, with the id to answer if it has one. */
export type PeerFault = {
  id: Id | null;
  fault: "parse" | "invalid" | "encoding" | "oversize";
  message: string;
  bytes?: number;
  limit?: number;
};

/**
 * Handles what arrives, in order of arrival. An error of a handler is passed to `crashed` with the name of the handler,
 * and reading continues.
 */
export type PeerHandlers = {
  request(id: Id, method: string, params: unknown): void | Promise<void>;
  notification(method: string, params: unknown): void | Promise<void>;
  bad(fault: PeerFault): void;
  /** After the last message of a chunk: the time to write what was gathered. */
  batchEnd?(): void;
  /** A response to no open request: late, repeated or made up. Harmless. */
  orphan?(id: Id): void;
  crashed?(error: unknown, where: string): void;
};

/** `lineLimit` is in bytes, `queueLimit` in characters; `header` adds the `jsonrpc` member to what is written. */
export type PeerOptions = {
  header: boolean;
  lineLimit: number;
  queueLimit: number;
  handlers: PeerHandlers;
  trace?: Trace;
  reading?: Reading;
};

/**
 * One end of a JSON-RPC connection. Both ends may send requests; each numbers its own from 0. While the other side does
 * not read what it is sent, this side stops reading too, so a flood is bounded by the queue limit.
 */
export class Peer {
  /** Resolves once the other side has ended or close was called, with the reason if there was a failure. */
  readonly closed: Promise<Error | undefined>;
  readonly #transport: Transport;
  readonly #handlers: PeerHandlers;
  readonly #envelope: Envelope;
  readonly #trace: Trace | undefined;
  readonly #reading: Reading | undefined;
  readonly #outbox: Outbox;
  readonly #reader: LineReader;
  readonly #pending = new PendingRequests();
  #nextId = 0;
  #ended: { reason: Error | undefined } | undefined;
  #resolveClosed: (reason: Error | undefined) => void = () => {};

  constructor(transport: Transport, options: PeerOptions) {
    this.#transport = transport;
    this.#handlers = options.handlers;
    this.#envelope = { header: options.header };
    this.#trace = options.trace;
    this.#reading = options.reading;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    this.#outbox = new Outbox(transport, { limit: options.queueLimit });
    this.#outbox.onFull(() => transport.pause());
    this.#outbox.onDrain(() => transport.resume());
    this.#reader = new LineReader({
      limit: options.lineLimit,
      line: (text) => this.#onLine(text),
      fault: (fault) => this.#onLineFault(fault),
      batchEnd: () => this.#guard("batchEnd", () => this.#handlers.batchEnd?.()),
    });
  }

  /** The queue to the other side: ask it whether it is full before producing more. */
  get outbox(): Outbox {
    return this.#outbox;
  }

  /** Begins to read. Requests may be sent before. */
  start(): void {
    this.#transport.start({
      chunk: (bytes) => this.#reader.push(bytes),
      closed: (reason) => this.#onTransportClosed(reason),
    });
  }

  /**
   * Sends a request and waits for its response. Rejects with RemoteError, PeerClosedError, PeerTimeoutError or the signal's reason;
   * giving up sends nothing, and a late response is an orphan.
   */
  async request(method: string, params?: unknown, options: RequestOptions = {}): Promise<unknown> {
    if (this.#ended !== undefined) throw new PeerClosedError(method, this.#ended.reason);
    options.signal?.throwIfAborted();
    const id = options.id ?? this.#nextId;
    const line = encodeRequest(id, method, params, this.#envelope);
    this.#nextId = Math.max(this.#nextId, id + 1);
    const answer = this.#pending.add(id, method, options);
    this.sendLine(line);
    return answer;
  }

  /** Sends a notification. */
  notify(method: string, params?: unknown): void {
    this.sendLine(encodeNotification(method, params, this.#envelope));
  }

  /** Answers a request. Throws on a result that JSON cannot hold, so that the owner can answer with an error. */
  reply(id: Id, result: unknown): void {
    this.sendLine(encodeResult(id, result, this.#envelope));
  }

  /** Answers a request, or a malformed line, with an error. */
  replyError(id: Id, error: RpcError): void {
    this.sendLine(encodeError(id, error, this.#envelope));
  }

  /** Sends a line that is encoded already, given without its newline. */
  sendLine(line: string): void {
    this.#trace?.("out", "raw", line);
    this.#outbox.send(line);
  }

  /** Ends the connection: everything pending is rejected now, and what can still be written is. */
  close(reason?: Error): void {
    this.#end(reason);
    this.#outbox.close();
    this.#transport.close();
  }

  /** The end of input is not the end of output: answers to what was read may still go out until the owner closes. */
  #onTransportClosed(reason: Error | undefined): void {
    if (this.#ended !== undefined) return;
    this.#reader.end();
    this.#end(reason);
  }

  #end(reason: Error | undefined): void {
    if (this.#ended !== undefined) return;
    this.#ended = { reason };
    this.#pending.rejectAll(reason);
    this.#resolveClosed(reason);
  }

  #onLine(text: string): void {
    if (this.#ended !== undefined) return;
    this.#trace?.("in", "raw", text);
    const incoming = decode(text, this.#reading);
    this.#trace?.("in", incoming.kind === "bad" ? "failed" : "decoded", summarize(incoming));
    this.#route(incoming);
  }

  #route(incoming: Incoming): void {
    switch (incoming.kind) {
      case "request":
        this.#onRequest(incoming.id, incoming.method, incoming.params);
        break;
      case "notification":
        this.#onNotification(incoming.method, incoming.params);
        break;
      case "response":
        this.#onAnswered(incoming.id, this.#pending.resolve(incoming.id, incoming.result));
        break;
      case "failure":
        this.#onAnswered(incoming.id, this.#pending.fail(incoming.id, incoming.error));
        break;
      case "bad":
        this.#onBad(incoming);
        break;
      default:
        incoming satisfies never;
    }
  }

  #onRequest(id: Id, method: string, params: unknown): void {
    this.#guard(method, () => this.#handlers.request(id, method, params));
  }

  #onNotification(method: string, params: unknown): void {
    this.#guard(method, () => this.#handlers.notification(method, params));
  }

  #onAnswered(id: Id, awaited: boolean): void {
    if (!awaited) this.#guard("orphan", () => this.#handlers.orphan?.(id));
  }

  /** An unusable answer must not leave its request waiting, and is not answered in turn. */
  #onBad(bad: BadMessage): void {
    const { id, fault, message } = bad;
    if (bad.answer && this.#pending.fail(id, { code: STANDARD_CODES.invalidRequest, message })) return;
    this.#guard("bad", () => this.#handlers.bad({ id, fault, message }));
  }

  #onLineFault(fault: LineFault): void {
    if (this.#ended !== undefined) return;
    const message = faultMessage(fault);
    this.#trace?.("in", "failed", message);
    const { kind, ...size } = fault;
    this.#guard("bad", () => this.#handlers.bad({ id: null, fault: kind, message, ...size }));
  }

  #guard(where: string, handle: () => void | Promise<void>): void {
    try {
      const finished = handle();
      if (finished instanceof Promise) finished.catch((error: unknown) => this.#onCrash(error, where));
    } catch (error) {
      // A handler is the owner's code; its bug must not stop the messages behind this one.
      this.#onCrash(error, where);
    }
  }

  #onCrash(error: unknown, where: string): void {
    this.#trace?.("in", "failed", `the handler of ${where} threw: ${String(error)}`);
    try {
      this.#handlers.crashed?.(error, where);
    } catch {
      // There is no one left to report it to.
    }
  }
}

function faultMessage(fault: LineFault): string {
  if (fault.kind === "encoding") return "the line is not valid UTF-8";
  return `the line has ${fault.bytes} bytes, more than the limit of ${fault.limit}`;
}

function summarize(incoming: Incoming): string {
  switch (incoming.kind) {
    case "request":
    case "notification":
      return `${incoming.kind} ${incoming.method}`;
    case "response":
      return `response to ${idText(incoming.id)}`;
    case "failure":
      return `failure of ${idText(incoming.id)}: ${incoming.error.code} ${incoming.error.message}`;
    case "bad":
      return incoming.message;
  }
}

/** Observes the wire: a line as it is (`raw`), what it was decoded to (`decoded`), or why it was dropped (`failed`). */
export type Trace = (direction: "in" | "out", stage: "raw" | "decoded" | "failed", payload: string) => void;

/** Most characters of one payload, and of all payloads together. */
export type TraceCaps = { maxLine: number; maxTotal: number };

/** Passes a trace on up to its caps; a cut payload ends with its full length, and the last one reports that the trace stops. */
export function cappedTrace(sink: Trace, caps: TraceCaps): Trace {
  let left = caps.maxTotal;
  let stopped = false;
  return (direction, stage, payload) => {
    if (stopped) return;
    const line = cut(payload, caps.maxLine);
    left -= Math.min(payload.length, caps.maxLine);
    if (left >= 0) {
      sink(direction, stage, line);
      return;
    }
    stopped = true;
    sink(direction, stage, `[trace stops here: ${caps.maxTotal} characters traced]`);
  };
}

function cut(payload: string, limit: number): string {
  if (payload.length <= limit) return payload;
  return `${payload.slice(0, limit)} [cut: ${payload.length} characters in all]`;
}
