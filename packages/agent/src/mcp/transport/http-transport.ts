import type { Clock, McpServerConfig } from "@flint/core/ports";
import { LIMITS } from "@flint/protocol";
import type {
  FetchLike,
  JSONRPCMessage,
  StreamableHTTPClientTransport,
  Transport,
} from "@modelcontextprotocol/client";
import { MessageInbox, type ServerTransport, TransportClosed } from "./server-transport.ts";

type HttpConfig = Extract<McpServerConfig, { type: "http" }>;
type InnerTransport = typeof StreamableHTTPClientTransport;

/** The timeout of the request that ends the session. */
const TERMINATE_MS = 2000;

/** The transport to a server over HTTP. Fails requests that the library leaves pending when a stream breaks. */
export class HttpTransport implements ServerTransport {
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: Transport["onmessage"];
  readonly diagnostics = "";
  readonly #inner: StreamableHTTPClientTransport;
  readonly #clock: Clock;
  readonly #inbox = new MessageInbox((message) => this.onmessage?.(message));
  #ending = "";
  #closing: Promise<void> | undefined;

  constructor({ url, headers }: HttpConfig, clock: Clock, Inner: InnerTransport) {
    this.#inner = new Inner(httpAddress(url), {
      requestInit: { headers: { ...headers } },
      fetch: checkedRedirects(boundedFetch(LIMITS.line, () => this.#tooLarge())),
    });
    this.#clock = clock;
  }

  get closeReason(): string {
    return this.#ending;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  start(): Promise<void> {
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onmessage = (message) => this.#inbox.deliver(message);
    return this.#inner.start();
  }

  /** The library's options belong to a newer protocol version and are not used. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closing !== undefined) throw new TransportClosed("The connection was closed.");
    this.#inbox.trackRequest(message);
    await this.#inner.send(message, { onRequestStreamEnd: () => this.#onStreamEnd(message) });
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    this.#ending = "The connection was closed.";
    await this.#terminateSession();
    await this.#inner.close();
    await this.#inbox.delivered;
    this.onclose?.();
  }

  /** Ends the session on the server. It makes no difference if the server does not receive this. */
  async #terminateSession(): Promise<void> {
    let cancel = () => {};
    const enough = new Promise<void>((resolve) => {
      cancel = this.#clock.after(TERMINATE_MS, resolve);
    });
    await Promise.race([this.#inner.terminateSession().catch(() => undefined), enough]);
    cancel();
  }

  #onStreamEnd(message: JSONRPCMessage): void {
    if (!("id" in message) || message.id === undefined) return;
    this.#inbox.failPending("The connection ended before the response.", [message.id]);
  }

  /** Fails all pending requests, because it is unknown which of them the response belonged to. */
  #tooLarge(): void {
    this.#inbox.failPending(`It sent a message of more than ${LIMITS.line} bytes.`);
  }
}

function httpAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new Error("Its url is not an http or https URL. Correct it in the configuration.");
}

const LF = 10;
const CR = 13;

/**
 * A fetch whose responses fail when they exceed the limit: a body as a whole, an event stream in each of its events.
 * `exceeded` is called then.
 */
export function boundedFetch(limit: number, exceeded: () => void): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
    const size = isStream ? sinceBlankLine() : inTotal();
    return new Response(response.body.pipeThrough(limiter(limit, size, exceeded)), {
      status,
      statusText,
      headers,
    });
  };
}

/** The size of the message that a chunk belongs to. */
type Size = (chunk: Uint8Array) => number;

function limiter(limit: number, size: Size, exceeded: () => void): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(chunk, controller) {
      if (size(chunk) <= limit) return controller.enqueue(chunk);
      exceeded();
      controller.error(new Error(`A message had more than ${limit} bytes.`));
    },
  });
}

function inTotal(): Size {
  let total = 0;
  return (chunk) => {
    total += chunk.length;
    return total;
  };
}

/** The events of a stream are separated by blank lines. */
function sinceBlankLine(): Size {
  let size = 0;
  let lineIsBlank = true;
  return (chunk) => {
    let largest = size;
    for (const byte of chunk) {
      size += 1;
      largest = Math.max(largest, size);
      if (byte === LF && lineIsBlank) size = 0;
      if (byte !== CR) lineIsBlank = byte === LF;
    }
    return largest;
  };
}

const MAX_REDIRECTS = 5;
/** Those that repeat the request as it was. The others would turn a message into a request for a page. */
const REPEATING = [307, 308];

/**
 * A fetch that follows redirects only within the server itself, or from http to https. A server that the user has
 * configured must neither pass its headers on to another one, nor send requests to services of the user's network.
 */
function checkedRedirects(fetch: FetchLike): FetchLike {
  return async (url, init) => {
    let address = new URL(url);
    for (let count = 0; count <= MAX_REDIRECTS; count += 1) {
      const response = await fetch(address, { ...init, redirect: "manual" });
      const location = response.headers.get("location");
      if (response.status < 300 || response.status >= 400 || location === null) return response;
      await response.body?.cancel();
      address = redirected(address, location, response.status);
    }
    throw new Error(`It redirects more than ${MAX_REDIRECTS} times.`);
  };
}

function redirected(from: URL, location: string, status: number): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  const isSecured = from.protocol === "http:" && to?.protocol === "https:" && to.port === "";
  const isSame = to?.origin === from.origin || (isSecured && to.hostname === from.hostname);
  if (to !== undefined && isSame && REPEATING.includes(status)) return to;
  const where = to === undefined || isSame ? "" : ` to ${to.origin}`;
  throw new Error(
    `It redirects${where} (HTTP ${status}). To allow this, set the new URL in the configuration.`,
  );
}
