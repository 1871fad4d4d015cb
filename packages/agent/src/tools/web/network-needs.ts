import {
  hostRuleProblem,
  isUnconfined,
  type NetworkPermission,
  type Permission,
  type ThreadSettings,
} from "@flint/protocol";
import { networkBeyond } from "../shell/needs.ts";

/**
 * What a web request needs beyond the network of its thread; undefined if nothing. A user who is asked about each address
 * needs no list of hosts. Where no one is asked, the network that was chosen for commands also counts for pages, because an
 * address can carry away as much as a command.
 */
export function webNeeds(url: URL, settings: ThreadSettings): Permission | undefined {
  const isAsked = settings.approvalPolicy !== "never" && settings.network !== "none";
  if (isAsked || isUnconfined(settings.sandboxPolicy)) return undefined;
  const network = networkBeyond(networkOf(url), settings);
  return network === undefined ? undefined : { network };
}

/** The rule for exactly this host and port. No rule names an address, so that takes the whole network. */
function networkOf({ hostname, port, protocol }: URL): NetworkPermission {
  const rule = `${hostname}:${port || (protocol === "https:" ? 443 : 80)}`;
  return hostRuleProblem(rule) === undefined ? { hosts: [rule] } : "all";
}
