import type { Clock } from "@flint/core/ports";
import type { Lock } from "@flint/host/store";
import type { FrontendName, Frontends } from "../frontends.ts";
import type { Company } from "../serve-stdio.ts";
import { claimServer } from "../single-instance/claim.ts";
import { Presence } from "../single-instance/presence.ts";
import { isLoopback, type ListenAddress } from "./address.ts";
import { Guests } from "./guests.ts";
import type { Listener } from "./listener.ts";
import type { TokenFile } from "./token.ts";
import { UnixListener } from "./unix-listener.ts";
import { WebSocketListener } from "./web-socket-listener.ts";

/** Where to listen and who may come in. */
export interface ListenPlan {
  readonly addresses: readonly Exclude<ListenAddress, { kind: "stdio" | "local" }>[];
  /** The door of unix sockets. */
  readonly door: FrontendName;
  /** The door at the root of WebSocket listeners. */
  readonly root: FrontendName;
  /** Undefined lets everybody in who reaches a port; refused beyond this machine. */
  readonly token: TokenFile | undefined;
  readonly allowOrigins: readonly string[];
  readonly allowHosts: readonly string[];
  /** Whether clients of a port may bring MCP servers that are programs; not unless told. */
  readonly allowRemoteMcp?: boolean | undefined;
  /** The state folder to be found in, and the folder to work in; undefined keeps the server to itself. */
  readonly presence: Place | undefined;
}

/** Where a server is found. */
export interface Place {
  readonly folder: string;
  readonly cwd: string;
  /** The lock of the folder, if this process has it already; it is given back with the end of the listeners. */
  readonly lock?: Lock | undefined;
}

/** One listener that is open, as it can be told. */
export interface OpenPlace {
  readonly place: string;
  /** The door, for a WebSocket that at the root. */
  readonly door: FrontendName;
  readonly tokenFile: string | undefined;
}

/** Another server has the state folder. */
export class AlreadyRunning extends Error {
  constructor(folder: string, pid: number | undefined) {
    const who = pid === undefined ? "" : ` (process id ${pid})`;
    const way = "Join it with flint connect, or start one beside it with --alone or another FLINT_HOME.";
    super(`A server runs already for ${folder}${who}. ${way}`);
    this.name = "AlreadyRunning";
  }
}

/** All listeners of a server and the clients that came through them. */
export class Listening implements Company {
  readonly places: OpenPlace[] = [];
  readonly #guests: Guests;
  readonly #listeners: Listener[] = [];
  readonly #clock: Clock;
  #presence: Presence | undefined;

  private constructor(frontends: Frontends, clock: Clock) {
    this.#guests = new Guests(frontends, clock);
    this.#clock = clock;
  }

  /** Opens every listener, or none: rejects with what is in the way. */
  static async start(frontends: Frontends, plan: ListenPlan, clock: Clock): Promise<Listening> {
    for (const address of plan.addresses) refuseOpenDoor(address, plan.token);
    const listening = new Listening(frontends, clock);
    // Before anything is opened: of two servers that are started at once, one gets no further.
    const lock = plan.presence === undefined ? undefined : await lockOf(plan.presence);
    try {
      for (const address of plan.addresses) await listening.#open(address, plan);
    } catch (error) {
      await listening.withdraw();
      await lock?.release();
      throw error;
    }
    try {
      if (plan.presence !== undefined && lock !== undefined) await listening.#announce(plan.presence, lock);
      return listening;
    } catch (error) {
      await listening.withdraw();
      throw error;
    }
  }

  /** How many clients there are. */
  get size(): number {
    return this.#guests.size;
  }

  /** How many clients have come so far. */
  get arrivals(): number {
    return this.#guests.arrivals;
  }

  empty(): Promise<void> {
    return this.#guests.empty();
  }

  idle(): Promise<void> {
    return this.#guests.idle();
  }

  async withdraw(): Promise<void> {
    await this.#presence?.close();
    await Promise.all(this.#listeners.map((listener) => listener.close()));
  }

  close(): Promise<void> {
    return this.#guests.close();
  }

  async #open(address: ListenPlan["addresses"][number], plan: ListenPlan): Promise<void> {
    const guests = this.#guests;
    try {
      if (address.kind === "unix") {
        await refuseWhereAgentsWork(address.path);
        const listener = await UnixListener.start({ path: address.path, door: plan.door, guests });
        this.#opened(listener, plan.door, undefined);
        return;
      }
      const { token, root, allowHosts, allowOrigins, allowRemoteMcp } = plan;
      const rights = { bringsPrograms: allowRemoteMcp === true };
      const isToken = token === undefined ? undefined : (given: string) => token.matches(given);
      const rules = { root, isToken, allowHosts, allowOrigins };
      const place = { host: address.host, port: address.port, guests, clock: this.#clock, rights };
      this.#opened(await WebSocketListener.start({ ...rules, ...place }), root, token?.path);
    } catch (error) {
      throw inWords(error, address);
    }
  }

  #opened(listener: Listener, door: FrontendName, tokenFile: string | undefined): void {
    this.#listeners.push(listener);
    this.places.push({ place: listener.place, door, tokenFile });
  }

  async #announce({ folder, cwd }: Place, lock: Lock): Promise<void> {
    const listeners = this.places.map(({ place }) => place);
    this.#presence = await Presence.announce({ root: folder, cwd, listeners, guests: this.#guests, lock });
  }
}

async function lockOf({ folder, lock }: Place): Promise<Lock> {
  if (lock !== undefined) return lock;
  const attempt = await claimServer(folder);
  if ("lock" in attempt) return attempt.lock;
  throw new AlreadyRunning(folder, attempt.owner);
}

/** Beyond this machine a port without a token would be open to everybody. */
function refuseOpenDoor(address: ListenAddress, token: TokenFile | undefined): void {
  if (address.kind !== "webSocket" || token !== undefined || isLoopback(address.host)) return;
  const why = "whoever reaches the port could run commands as you";
  throw new Error(`--no-token is refused for ${address.host}: ${why}. Leave it out, or listen at 127.0.0.1.`);
}

/** Whoever runs there could connect: the sandbox around them was made before the socket, and does not cover it. */
async function refuseWhereAgentsWork(path: string): Promise<void> {
  const { workedIn } = await import("@flint/host/sandbox");
  const folder = await workedIn(path);
  if (folder === undefined) return;
  const why = `agents or commands work in ${folder} now, and could connect to it`;
  throw new Error(
    `Cannot listen at unix:${path}: ${why}. Choose a path outside of that folder, or wait until they have ended.`,
  );
}

/** What the system says about an address, in words. */
function inWords(error: unknown, address: ListenAddress): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const place = address.kind === "webSocket" ? `ws://${address.host}:${address.port}` : placeOf(address);
  const why = typeof code === "string" ? PROBLEMS[code] : undefined;
  return why === undefined ? error : new Error(`Cannot listen at ${place}: ${why}`, { cause: error });
}

function placeOf(address: ListenAddress): string {
  return address.kind === "unix" ? `unix:${address.path}` : address.kind;
}

const PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program listens there. Choose another port, or 0 for a free one.",
  EACCES: "you may not. Choose a port above 1023, or a folder of your own.",
  EADDRNOTAVAIL: "this machine does not have that address.",
  ENOTFOUND: "there is no such host.",
  EINVAL: "the system does not take that path; it may be too long for a socket.",
};
