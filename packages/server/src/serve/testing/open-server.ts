import { connect as connectSocket, type Socket } from "node:net";
import { join } from "node:path";
import type { Engine } from "@flint/core";
import type { Clock } from "@flint/core/ports";
import type { Frontend } from "@flint/frontends";
import { type ClientConnectOptions, connect, type FlintClient } from "@flint/sdk";
import type { WebSocket } from "ws";
import { tokenFile } from "../../config/environment.ts";
import { FRONTENDS, type FrontendName, Frontends } from "../../frontends.ts";
import { connectRemote } from "../../listeners/remote.ts";
import { readToken, TokenFile } from "../../listeners/token.ts";
import { webSocketLibrary } from "../../listeners/web-socket-transport.ts";
import { Listening, type ListenOptions } from "../listening.ts";

/** The parts of a server that a test provides. */
export interface ServerFixture {
  readonly engine: Engine;
  /** An empty folder. */
  readonly folder: string;
  /** The clock of the listeners. */
  readonly clock: Clock;
  atEnd(cleanUp: () => void | Promise<void>): void;
}

/** Options that differ from the defaults. */
export interface OpenServerOptions extends Partial<Omit<ListenOptions, "addresses" | "token">> {
  /** Requires no token, as with `--no-token`. */
  readonly noToken?: boolean;
}

/** A server that listens on a free port and a unix socket. */
export class OpenServer {
  readonly listening: Listening;
  readonly port: number;
  /** Empty if none is required. */
  readonly token: string;
  readonly tokenPath: string;
  readonly socketPath: string;
  readonly #kit: ServerFixture;

  private constructor(kit: ServerFixture, listening: Listening, token: string) {
    this.#kit = kit;
    this.listening = listening;
    this.token = token;
    this.tokenPath = tokenFile(kit.folder);
    this.socketPath = join(kit.folder, "flint.sock");
    this.port = Number(listening.listeners[0]?.address.split(":").at(-1));
  }

  /** Starts a server that stops when the test ends. */
  static async start(kit: ServerFixture, options: OpenServerOptions = {}): Promise<OpenServer> {
    const { noToken, ...changes } = options;
    const token = noToken === true ? undefined : TokenFile.open(tokenFile(kit.folder));
    const listen: ListenOptions = {
      addresses: [
        { kind: "webSocket", host: "127.0.0.1", port: 0 },
        { kind: "unix", path: join(kit.folder, "flint.sock") },
      ],
      protocol: "flint",
      root: "flint",
      token,
      allowOrigins: [],
      allowHosts: [],
      presence: undefined,
      ...changes,
    };
    const listening = await Listening.start(new Frontends(kit.engine), listen, kit.clock);
    kit.atEnd(async () => {
      await listening.withdraw();
      await listening.close();
    });
    return new OpenServer(kit, listening, token === undefined ? "" : readToken(token.path));
  }

  /** Opens a WebSocket. Rejects if the server does. */
  webSocket(path = "/flint", token = this.token): Promise<WebSocket> {
    const { WebSocket: Client } = webSocketLibrary();
    const headers = token === "" ? {} : { Authorization: `Bearer ${token}` };
    const webSocket = new Client(`ws://127.0.0.1:${this.port}${path}`, { headers });
    this.#kit.atEnd(() => webSocket.terminate());
    return new Promise((resolve, reject) => {
      webSocket.once("open", () => resolve(webSocket));
      webSocket.once("error", reject);
    });
  }

  /** Connects a client of the Flint protocol over a WebSocket. */
  async client(options: ClientConnectOptions = {}): Promise<FlintClient> {
    const { folder } = this.#kit;
    const remoteServer = {
      url: `ws://127.0.0.1:${this.port}/flint`,
      protocol: undefined,
      tokenFile: undefined,
    };
    const remote = await connectRemote({ ...remoteServer, token: this.token, folder });
    if (!remote.ok) throw new Error(remote.reason);
    const client = await connect({ ...options, transport: remote.transport });
    this.#kit.atEnd(() => client.close());
    return client;
  }

  /** Opens a socket to the unix listener, or at another path. */
  socket(path = this.socketPath): Promise<Socket> {
    const socket = connectSocket({ path });
    this.#kit.atEnd(() => void socket.destroy());
    return new Promise((resolve, reject) => {
      socket.once("connect", () => resolve(socket));
      socket.once("error", reject);
    });
  }
}

/** The `initialize` request, as a line. */
export const HELLO = `${JSON.stringify({ id: 1, method: "initialize", params: { clientInfo: { name: "test", version: "1" } } })}\n`;

/** The code that a WebSocket was closed with. */
export function closeCode(webSocket: WebSocket): Promise<number> {
  return new Promise((resolve) => webSocket.once("close", resolve));
}

/** The next message of a WebSocket. */
export function nextMessage(webSocket: WebSocket): Promise<unknown> {
  return new Promise((resolve, reject) => {
    webSocket.once("message", (data) => resolve(JSON.parse(String(data))));
    webSocket.once("close", (code) => reject(new Error(`closed with ${code}`)));
  });
}

/** Front ends that cannot be loaded until they are repaired, as in a damaged installation. */
export class BrokenFrontends {
  #isRepaired = false;

  readonly load = async (name: FrontendName): Promise<Frontend> => {
    if (!this.#isRepaired) throw new Error("half of it is missing");
    return FRONTENDS[name]();
  };

  repair(): void {
    this.#isRepaired = true;
  }
}

/** Captures what this process writes to stderr until the test ends. */
export function stderrOf(atEnd: (cleanUp: () => void) => void): () => string {
  let text = "";
  const { write } = process.stderr;
  process.stderr.write = (piece: string | Uint8Array) => {
    text += String(piece);
    return true;
  };
  atEnd(() => {
    process.stderr.write = write;
  });
  return () => text;
}
