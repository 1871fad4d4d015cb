import type { Clock } from "@flint/core/ports";
import type { ClientConnection, ConnectionOptions } from "@flint/frontends";
import { errorMessage, LIMITS } from "@flint/protocol";
import { escapeControls } from "@flint/view/escape";
import type { FrontendName, Frontends, OpenFrontend } from "../frontends.ts";
import { type ClientTransport, WatchedTransport } from "./client-transport.ts";

/** A socket that accepts clients. */
export interface Listener {
  /** Its address, as a client would write it. */
  readonly address: string;
  /** Stops accepting clients and removes its socket; connected clients stay. */
  close(): Promise<void>;
}

type Client = { readonly transport: WatchedTransport; readonly connection: ClientConnection };

/** The connections of one listener, which count towards its limit. */
export type Connections = Set<unknown>;

/** The clients of all listeners, with the limits that apply to each of them. */
export class Clients {
  readonly #frontends: Frontends;
  readonly #clock: Clock;
  readonly #clients = new Set<Client>();
  #onEmpty: (() => void)[] = [];
  #accepted = 0;

  constructor(frontends: Frontends, clock: Clock) {
    this.#frontends = frontends;
    this.#clock = clock;
  }

  /** Number of connected clients. */
  get size(): number {
    return this.#clients.size;
  }

  /** Number of clients that were accepted so far. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Loads a front end before a client is accepted. Undefined, with a message on stderr, if that fails. */
  async open(name: FrontendName): Promise<OpenFrontend | undefined> {
    // Expected: a damaged installation. Other front ends and connected clients are not affected.
    try {
      return await this.#frontends.open(name);
    } catch (error) {
      const reason = errorMessage(error);
      process.stderr.write(`flint: Cannot load the ${name} front end: ${escapeControls(reason)}\n`);
      return undefined;
    }
  }

  /**
   * Serves a client until it disconnects. At the connection limit of its listener, it replaces the oldest client that has
   * not sent `initialize`; if there is none, it is rejected.
   */
  accept(
    open: OpenFrontend,
    transport: ClientTransport,
    connections: Connections,
    options: ConnectionOptions = {},
  ): void {
    if (connections.size >= LIMITS.connections && !this.#evictSilent(connections)) {
      transport.terminate("crowded");
      return;
    }
    const watched = new WatchedTransport(transport, {
      clock: this.#clock,
      anyRequest: !open.frontend.initializeFirst,
    });
    const client = { transport: watched, connection: open.connect(watched, options) };
    this.#accepted += 1;
    this.#clients.add(client);
    connections.add(client);
    void this.#untilGone(client).then(() => connections.delete(client));
  }

  /** Resolves when no client is connected. */
  async empty(): Promise<void> {
    if (this.#clients.size > 0) await new Promise<void>((resolve) => this.#onEmpty.push(resolve));
  }

  /** Resolves when every request so far has its response. */
  async idle(): Promise<void> {
    await Promise.all([...this.#clients].map(({ connection }) => connection.idle()));
  }

  /** Sends each client what is queued for it, then disconnects it. */
  async close(): Promise<void> {
    await Promise.all([...this.#clients].map(({ connection }) => connection.close()));
  }

  /** Requests that were read before the client closed are still answered: it may only have closed its own half. */
  async #untilGone(client: Client): Promise<void> {
    const { connection } = client;
    await connection.closed;
    await connection.idle();
    await connection.close();
    this.#clients.delete(client);
    if (this.#clients.size === 0) for (const resolve of this.#onEmpty.splice(0)) resolve();
  }

  #evictSilent(connections: Connections): boolean {
    for (const client of this.#clients) {
      if (client.transport.initialized || !connections.delete(client)) continue;
      client.transport.terminate("crowded");
      return true;
    }
    return false;
  }
}
