import { BlockList, isIP } from "node:net";
import { lazy } from "@flint/protocol";

/** Decides whether an address may be connected to. */
export type AddressRule = (address: string) => boolean;

const PRIVATE = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];
/** Of IPv6 only global unicast; the rest embeds IPv4 addresses or belongs to a local network. */
const PUBLIC_6 = ["2000::/3"];
const TUNNELS_6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

/** Created on first use: few turns connect anywhere. */
const lists = lazy(() => ({
  private: listOf(PRIVATE, "ipv4"),
  public6: listOf(PUBLIC_6, "ipv6"),
  tunnels6: listOf(TUNNELS_6, "ipv6"),
}));

/** Whether an address is on the public internet, and neither this machine nor a private network. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !lists().private.check(address, "ipv4");
    case 6:
      return lists().public6.check(address, "ipv6") && !lists().tunnels6.check(address, "ipv6");
    default:
      return false;
  }
}

function listOf(networks: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", prefix] = network.split("/");
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}
