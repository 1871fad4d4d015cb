import type { Clock } from "@flint/core/ports";
import type { ClientConnection } from "@flint/frontends";
import { LIMITS } from "@flint/protocol";
import { visible } from "@flint/view";
import type { ClientTraits, FrontendName, Frontends, OpenFrontend } from "../frontends.ts";
import type { GuestTransport } from "./cut.ts";
import { WatchedTransport } from "./watched-transport.ts";

type Guest = { readonly transport: WatchedTransport; readonly connection: ClientConnection };

/** Who counts the clients of one listener. */
export type Seats = Set<unknown>;

/** The clients that came through listeners, and the bounds that hold for each of them. */
export class Guests {
  readonly #frontends: Frontends;
  readonly #clock: Clock;
  readonly #guests = new Set<Guest>();
  #onEmpty: (() => void)[] = [];
  #arrivals = 0;

  constructor(frontends: Frontends, clock: Clock) {
    this.#frontends = frontends;
    this.#clock = clock;
  }

  /** How many there are. */
  get size(): number {
    return this.#guests.size;
  }

  /** How many were admitted so far. */
  get arrivals(): number {
    return this.#arrivals;
  }

  /** Loads a front end, so that a client can then be admitted at once. Undefined, and told on stderr, if that fails. */
  async open(name: FrontendName): Promise<OpenFrontend | undefined> {
    // Expected: a damaged installation. The other front ends, and the clients that are there, are served all the same.
    try {
      return await this.#frontends.open(name);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      process.stderr.write(`flint: the ${name} door cannot be opened: ${visible(reason)}\n`);
      return undefined;
    }
  }

  /**
   * Serves a client until it leaves. If all seats of its listener are taken, the longest silent one that has not even
   * greeted gives its own away; if there is none, the newcomer is sent away.
   */
  admit(open: OpenFrontend, transport: GuestTransport, seats: Seats, client: ClientTraits = {}): void {
    if (seats.size >= LIMITS.connections && !this.#freeSeat(seats)) {
      transport.cut("crowded");
      return;
    }
    const watched = new WatchedTransport(transport, {
      clock: this.#clock,
      anyRequestGreets: !open.frontend.initializeFirst,
    });
    const guest = { transport: watched, connection: open.connect(watched, client) };
    this.#arrivals += 1;
    this.#guests.add(guest);
    seats.add(guest);
    void this.#seeOff(guest).then(() => seats.delete(guest));
  }

  /** Resolves when nobody is left. */
  async empty(): Promise<void> {
    if (this.#guests.size > 0) await new Promise<void>((resolve) => this.#onEmpty.push(resolve));
  }

  /** Resolves when every request so far has its answer. */
  async idle(): Promise<void> {
    await Promise.all([...this.#guests].map(({ connection }) => connection.idle()));
  }

  /** Sends everybody what is queued for them, then lets them go. */
  async close(): Promise<void> {
    await Promise.all([...this.#guests].map(({ connection }) => connection.close()));
  }

  /** What a client asked before it left is still answered: it may only have closed its own half. */
  async #seeOff(guest: Guest): Promise<void> {
    const { connection } = guest;
    await connection.closed;
    await connection.idle();
    await connection.close();
    this.#guests.delete(guest);
    if (this.#guests.size === 0) for (const resolve of this.#onEmpty.splice(0)) resolve();
  }

  #freeSeat(seats: Seats): boolean {
    for (const guest of this.#guests) {
      if (guest.transport.greeted || !seats.delete(guest)) continue;
      guest.transport.cut("crowded");
      return true;
    }
    return false;
  }
}
