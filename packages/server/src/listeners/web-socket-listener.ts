import { createServer, type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "@flint/core/ports";
import type { ClientRights } from "@flint/frontends";
import type { PresenceSocket } from "@flint/host/sandbox";
import { LIMITS } from "@flint/protocol";
import type { WebSocket, WebSocketServer } from "ws";
import type { FrontendName } from "../frontends.ts";
import { bindable } from "./address.ts";
import { type AccessRules, type Authorization, authorizeRequest, type RequestHead } from "./authorize.ts";
import type { Clients, Connections, Listener } from "./clients.ts";
import { WebSocketTransport, webSocketLibrary } from "./web-socket-transport.ts";

/** The address to listen on and the clients to accept; port 0 is any free port. */
export interface WebSocketOptions extends Omit<AccessRules, "port"> {
  readonly port: number;
  readonly clients: Clients;
  readonly clock: Clock;
  /** Rights of clients; a client with the token is not necessarily a program on this machine. */
  readonly rights?: ClientRights;
}

const CHECK_MS = 1_000;
const DEFAULT_RIGHTS: ClientRights = { mayProvidePrograms: false };

/** Accepts authorized WebSocket clients on a TCP port, and answers two health paths. */
export class WebSocketListener implements Listener {
  readonly address: string;
  readonly port: number;
  readonly #server: Server;
  readonly #webSockets: WebSocketServer;
  readonly #clients: Clients;
  readonly #clock: Clock;
  readonly #rules: AccessRules;
  readonly #rights: ClientRights;
  readonly #connections: Connections = new Set();
  readonly #presence: PresenceSocket;

  private constructor(
    server: Server,
    presence: PresenceSocket,
    { clients, clock, rights = DEFAULT_RIGHTS, ...rules }: WebSocketOptions,
  ) {
    const port = portOf(server);
    this.#presence = presence;
    this.port = port;
    this.address = `ws://${rules.host}:${port}`;
    this.#server = server;
    this.#clients = clients;
    this.#clock = clock;
    this.#rules = { ...rules, port };
    this.#rights = rights;
    const { WebSocketServer: Sockets } = webSocketLibrary();
    this.#webSockets = new Sockets({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: LIMITS.line,
    });
    server.on("request", (request, response) => {
      const { status, headers, body } = responseTo(authorizeRequest(headOf(request, false), this.#rules));
      response.writeHead(status, headers).end(body);
    });
    server.on("upgrade", (request, socket, head) => void this.#onUpgrade(request, socket, head));
  }

  /** Starts listening. Rejects if the address cannot be bound. */
  static async start(options: WebSocketOptions): Promise<WebSocketListener> {
    const server = createServer({
      maxHeaderSize: LIMITS.httpHead,
      headersTimeout: LIMITS.handshakeMilliseconds,
      requestTimeout: LIMITS.handshakeMilliseconds,
      keepAliveTimeout: LIMITS.handshakeMilliseconds,
      connectionsCheckingInterval: CHECK_MS,
    });
    server.maxConnections = LIMITS.sockets;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host: bindable(options.host), port: options.port }, resolve);
    });
    server.removeAllListeners("error");
    // A connection that cannot be accepted must not end the server.
    server.on("error", () => undefined);
    // So that no sandbox leads here, whatever ports of this machine it was allowed.
    const { announcePort } = await import("@flint/host/sandbox");
    return new WebSocketListener(server, await announcePort(portOf(server)), options);
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    this.#webSockets.close();
    await this.#presence.close();
    // Connected clients keep the server open; new ones are no longer accepted.
    if (this.#connections.size === 0) await closed;
  }

  async #onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // A peer that disappears must not end the process.
    socket.on("error", () => undefined);
    const authorization = authorizeRequest(headOf(request, true), this.#rules);
    const { to } = authorization;
    if (to === undefined || to === "health") writeResponse(socket, responseTo(authorization));
    else await this.#accept({ ...authorization, to }, request, socket, head);
  }

  async #accept(
    { to, only }: Admission,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): Promise<void> {
    const open = await this.#clients.open(to);
    if (open === undefined) {
      writeResponse(socket, response(503));
      return;
    }
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      const transport = new WebSocketTransport(webSocket, socket);
      keepAlive(webSocket, () => transport.paused, this.#clock);
      this.#clients.accept(open, transport, this.#connections, { rights: { ...this.#rights, only } });
    });
  }
}

/** The front end to which a client is admitted, and its rights. */
type Admission = Extract<Authorization, { readonly to: FrontendName }>;

function portOf(server: Server): number {
  // A server listening on a port has an address of this type.
  const { port } = server.address() as AddressInfo;
  return port;
}

function headOf({ method = "", url = "", headers }: IncomingMessage, upgrade: boolean): RequestHead {
  return { method, url, headers, upgrade: upgrade && headers.upgrade?.toLowerCase() === "websocket" };
}

type Response = { readonly status: number; readonly headers: Record<string, string>; readonly body: string };

/** The response to a request that does not become a WebSocket. */
function responseTo(authorization: Authorization): Response {
  return authorization.to === undefined ? response(authorization.status) : response(200, "ok\n");
}

function response(status: number, body = ""): Response {
  const headers = {
    Connection: "close",
    "Content-Length": String(body.length),
    ...(status === 401 ? { "WWW-Authenticate": "Bearer" } : {}),
    ...(status === 426 ? { Upgrade: "websocket" } : {}),
  };
  return { status, headers, body };
}

/** Writes a response to a socket that Node no longer handles. */
function writeResponse(socket: Duplex, { status, headers, body }: Response): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n`;
  socket.end(`${head}${body}`, () => socket.destroy());
}

/** Pings a WebSocket client regularly and closes the connection if it does not answer. */
function keepAlive(webSocket: WebSocket, isPaused: () => boolean, clock: Clock): void {
  let alive = true;
  let stop = (): void => undefined;
  const onAlive = (): void => {
    alive = true;
  };
  const ping = (): void => {
    if (!alive && !isPaused()) {
      webSocket.terminate();
      return;
    }
    alive = false;
    webSocket.ping();
    stop = clock.after(LIMITS.pingMilliseconds, ping);
  };
  webSocket.on("pong", onAlive);
  webSocket.on("message", onAlive);
  webSocket.once("close", () => stop());
  stop = clock.after(LIMITS.pingMilliseconds, ping);
}
