import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Server as Listener, Socket } from "node:net";
import type { Clock } from "@flint/core/ports";
import {
  type AddressBlock,
  type Endpoint,
  formatEndpoint,
  parseAuthority,
  parseHttpUrl,
} from "@flint/protocol";
import type { ConnectionEvent, ProxyError } from "./connection-log.ts";
import type { Dialer } from "./dial.ts";
import type { ConnectionRequest, Decision } from "./host-gate.ts";
import { receiveEarly, splice } from "./tunnel.ts";

/** Dependencies that a proxy asks and reports to. */
export interface ProxyOptions {
  readonly clock: Clock;
  readonly dialer: Dialer;
  /** Decides about each connection, and about each request of plain HTTP. */
  decide(request: ConnectionRequest): Promise<Decision>;
  /** The private addresses that the user named for a connection that is allowed; none if absent. */
  addressesOf?(request: ConnectionRequest): readonly AddressBlock[];
  /** The command that a token was made for; undefined if it is forged or its command has ended. */
  commandOf(token: string): string | undefined;
  onEvent(event: ConnectionEvent): void;
  readonly limits?: Partial<ProxyLimits>;
}

/** Limits on the server's resources that a command can use. */
export interface ProxyLimits {
  readonly connections: number;
  readonly headerBytes: number;
  /** Time for which a connection may send nothing in either direction. */
  readonly idleMs: number;
  /** Time within which a client must send the head of its request. */
  readonly headMs: number;
}

const LIMITS: ProxyLimits = { connections: 256, headerBytes: 16_384, idleMs: 600_000, headMs: 10_000 };

/** Headers that concern one connection only and are never passed on. */
const HOP_BY_HOP = [
  ...["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"],
  ...["proxy-authenticate", "proxy-authorization", "proxy-connection", "x-proxy-error"],
];

/** A request that goes no further, and what its program is answered. */
interface Refusal {
  readonly status: number;
  readonly code: ProxyError;
  readonly reason: string;
}

type Opened = { readonly ok: true; readonly socket: Socket } | ({ readonly ok: false } & Refusal);

/** An HTTP proxy that lets through what is decided, and reports the rest to the program and the log. */
export class FilteringProxy {
  readonly #options: ProxyOptions;
  readonly #limits: ProxyLimits;
  readonly #http: Server;
  readonly #listeners = new Set<Listener>();
  readonly #sockets = new Set<Socket>();
  /** Functions that stop the timeout of a client for the head of its request. */
  readonly #heads = new WeakMap<Socket, () => void>();
  #isDisposed = false;

  constructor(options: ProxyOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#http = createServer({ maxHeaderSize: this.#limits.headerBytes, requestTimeout: 0 });
    this.#http.on("connect", (message, _stream, head) => {
      this.#onConnect(message, head).catch(() => message.socket.destroy());
    });
    this.#http.on("request", (message, response) => {
      this.#onRequest(message, response).catch(() => message.socket.destroy());
    });
  }

  /** Serves the connections of a listening socket until it closes. */
  serve(listener: Listener): void {
    listener.maxConnections = this.#limits.connections;
    this.#listeners.add(listener);
    listener.once("close", () => this.#listeners.delete(listener));
    // Where descriptors run out a connection is lost, and the next one may be accepted again.
    listener.on("error", () => undefined);
    listener.on("connection", (socket) => {
      this.#own(socket);
      // The checks of the HTTP server itself only run where it listens.
      const cancel = this.#options.clock.after(this.#limits.headMs, () => socket.destroy());
      this.#heads.set(socket, cancel);
      socket.once("close", cancel);
      this.#http.emit("connection", socket);
    });
  }

  /** Ends every connection, also those that wait for a decision, and closes the listening sockets. */
  dispose(): void {
    this.#isDisposed = true;
    for (const listener of this.#listeners) listener.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#http.close();
  }

  async #onConnect(message: IncomingMessage, head: Buffer): Promise<void> {
    const { socket: client } = message;
    this.#heads.get(client)?.();
    const early = receiveEarly(client, head);
    const target = parseAuthority(message.url ?? "");
    const opened = target.ok ? await this.#open(message, target.value) : badTarget(target.reason);
    if (client.destroyed || !early.isOpen) {
      if (opened.ok) opened.socket.destroy();
      client.destroy();
    } else if (opened.ok) {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      early.deliver(opened.socket);
      splice(client, opened.socket, this.#limits.idleMs);
    } else {
      client.end(refusalHead(opened) + sentence(opened, target.ok ? target.value : undefined));
    }
  }

  async #onRequest(message: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#heads.get(message.socket)?.();
    // A connection that waits for another request would only take one of the few.
    response.shouldKeepAlive = false;
    message.socket.setTimeout(this.#limits.idleMs, () => message.socket.destroy());
    const target = parseHttpUrl(message.url ?? "");
    const opened = target.ok ? await this.#open(message, target.value.endpoint) : badTarget(target.reason);
    if (response.destroyed || message.socket.destroyed) {
      if (opened.ok) opened.socket.destroy();
    } else if (target.ok && opened.ok) {
      this.#forward(message, response, opened.socket, target.value);
    } else if (!opened.ok) {
      answer(response, opened, target.ok ? target.value.endpoint : undefined);
      // Further output of the program is not worth reading.
      message.resume();
    }
  }

  /** A connection to the target, if it may be had. */
  async #open(message: IncomingMessage, endpoint: Endpoint): Promise<Opened> {
    const credentials = this.#commandOf(message);
    if (!credentials.ok) return this.#refuse(endpoint, UNKNOWN_COMMAND);
    const asked: ConnectionRequest = { ...endpoint, ...credentials.command };
    // A decision that fails must not let anything through.
    const decision = await this.#options.decide(asked).catch(() => UNDECIDED);
    if (decision.outcome === "deny") return this.#refuse(asked, { status: 403, ...decision });
    if (this.#isDisposed) return { ok: false, ...UNREACHABLE };
    const dialled = await this.#options.dialer.dial(endpoint, this.#options.addressesOf?.(asked));
    if (!dialled.ok) {
      const isRefused = dialled.code === "private-address" || dialled.code === "own-server";
      return this.#refuse(asked, { status: isRefused ? 403 : 502, ...dialled }, !isRefused);
    }
    this.#own(dialled.socket);
    this.#report(asked, { outcome: "allowed" });
    return dialled;
  }

  #forward(
    message: IncomingMessage,
    response: ServerResponse,
    socket: Socket,
    { endpoint, path }: { readonly endpoint: Endpoint; readonly path: string },
  ): void {
    const host = endpoint.port === 80 ? endpoint.host : formatEndpoint(endpoint);
    const headers = { ...endToEnd(message), host, connection: "close" };
    const { method = "GET" } = message;
    const outgoing = request({
      method,
      path,
      headers,
      setHost: false,
      createConnection: () => socket,
    });
    socket.setTimeout(this.#limits.idleMs, () => socket.destroy());
    const fail = (why: string) => {
      socket.destroy();
      const reason = `${formatEndpoint(endpoint)} broke off: ${why}`;
      if (response.headersSent) response.destroy();
      else answer(response, { status: 502, code: "unreachable", reason }, endpoint);
    };
    outgoing.on("error", (error: NodeJS.ErrnoException) => fail(error.code ?? error.message));
    outgoing.once("upgrade", () => fail("it switched to another protocol"));
    outgoing.once("response", (incoming) => {
      incoming.on("error", () => response.destroy());
      // Expected: a status or a header that Node reads but does not write.
      try {
        response.writeHead(incoming.statusCode ?? 502, endToEnd(incoming));
        incoming.pipe(response);
      } catch {
        fail("its answer is malformed");
      }
    });
    response.once("close", () => socket.destroy());
    message.on("error", () => socket.destroy());
    message.pipe(outgoing);
  }

  #commandOf(message: IncomingMessage): {
    readonly ok: boolean;
    readonly command?: { readonly command: string };
  } {
    const header = message.headers["proxy-authorization"];
    if (header === undefined) return { ok: true };
    const encoded = /^basic +([a-z0-9+/]+=*)$/i.exec(header)?.[1];
    const token =
      encoded === undefined ? "" : Buffer.from(encoded, "base64").toString("latin1").split(":")[1];
    const command = this.#options.commandOf(token ?? "");
    return command === undefined ? { ok: false } : { ok: true, command: { command } };
  }

  #refuse(asked: ConnectionRequest, refusal: Refusal, isAllowed = false): Opened {
    const { status, code, reason } = refusal;
    this.#report(asked, { outcome: isAllowed ? "failed" : "refused", code, reason });
    return { ok: false, status, code, reason };
  }

  #report(asked: ConnectionRequest, what: Pick<ConnectionEvent, "outcome" | "code" | "reason">): void {
    this.#options.onEvent({ at: this.#options.clock.now(), ...asked, ...what });
  }

  #own(socket: Socket): void {
    // An error event without a listener would end the server.
    socket.on("error", () => socket.destroy());
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    if (this.#isDisposed) socket.destroy();
  }
}

const UNKNOWN_COMMAND: Refusal = {
  ...{ status: 403, code: "unknown-command" },
  reason: "the command that its proxy token was made for has ended",
};
const UNDECIDED: Decision = {
  outcome: "deny",
  code: "blocked-by-allowlist",
  reason: "it could not be decided",
};
const UNREACHABLE: Refusal = { status: 503, code: "unreachable", reason: "the thread has ended" };

function badTarget(reason: string): Opened {
  return { ok: false, status: 400, code: "bad-target", reason };
}

/** The sentence that a program prints, if it prints any. */
function sentence({ status, reason }: Refusal, endpoint: Endpoint | undefined): string {
  const target = endpoint === undefined ? "this request" : `the connection to ${formatEndpoint(endpoint)}`;
  return status === 403 || status === 400
    ? `Flint's sandbox refused ${target}: ${reason}.\n`
    : `Flint's sandbox could not open ${target}: ${reason}.\n`;
}

function refusalHead({ status, code }: Refusal): string {
  const headers = ["content-type: text/plain; charset=utf-8", "connection: close", `x-proxy-error: ${code}`];
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join("\r\n")}\r\n\r\n`;
}

function answer(response: ServerResponse, refusal: Refusal, endpoint: Endpoint | undefined): void {
  const headers = {
    "content-type": "text/plain; charset=utf-8",
    "x-proxy-error": refusal.code,
    connection: "close",
  };
  response.writeHead(refusal.status, headers).end(sentence(refusal, endpoint));
}

/** The headers that are passed on, each as often as it came. */
function endToEnd({ headersDistinct }: IncomingMessage): Record<string, string | string[]> {
  const named = (headersDistinct.connection ?? []).flatMap((value) => value.toLowerCase().split(/\s*,\s*/));
  const dropped = new Set([...HOP_BY_HOP, ...named]);
  const passed = Object.entries(headersDistinct).filter(([name]) => !dropped.has(name));
  return Object.fromEntries(
    passed.map(([name, values = []]) => [name, values.length === 1 ? (values[0] ?? "") : values]),
  );
}
