import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { type AddressBlock, isAddressIn, lazy } from "@flint/protocol";
import { isServerPort } from "../sandbox/sockets.ts";

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

/** Networks that are not global inside of the one IPv6 block that is: tunnels to IPv4, tests and examples. */
const PRIVATE_NETWORKS_6: readonly (readonly [string, number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

/** Networks whose addresses stand for an IPv4 address in their last four bytes: mapped ones, and those of NAT64. */
const EMBEDDING_NETWORKS_6: readonly (readonly [string, number])[] = [
  ["::ffff:0:0", 96],
  ["64:ff9b::", 96],
];

/** Created on first use: most threads connect nowhere. */
const lists = lazy(() => ({
  private: blockList(PRIVATE_NETWORKS_4, PRIVATE_NETWORKS_6),
  global6: blockList([], [["2000::", 3]]),
  embedding: blockList([], EMBEDDING_NETWORKS_6),
  loopback: blockList(
    [
      ["127.0.0.0", 8],
      ["0.0.0.0", 32],
    ],
    [["::", 127]],
  ),
}));

/**
 * Reports whether an address is on the public internet: not a loopback, private, link-local, metadata or
 * reserved one.
 */
export function isPublicAddress(address: string): boolean {
  if (address.includes("%")) return false;
  switch (isIP(address)) {
    case 4:
      return !lists().private.check(address, "ipv4");
    case 6: {
      const plain = unembedded(address);
      if (plain !== address) return isPublicAddress(plain);
      return lists().global6.check(address, "ipv6") && !lists().private.check(address, "ipv6");
    }
    default:
      return false;
  }
}

/** Reports whether an address is one that the user named. */
export function isNamedAddress(address: string, named: readonly AddressBlock[]): boolean {
  return named.some((block) => isAddressIn(unembedded(address), block));
}

/**
 * Reports whether one of the addresses with this port is a Flint server of this machine, to which a client
 * acts as the user.
 */
export async function isOwnServer(
  addresses: readonly string[],
  port: number,
  ownAddresses: readonly string[] = machineAddresses(),
): Promise<boolean> {
  const isOwn = addresses
    .map(unembedded)
    .some((address) => isLoopback(address) || ownAddresses.includes(address));
  return isOwn && isServerPort(port);
}

/** The addresses of this machine, also public ones: a name may lead to the machine that it is looked up on. */
export function machineAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((found = []) => found.map(({ address }) => address));
}

function isLoopback(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && lists().loopback.check(address, version === 4 ? "ipv4" : "ipv6");
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
export function unembedded(address: string): string {
  const isEmbedded = isIP(address) === 6 && lists().embedding.check(address, "ipv6");
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
