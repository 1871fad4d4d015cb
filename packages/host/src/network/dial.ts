import { lookup } from "node:dns/promises";
import { BlockList, connect, isIP, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { type Endpoint, errorMessage, formatEndpoint } from "@flint/protocol";
import { isServerPort } from "../sandbox/sockets.ts";

/** Finds the addresses of a host. Rejects if there are none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Opens a connection to one of the addresses. The socket may still be connecting. */
export type Connect = (addresses: readonly string[], port: number) => Socket;

/** A connection that may be dialled, or the reason why it may not or cannot. */
export type Dialled =
  | { readonly ok: true; readonly socket: Socket }
  | { readonly ok: false; readonly code: DialFailure; readonly reason: string };

/** Why an allowed host was not reached; also what programs see in `x-proxy-error`. */
export type DialFailure = "private-address" | "own-server" | "unresolved" | "unreachable";

/** How a proxy reaches hosts; both parts are replaced in tests. */
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

/** Networks that are not the public internet, with the wire servers of clouds, which look as if they were. */
const PRIVATE_NETWORKS_4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];

/** What is not global inside of the one block of IPv6 that is: tunnels to IPv4, tests and examples. */
const PRIVATE_NETWORKS_6: readonly (readonly [string, number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

const PRIVATE = blockList(PRIVATE_NETWORKS_4, PRIVATE_NETWORKS_6);
const GLOBAL_6 = blockList([], [["2000::", 3]]);
/** Addresses that stand for an IPv4 address in their last four bytes: mapped ones, and those of NAT64. */
const EMBEDDED_4 = blockList(
  [],
  [
    ["::ffff:0:0", 96],
    ["64:ff9b::", 96],
  ],
);

/** Whether an address is on the public internet: no loopback, private, link-local, metadata or reserved one. */
export function isPublicAddress(address: string): boolean {
  if (address.includes("%")) return false;
  switch (isIP(address)) {
    case 4:
      return !PRIVATE.check(address, "ipv4");
    case 6: {
      const plain = unembedded(address);
      if (plain !== address) return isPublicAddress(plain);
      return GLOBAL_6.check(address, "ipv6") && !PRIVATE.check(address, "ipv6");
    }
    default:
      return false;
  }
}

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
    this.#ownAddresses = options.ownAddresses ?? interfaceAddresses;
    this.#timeoutMs = options.timeoutMs ?? CONNECT_TIMEOUT_MS;
  }

  /** Resolves once connected. The caller owns the socket, and has to listen for its errors at once. */
  async dial({ host, port }: Endpoint): Promise<Dialled> {
    // The user named exactly this port of the own machine; nothing else leads to a loopback address.
    if (host === "localhost") return this.#openOwn({ host, port });
    const resolved = await this.#lookup(host).then(
      (addresses) => addresses,
      () => [],
    );
    if (resolved.length === 0)
      return { ok: false, code: "unresolved", reason: `the host ${host} was not found` };
    const addresses = resolved.filter(isPublicAddress);
    const isOwn = addresses.some((address) => this.#ownAddresses().includes(unembedded(address)));
    if (isOwn && (await isServerPort(port))) return OWN_SERVER;
    if (addresses.length > 0) return this.#open(addresses, { host, port });
    const reason = `${host} has only private addresses, which no rule for a name opens; for a service on your machine allow localhost:${port}`;
    return { ok: false, code: "private-address", reason };
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

/** Also public ones: a name may lead to the machine that it is looked up on. */
function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((found = []) => found.map(({ address }) => address));
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

function blockList(
  four: readonly (readonly [string, number])[],
  six: readonly (readonly [string, number])[],
): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of four) list.addSubnet(network, prefix, "ipv4");
  for (const [network, prefix] of six) list.addSubnet(network, prefix, "ipv6");
  return list;
}

/** The IPv4 address that an IPv6 address stands for; any other is returned as it is. */
function unembedded(address: string): string {
  const isEmbedded = isIP(address) === 6 && EMBEDDED_4.check(address, "ipv6");
  return isEmbedded ? lastFourBytes(address) : address;
}

/** The end of an IPv6 address as an IPv4 address, however it is written. */
function lastFourBytes(address: string): string {
  const dotted = /(?:^|:)([0-9]+(?:\.[0-9]+){3})$/.exec(address)?.[1];
  if (dotted !== undefined) return dotted;
  const [low = "0", high = "0"] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split(":").reverse();
  const words = [high === "" ? "0" : high, low === "" ? "0" : low].map((word) => Number.parseInt(word, 16));
  return words.flatMap((word) => [word >> 8, word & 0xff]).join(".");
}
