import { chmodSync, lstatSync, mkdirSync, unlinkSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { dirname } from "node:path";
import type { PresenceSocket } from "@flint/host/sandbox";
import {
  LIMITS,
  parseRendezvousLine,
  RENDEZVOUS,
  type RendezvousAnswer,
  type RendezvousRequest,
} from "@flint/protocol";
import { FRONTEND_NAMES, type FrontendName, isFrontendName } from "../frontends.ts";
import { firstLine } from "../single-instance/rendezvous.ts";
import { VERSION } from "../version.ts";
import { SocketTransport } from "./client-transport.ts";
import type { Clients, Connections, Listener } from "./clients.ts";

/**
 * The path of the socket, and the front end that serves its clients; on a rendezvous socket each client
 * chooses one.
 */
export interface UnixOptions {
  readonly path: string;
  readonly protocol: FrontendName | "chosen";
  readonly clients: Clients;
}

/** Accepts clients on a unix socket that only its user can connect to. */
export class UnixListener implements Listener {
  readonly address: string;
  readonly #server: Server;
  readonly #options: UnixOptions;
  readonly #presence: PresenceSocket;
  readonly #connections: Connections = new Set();
  /** Sockets that are not accepted yet. */
  readonly #pending = new Set<Socket>();

  private constructor(server: Server, options: UnixOptions, presence: PresenceSocket) {
    this.address = `unix:${options.path}`;
    this.#server = server;
    this.#options = options;
    this.#presence = presence;
    server.on("connection", (socket) => void this.#onConnection(socket));
  }

  /** Starts listening. Replaces the socket of a server that died; throws if anything else is at the path. */
  static async start(options: UnixOptions): Promise<UnixListener> {
    const { path } = options;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    await removeStale(path);
    const { announceListener } = await import("@flint/host/sandbox");
    const presence = await announceListener(path);
    try {
      return new UnixListener(await listenPrivately(path), options, presence);
    } catch (error) {
      await presence.close();
      throw error;
    }
  }

  /** Node removes the socket file. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#pending) socket.destroy();
    await this.#presence.close();
    if (this.#connections.size === 0) await closed;
  }

  async #onConnection(socket: Socket): Promise<void> {
    // A peer that disappears must not end the process.
    socket.on("error", () => undefined);
    this.#pending.add(socket);
    await this.#accept(socket);
    this.#pending.delete(socket);
  }

  async #accept(socket: Socket): Promise<void> {
    const { protocol, clients } = this.#options;
    const isRendezvous = protocol === "chosen";
    const request = isRendezvous ? await readRequest(socket) : { protocol, cwd: undefined };
    if (request === undefined) return;
    const opened = await clients.open(request.protocol);
    if (socket.destroyed) return;
    if (opened === undefined) {
      const reason = `Cannot load the ${request.protocol} front end; see the server's stderr.`;
      socket.end(isRendezvous ? answerLine({ ok: false, reason }) : "", () => socket.destroy());
      return;
    }
    if (isRendezvous) socket.write(answerLine({ ok: true, version: VERSION, clients: clients.size }));
    clients.accept(opened, new SocketTransport(socket), this.#connections, { cwd: request.cwd });
  }
}

/** The first line of a client on a rendezvous socket; undefined, with the socket closed, if it is invalid. */
async function readRequest(
  socket: Socket,
): Promise<(RendezvousRequest & { readonly protocol: FrontendName }) | undefined> {
  const line = await firstLine(socket, LIMITS.handshakeMilliseconds);
  if (line === undefined) {
    socket.destroy();
    return undefined;
  }
  const request = parseRendezvousLine(RENDEZVOUS.request, line);
  if (request !== undefined && isFrontendName(request.protocol)) {
    return { ...request, protocol: request.protocol };
  }
  const reason =
    request === undefined
      ? 'Send a line such as {"protocol":"flint"} first; "cwd" must be an absolute path.'
      : `Unknown protocol ${JSON.stringify(request.protocol)}. Available: ${FRONTEND_NAMES.join(", ")}.`;
  // Destroyed after the answer: unread input would keep the socket open.
  socket.end(answerLine({ ok: false, reason }), () => socket.destroy());
  return undefined;
}

/** Listens on a path with a private mode from the start; with a later chmod others could connect in between. */
export async function listenPrivately(path: string): Promise<Server> {
  const server = createServer({ allowHalfOpen: true });
  server.maxConnections = LIMITS.sockets;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.once("listening", resolve);
    const before = process.umask(0o177);
    try {
      server.listen({ path });
    } finally {
      process.umask(before);
    }
  });
  server.removeAllListeners("error");
  // A connection that cannot be accepted must not end the server.
  server.on("error", () => undefined);
  chmodSync(path, 0o600);
  return server;
}

function answerLine(answer: RendezvousAnswer): string {
  return `${JSON.stringify(answer)}\n`;
}

async function removeStale(path: string): Promise<void> {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there === undefined) return;
  if (!there.isSocket()) throw new Error(`${path} exists and is not a socket. Choose another path.`);
  if (await isListening(path))
    throw new Error(`Another program is listening at ${path}. Choose another path.`);
  unlinkSync(path);
}

/** Reports whether a program is listening at a path; assumed if in doubt. */
function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code !== "ECONNREFUSED"));
  });
}
