import { BlockList, isIP } from "node:net";

/** Decides whether an address may be dialled. */
export type AddressRule = (address: string) => boolean;

const PRIVATE = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  PRIVATE.addSubnet(network, prefix, "ipv4");
}

/** Of IPv6 only what is plainly public; the rest wraps addresses of IPv4 or belongs to a local network. */
const PUBLIC_6 = new BlockList();
PUBLIC_6.addSubnet("2000::", 3, "ipv6");
const TUNNELS_6 = new BlockList();
TUNNELS_6.addSubnet("2001::", 23, "ipv6");
TUNNELS_6.addSubnet("2001:db8::", 32, "ipv6");
TUNNELS_6.addSubnet("2002::", 16, "ipv6");
TUNNELS_6.addSubnet("3fff::", 20, "ipv6");

/** Whether an address belongs to the open internet, and neither to this machine nor to a network around it. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !PRIVATE.check(address, "ipv4");
    case 6:
      return PUBLIC_6.check(address, "ipv6") && !TUNNELS_6.check(address, "ipv6");
    default:
      return false;
  }
}
