import { chmodSync, lstatSync, mkdirSync, unlinkSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { dirname } from "node:path";
import type { Sign } from "@flint/host/sandbox";
import {
  LIMITS,
  parseRendezvousLine,
  RENDEZVOUS,
  type RendezvousAnswer,
  type RendezvousRequest,
} from "@flint/protocol";
import { type FrontendName, isFrontendName } from "../frontends.ts";
import { VERSION } from "../version.ts";
import { firstLine } from "./first-line.ts";
import type { Guests, Seats } from "./guests.ts";
import type { Listener } from "./listener.ts";
import { noSuchDoor } from "./meeting.ts";
import { SocketTransport } from "./socket-transport.ts";

/** Where to listen, and at which door; at a meeting socket each client chooses with its first line. */
export interface UnixOptions {
  readonly path: string;
  readonly door: FrontendName | "chosen";
  readonly guests: Guests;
}

/** Clients on a socket in the file system, which only its user can connect to. */
export class UnixListener implements Listener {
  readonly place: string;
  readonly #server: Server;
  readonly #options: UnixOptions;
  readonly #sign: Sign;
  readonly #seats: Seats = new Set();
  /** Who has not been admitted yet. */
  readonly #arriving = new Set<Socket>();

  private constructor(server: Server, options: UnixOptions, sign: Sign) {
    this.place = `unix:${options.path}`;
    this.#server = server;
    this.#options = options;
    this.#sign = sign;
    server.on("connection", (socket) => void this.#onConnection(socket));
  }

  /** Begins to listen. What a dead server left at the path is replaced; anything else there is refused. */
  static async start(options: UnixOptions): Promise<UnixListener> {
    const { path } = options;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    await removeStale(path);
    const { signListening } = await import("@flint/host/sandbox");
    const sign = await signListening(path);
    try {
      return new UnixListener(await bindPrivately(path), options, sign);
    } catch (error) {
      await sign.takeDown();
      throw error;
    }
  }

  /** Node takes the socket away with it. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#arriving) socket.destroy();
    await this.#sign.takeDown();
    if (this.#seats.size === 0) await closed;
  }

  async #onConnection(socket: Socket): Promise<void> {
    // A peer that vanishes must not end the process.
    socket.on("error", () => undefined);
    this.#arriving.add(socket);
    await this.#admit(socket);
    this.#arriving.delete(socket);
  }

  async #admit(socket: Socket): Promise<void> {
    const { door, guests } = this.#options;
    const hello = door === "chosen" ? await this.#hello(socket) : { protocol: door, cwd: undefined };
    if (hello === undefined) return;
    const { protocol: name, cwd } = hello;
    const opened = await guests.open(name);
    if (socket.destroyed) return;
    if (opened === undefined) {
      const reason = `The ${name} door cannot be opened; the server says why on its stderr.`;
      socket.end(door === "chosen" ? lineOf({ ok: false, reason }) : "", () => socket.destroy());
      return;
    }
    if (door === "chosen") socket.write(lineOf({ ok: true, version: VERSION }));
    guests.admit(opened, new SocketTransport(socket), this.#seats, { cwd });
  }

  async #hello(
    socket: Socket,
  ): Promise<(RendezvousRequest & { readonly protocol: FrontendName }) | undefined> {
    const line = await firstLine(socket, LIMITS.handshakeMilliseconds);
    if (line === undefined) {
      socket.destroy();
      return undefined;
    }
    const hello = parseRendezvousLine(RENDEZVOUS.request, line);
    if (hello !== undefined && isFrontendName(hello.protocol)) return { ...hello, protocol: hello.protocol };
    const way = 'Send one line such as {"protocol":"flint"} first, with "cwd" only as an absolute path.';
    const reason = hello === undefined ? way : noSuchDoor(hello.protocol);
    // Whatever else it sent is not read, and would keep the socket open.
    socket.end(lineOf({ ok: false, reason }), () => socket.destroy());
    return undefined;
  }
}

/** Listens at a path. A socket has its mode from the moment it is there; by the time of a chmod others could be in. */
export async function bindPrivately(path: string): Promise<Server> {
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
  // A socket that cannot be accepted is not the end of the others.
  server.on("error", () => undefined);
  chmodSync(path, 0o600);
  return server;
}

function lineOf(answer: RendezvousAnswer): string {
  return `${JSON.stringify(answer)}\n`;
}

async function removeStale(path: string): Promise<void> {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there === undefined) return;
  if (!there.isSocket()) throw new Error(`${path} is there already and is no socket. Choose another path.`);
  if (await answers(path)) throw new Error(`Another program listens at ${path}. Choose another path.`);
  unlinkSync(path);
}

/** Whether somebody listens at a path; in doubt, yes. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code !== "ECONNREFUSED"));
  });
}
