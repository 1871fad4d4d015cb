import { lookup } from "node:dns/promises";
import { connect, isIP, type Socket } from "node:net";
import {
  type AddressBlock,
  closedAddressReason,
  type Endpoint,
  errorMessage,
  formatEndpoint,
} from "@flint/protocol";
import { isServerPort } from "../sandbox/sockets.ts";
import { isNamedAddress, isOwnServer, isPublicAddress, machineAddresses, unembedded } from "./addresses.ts";

/** Finds the addresses of a host. Rejects if there are none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Opens a connection to one of the addresses. The socket may still be connecting. */
export type Connect = (addresses: readonly string[], port: number) => Socket;

/** A connection that may be dialled, or the reason why it may not or cannot. */
export type Dialled =
  | { readonly ok: true; readonly socket: Socket }
  | { readonly ok: false; readonly code: DialFailure; readonly reason: string };

/** The reason an allowed host was not reached; also what programs see in `x-proxy-error`. */
export type DialFailure = "private-address" | "own-server" | "unresolved" | "unreachable";

/** The means by which a proxy reaches hosts; both parts are replaced in tests. */
export interface DialOptions {
  readonly resolve?: Resolve;
  readonly connect?: Connect;
  /** The addresses of this machine. */
  readonly ownAddresses?: () => readonly string[];
  readonly timeoutMs?: number;
}

/** Lookups block threads that the whole server shares, so that few may run at a time. */
const MOST_LOOKUPS = 2;
const CONNECT_TIMEOUT_MS = 30_000;

/** Reaches hosts that are allowed already: resolves them once, and dials only the addresses that it checked. */
export class Dialer {
  readonly #resolve: Resolve;
  readonly #connect: Connect;
  readonly #ownAddresses: () => readonly string[];
  readonly #timeoutMs: number;
  readonly #waiting: (() => void)[] = [];
  readonly #lookups = new Map<string, Promise<readonly string[]>>();
  #running = 0;

  constructor(options: DialOptions = {}) {
    this.#resolve = options.resolve ?? systemResolve;
    this.#connect = options.connect ?? connectToAny;
    this.#ownAddresses = options.ownAddresses ?? machineAddresses;
    this.#timeoutMs = options.timeoutMs ?? CONNECT_TIMEOUT_MS;
  }

  /**
   * Resolves once connected, at a public address, or at one of those that the user named, if any are. The caller owns the
   * socket, and has to listen for its errors at once.
   */
  async dial({ host, port }: Endpoint, named: readonly AddressBlock[] = []): Promise<Dialled> {
    // The user named exactly this port of the own machine; nothing else leads to a loopback address.
    if (host === "localhost") return this.#openOwn({ host, port });
    const resolved = await this.#lookup(host).then(
      (addresses) => addresses,
      () => [],
    );
    if (resolved.length === 0)
      return { ok: false, code: "unresolved", reason: `the host ${host} was not found` };
    const mayReach = named.length === 0 ? isPublicAddress : (found: string) => isNamedAddress(found, named);
    const addresses = resolved.filter(mayReach);
    if (await isOwnServer(addresses, port, this.#ownAddresses())) return OWN_SERVER;
    if (addresses.length > 0) return this.#open(addresses, { host, port });
    return { ok: false, code: "private-address", reason: refusedAddress({ host, port }, resolved, named) };
  }

  /** A port of the own machine, unless a client of it could approve what its own command asks for. */
  async #openOwn(endpoint: Endpoint): Promise<Dialled> {
    if (await isServerPort(endpoint.port)) return OWN_SERVER;
    return this.#open(["127.0.0.1", "::1"], endpoint);
  }

  async #open(addresses: readonly string[], endpoint: Endpoint): Promise<Dialled> {
    // Expected: no descriptors left, or another reason why a socket cannot be created.
    try {
      const found = await this.#connected(this.#connect(addresses, endpoint.port));
      return typeof found === "string" ? unreachable(endpoint, found) : { ok: true, socket: found };
    } catch (thrown) {
      return unreachable(endpoint, errorMessage(thrown));
    }
  }

  /** The socket once it is connected, or the reason why it is not. */
  #connected(socket: Socket): Promise<Socket | string> {
    return new Promise((resolve) => {
      const fail = (why: string) => {
        socket.destroy();
        resolve(why);
      };
      const onError = (error: NodeJS.ErrnoException) => fail(error.code ?? error.message);
      socket.once("error", onError);
      socket.setTimeout(this.#timeoutMs, () => fail(`no answer in ${Math.round(this.#timeoutMs / 1000)} s`));
      socket.once("connect", () => {
        socket.off("error", onError).setTimeout(0).removeAllListeners("timeout");
        resolve(socket);
      });
    });
  }

  /** Connections that ask for the same host at the same time share a lookup. */
  #lookup(host: string): Promise<readonly string[]> {
    const known = this.#lookups.get(host);
    if (known !== undefined) return known;
    const lookingUp = this.#takeTurn(() => this.#resolve(host)).finally(() => this.#lookups.delete(host));
    this.#lookups.set(host, lookingUp);
    return lookingUp;
  }

  async #takeTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#running >= MOST_LOOKUPS) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running += 1;
    // Whatever comes of it, the next one has its turn.
    try {
      return await work();
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }
}

const OWN_SERVER: Dialled = {
  ...{ ok: false, code: "own-server" },
  reason: "a server of Flint listens there, which no command may connect to",
};

/** The reason why none of the addresses of a host may be reached, and the rule that would open them, if there is one. */
function refusedAddress(
  { host, port }: Endpoint,
  resolved: readonly string[],
  named: readonly AddressBlock[],
): string {
  const plain = resolved.map(unembedded);
  const openable = plain.find((address) => closedAddressReason(address, port) === undefined);
  const [address = ""] = openable === undefined ? plain : [openable];
  const blocks = named.map(({ text }) => text).join(", ");
  const elsewhere = `which is not among the addresses named for it (${blocks})`;
  if (isPublicAddress(address)) return `${host} resolves to ${address}, ${elsewhere}`;
  const closed = closedAddressReason(address, port);
  if (closed !== undefined) return `${host} resolves to ${address}, which is ${closed}`;
  const what = named.length === 0 ? "a private address" : elsewhere;
  return `${host} resolves to ${address}, ${what}; only the user can allow it (--network ${formatEndpoint({ host, port })}=${address})`;
}

/** As every program of the user resolves names, with the files of the system. */
async function systemResolve(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

/** Tries the addresses as Node does for a name that has several, without looking up anything again. */
function connectToAny(addresses: readonly string[], port: number): Socket {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return connect({
    ...{ host: "checked.invalid", port, allowHalfOpen: true, autoSelectFamily: true },
    lookup: (_host, _options, callback) => callback(null, found),
  });
}

function unreachable(endpoint: Endpoint, why: string): Dialled {
  return {
    ok: false,
    code: "unreachable",
    reason: `${formatEndpoint(endpoint)} could not be reached: ${why}`,
  };
}
