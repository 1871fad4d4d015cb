import { once } from "node:events";
import { createConnection, createServer, type Server, type Socket } from "node:net";

/**
 * The failure of a network between two programs: connections end and none can be made, or nothing arrives any
 * more.
 */
export type Cut = "closed" | "silent";

/** Stands between workers and Redis like the network, and can fail like it. */
export class Relay {
  readonly url: string;
  readonly #target: string;
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #cut: Cut | undefined;

  private constructor(path: string, target: string) {
    this.url = `unix:${path}`;
    this.#target = target;
    this.#server = createServer((near) => this.#connect(near));
  }

  /** Listens on a socket at this path, for what listens on the other one. */
  static async open(path: string, target: string): Promise<Relay> {
    const relay = new Relay(path, target);
    relay.#server.listen(path);
    await once(relay.#server, "listening");
    return relay;
  }

  /** Lets nothing through until `mend`. */
  cut(how: Cut): void {
    this.#cut = how;
    for (const pair of this.#pairs) for (const socket of pair) this.#hold(socket);
  }

  mend(): void {
    this.#cut = undefined;
    for (const pair of this.#pairs) for (const socket of pair) socket.resume();
  }

  close(): void {
    this.#server.close();
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  #connect(near: Socket): void {
    const far = createConnection(this.#target);
    const pair = [near, far] as const;
    this.#pairs.add(pair);
    this.#carry(near, far, pair);
    this.#carry(far, near, pair);
    if (this.#cut !== undefined) for (const socket of pair) this.#hold(socket);
  }

  /** Passes on what comes, and the end of it. */
  #carry(from: Socket, to: Socket, pair: readonly [Socket, Socket]): void {
    from.on("data", (bytes) => to.write(bytes));
    // Expected: either side is killed. The other one loses its connection.
    from.on("error", () => undefined);
    from.on("close", () => {
      to.destroy();
      this.#pairs.delete(pair);
    });
  }

  #hold(socket: Socket): void {
    if (this.#cut === "closed") socket.destroy();
    else socket.pause();
  }
}
