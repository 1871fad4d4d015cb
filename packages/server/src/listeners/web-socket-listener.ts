import { createServer, type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "@flint/core/ports";
import type { ClientRights } from "@flint/frontends";
import { LIMITS } from "@flint/protocol";
import type { WebSocketServer } from "ws";
import type { FrontendName } from "../frontends.ts";
import { bindable } from "./address.ts";
import { type GateRequest, type GateRules, type Judgement, judgeRequest } from "./gate.ts";
import type { Guests, Seats } from "./guests.ts";
import { keepAlive } from "./keep-alive.ts";
import type { Listener } from "./listener.ts";
import { WebSocketTransport } from "./web-socket-transport.ts";
import { webSocketLibrary } from "./ws-library.ts";

/** Where to listen, and who may come in; the port may be 0. */
export interface WebSocketOptions extends Omit<GateRules, "port"> {
  readonly port: number;
  readonly guests: Guests;
  readonly clock: Clock;
  /** What clients may do; whoever has the token is not yet somebody at this machine. */
  readonly rights?: ClientRights;
}

const CHECK_MS = 1_000;
const USUAL_RIGHTS: ClientRights = { bringsPrograms: false };

/** WebSockets on one TCP port, behind the gate; and two paths that say that the server is there. */
export class WebSocketListener implements Listener {
  readonly place: string;
  readonly port: number;
  readonly #server: Server;
  readonly #webSockets: WebSocketServer;
  readonly #guests: Guests;
  readonly #clock: Clock;
  readonly #rules: GateRules;
  readonly #rights: ClientRights;
  readonly #seats: Seats = new Set();

  private constructor(server: Server, { guests, clock, rights = USUAL_RIGHTS, ...rules }: WebSocketOptions) {
    // A server that listens on a host and a port has such an address.
    const { port } = server.address() as AddressInfo;
    this.port = port;
    this.place = `ws://${rules.host}:${port}`;
    this.#server = server;
    this.#guests = guests;
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
      const { status, headers, body } = answerTo(judgeRequest(seen(request, false), this.#rules));
      response.writeHead(status, headers).end(body);
    });
    server.on("upgrade", (request, socket, head) => void this.#onUpgrade(request, socket, head));
  }

  /** Begins to listen. Rejects if the address cannot be had. */
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
    // A socket that cannot be accepted is not the end of the others.
    server.on("error", () => undefined);
    return new WebSocketListener(server, options);
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    this.#webSockets.close();
    // Clients keep their sockets, and with them the server; nobody new gets in from here on.
    if (this.#seats.size === 0) await closed;
  }

  async #onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // A peer that vanishes in between must not end the process.
    socket.on("error", () => undefined);
    const judgement = judgeRequest(seen(request, true), this.#rules);
    if (judgement.to === undefined || judgement.to === "health") answerOn(socket, answerTo(judgement));
    else await this.#admit(judgement.to, request, socket, head);
  }

  async #admit(name: FrontendName, request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const door = await this.#guests.open(name);
    if (door === undefined) {
      answerOn(socket, answerWith(503));
      return;
    }
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      const transport = new WebSocketTransport(webSocket, socket);
      keepAlive(webSocket, () => transport.paused, this.#clock);
      this.#guests.admit(door, transport, this.#seats, { rights: this.#rights });
    });
  }
}

function seen({ method = "", url = "", headers }: IncomingMessage, upgrade: boolean): GateRequest {
  return { method, url, headers, upgrade: upgrade && headers.upgrade?.toLowerCase() === "websocket" };
}

type Answer = { readonly status: number; readonly headers: Record<string, string>; readonly body: string };

/** What is said to a request that does not become a WebSocket: the least there is to say. */
function answerTo(judgement: Judgement): Answer {
  return judgement.to === undefined ? answerWith(judgement.status) : answerWith(200, "ok\n");
}

function answerWith(status: number, body = ""): Answer {
  const headers = {
    Connection: "close",
    "Content-Length": String(body.length),
    ...(status === 401 ? { "WWW-Authenticate": "Bearer" } : {}),
    ...(status === 426 ? { Upgrade: "websocket" } : {}),
  };
  return { status, headers, body };
}

/** Answers on a socket that Node has let go of already. */
function answerOn(socket: Duplex, { status, headers, body }: Answer): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n`;
  socket.end(`${head}${body}`, () => socket.destroy());
}
