import type { Server, Socket } from "node:net";
import type { Clock } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import type { ConnectionEvent } from "./connection-log.ts";
import type { Dialer } from "./dial.ts";
import { type InnerAddress, type InnerListeners, innerKey } from "./namespace.ts";
import { splice } from "./tunnel.ts";

/** Dependencies with which relays reach the user's machine and report. */
export interface PortRelaysOptions {
  readonly clock: Clock;
  readonly dialer: Dialer;
  onEvent(event: ConnectionEvent): void;
}

const IDLE_MS = 600_000;
const MOST_CONNECTIONS = 256;

/** Opens listening sockets in a namespace. */
export type ListenInside = (addresses: readonly InnerAddress[]) => Promise<InnerListeners>;

/** A relay, and how many commands use it. */
interface Relay {
  users: number;
  readonly servers: Promise<readonly Server[]>;
}

/** Ports of the user's machine that are reached from a namespace at the same port of its own loopback interface. */
export class PortRelays {
  readonly #options: PortRelaysOptions;
  readonly #relays = new Map<number, Relay>();
  readonly #sockets = new Set<Socket>();

  constructor(options: PortRelaysOptions) {
    this.#options = options;
  }

  /** Relays ports until they are closed as often as they were opened. Rejects if one is taken inside, and opens none then. */
  async open(ports: readonly number[], listenInside: ListenInside): Promise<void> {
    const missing = ports.filter((port) => !this.#relays.has(port));
    if (missing.length > 0) {
      const listening = listenInside(missing.flatMap(relayAddresses));
      for (const port of missing) {
        const servers = listening.then((listeners) => this.#serve(port, listeners));
        this.#relays.set(port, { users: 0, servers });
      }
    }
    const used = ports.flatMap((port) => this.#relays.get(port) ?? []);
    for (const relay of used) relay.users += 1;
    const opened = await Promise.allSettled(used.map(({ servers }) => servers));
    const failure = opened.find((result) => result.status === "rejected");
    if (failure === undefined) return;
    for (const port of ports) this.close(port);
    throw failure.reason;
  }

  /** Ends one use of the relay of a port, and the relay with the last one; connections that are open stay so. */
  close(port: number): void {
    const relay = this.#relays.get(port);
    if (relay === undefined) return;
    relay.users -= 1;
    if (relay.users > 0) return;
    this.#relays.delete(port);
    closeServers(relay);
  }

  /** Ends all relays and their connections. */
  dispose(): void {
    for (const relay of this.#relays.values()) closeServers(relay);
    this.#relays.clear();
    for (const socket of this.#sockets) socket.destroy();
  }

  #serve(port: number, listeners: InnerListeners): readonly Server[] {
    const servers = serversOf(listeners, port);
    if (servers.length === 0) {
      const message = `localhost:${port} of your machine cannot be reached from the sandbox: a command of this thread listens on that port itself. Stop it first.`;
      throw new FlintError("sandboxUnavailable", message);
    }
    for (const server of servers) {
      server.maxConnections = MOST_CONNECTIONS;
      // Where descriptors run out a connection is lost, and the next one may be accepted again.
      server.on("error", () => undefined);
      server.on("connection", (socket) => {
        this.#own(socket);
        this.#relay(socket, port).catch(() => socket.destroy());
      });
    }
    return servers;
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
    // An error event without a listener would end the server.
    socket.on("error", () => socket.destroy());
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }
}

function closeServers({ servers }: Relay): void {
  // Expected: it could not be opened, which `open` reported.
  void servers.then(
    (opened) => {
      for (const server of opened) server.close();
    },
    () => undefined,
  );
}

/**
 * Returns the addresses on which a relay listens: programs try either for `localhost`, and a machine may lack
 * the second.
 */
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
