import type { Server, Socket } from "node:net";
import type { Clock } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import type { ConnectionEvent } from "./connection-log.ts";
import type { Dialer } from "./dial.ts";
import { type InnerAddress, type InnerListeners, innerKey, type NetworkNamespace } from "./namespace.ts";
import { splice } from "./tunnel.ts";

/** What relays reach the user's machine with, and report to. */
export interface PortRelaysOptions {
  readonly clock: Clock;
  readonly dialer: Dialer;
  onEvent(event: ConnectionEvent): void;
}

const IDLE_MS = 600_000;
const MOST_CONNECTIONS = 256;

/** Ports of the user's machine that are reached from a namespace at the same port of its own loopback interface. */
export class PortRelays {
  readonly #options: PortRelaysOptions;
  readonly #servers = new Map<number, readonly Server[]>();
  readonly #sockets = new Set<Socket>();

  constructor(options: PortRelaysOptions) {
    this.#options = options;
  }

  /** Relays ports that are not relayed yet. Rejects if one of them is taken inside, and relays none of them then. */
  async open(namespace: NetworkNamespace, ports: readonly number[]): Promise<void> {
    const missing = ports.filter((port) => !this.#servers.has(port));
    if (missing.length > 0) this.serve(missing, await namespace.listen(missing.flatMap(relayAddresses)));
  }

  /** Relays ports whose listening sockets are there already. Throws if one has none, and relays none of them then. */
  serve(ports: readonly number[], listeners: InnerListeners): void {
    const served = ports.map((port) => ({ port, servers: serversOf(listeners, port) }));
    const taken = served.filter(({ servers }) => servers.length === 0).map(({ port }) => port);
    if (taken.length > 0) {
      for (const { servers } of served) for (const server of servers) server.close();
      const message = `localhost:${taken.join(", ")} of your machine cannot be reached from the sandbox: a command of this thread listens on that port itself. Stop it first.`;
      throw new FlintError("sandboxUnavailable", message);
    }
    for (const { port, servers } of served) {
      this.#servers.set(port, servers);
      for (const server of servers) this.#serve(server, port);
    }
  }

  /** Ends the relay of a port; connections that are open stay so. */
  close(port: number): void {
    for (const server of this.#servers.get(port) ?? []) server.close();
    this.#servers.delete(port);
  }

  /** Ends all relays and their connections. */
  dispose(): void {
    for (const port of this.#servers.keys()) this.close(port);
    for (const socket of this.#sockets) socket.destroy();
  }

  #serve(server: Server, port: number): void {
    server.maxConnections = MOST_CONNECTIONS;
    server.on("connection", (socket) => {
      this.#own(socket);
      void this.#relay(socket, port);
    });
  }

  async #relay(client: Socket, port: number): Promise<void> {
    const endpoint = { host: "localhost", port };
    const dialled = await this.#options.dialer.dial(endpoint);
    const at = this.#options.clock.now();
    if (!dialled.ok) {
      const { code, reason } = dialled;
      this.#options.onEvent({ at, ...endpoint, outcome: "failed", code, reason });
      client.destroy();
    } else {
      this.#options.onEvent({ at, ...endpoint, outcome: "allowed" });
      this.#own(dialled.socket);
      if (client.destroyed) dialled.socket.destroy();
      else splice(client, dialled.socket, IDLE_MS);
    }
  }

  #own(socket: Socket): void {
    // A connection that breaks ends itself; an error that no one listens for would end the server.
    socket.on("error", () => socket.destroy());
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }
}

/** Where a relay listens: programs try either for `localhost`, and a machine may lack the second. */
export function relayAddresses(port: number): InnerAddress[] {
  return [
    { host: "127.0.0.1", port },
    { host: "::1", port },
  ];
}

/** None if the first one is taken: half a relay would lead programs to different servers. */
function serversOf(listeners: InnerListeners, port: number): Server[] {
  const [first, second] = relayAddresses(port).map((address) => listeners.get(innerKey(address)));
  if (first !== undefined) return second === undefined ? [first] : [first, second];
  second?.close();
  return [];
}
