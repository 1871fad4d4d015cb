import type { Sandbox } from "@flint/core/ports";
import {
  hostRuleContains,
  hostRuleProblem,
  isPathIn,
  isRecord,
  isUnconfined,
  type NetworkPermission,
  type Permission,
  type ThreadSettings,
  withoutAddresses,
} from "@flint/protocol";
import { type InputField, InvalidInput } from "../input.ts";

/** Maximum number of hosts or folders that one command may request. */
const MAX_ENTRIES = 20;

/** Permissions that a model requests beyond the sandbox; the user decides. */
export interface RequestedNeeds {
  readonly network?: NetworkPermission;
  readonly write?: readonly string[];
  readonly unconfined?: true;
}

const SCHEMA = {
  type: "object",
  description:
    "What the command needs beyond the sandbox. The user is asked, so leave it out unless the command cannot work without it.",
  properties: {
    network: {
      description: 'Hosts to connect to, such as "registry.npmjs.org" or "localhost:3000"; or "all".',
      anyOf: [
        { type: "array", items: { type: "string" }, maxItems: MAX_ENTRIES },
        { type: "string", enum: ["all"] },
      ],
    },
    write: {
      type: "array",
      items: { type: "string" },
      maxItems: MAX_ENTRIES,
      description: "Absolute paths of folders outside of the workspace to write to.",
    },
    unconfined: {
      type: "boolean",
      description:
        "Whether to run it outside of the sandbox, with everything the user may do. Not with others.",
    },
  },
  additionalProperties: false,
};

/** The input field `needs`. Null and empty parts count as left out, because models write them. */
export function needsField(): InputField<RequestedNeeds> {
  return { schema: SCHEMA, isOptional: false, read: readNeeds };
}

function readNeeds(value: unknown, name: string): RequestedNeeds {
  if (!isRecord(value)) throw new InvalidInput(`${name} must be an object.`);
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(SCHEMA.properties, key));
  if (unknown !== undefined)
    throw new InvalidInput(`${name}.${unknown} is not a known field; expected network, write, unconfined.`);
  const network = readNetwork(value.network ?? [], `${name}.network`);
  const write = readStrings(value.write ?? [], `${name}.write`);
  const unconfined = value.unconfined ?? false;
  if (typeof unconfined !== "boolean") throw new InvalidInput(`${name}.unconfined must be true or false.`);
  if (!unconfined) return { ...network, ...(write.length === 0 ? {} : { write }) };
  if ("network" in network || write.length > 0)
    throw new InvalidInput(`${name}.unconfined cannot be combined with network or write.`);
  return { unconfined: true };
}

function readNetwork(value: unknown, name: string): Pick<RequestedNeeds, "network"> {
  if (value === "all") return { network: "all" };
  const hosts = readStrings(typeof value === "string" ? [value] : value, name);
  for (const host of hosts) {
    const problem = hostRuleProblem(host);
    if (problem !== undefined) throw new InvalidInput(`${name}: ${problem}.`);
  }
  return hosts.length === 0 ? {} : { network: { hosts } };
}

function readStrings(value: unknown, name: string): string[] {
  if (!Array.isArray(value) || !value.every((each): each is string => typeof each === "string"))
    throw new InvalidInput(`${name} must be an array of strings.`);
  if (value.length > MAX_ENTRIES) throw new InvalidInput(`${name} has more than ${MAX_ENTRIES} entries.`);
  return [...new Set(value)];
}

/**
 * Returns the permissions that a command really needs beyond the settings of its thread, with paths resolved;
 * undefined if none. Throws an InvalidInput for a path that no approval opens.
 */
export async function neededBeyond(
  requested: RequestedNeeds,
  settings: ThreadSettings,
  sandbox: Sandbox,
): Promise<Permission | undefined> {
  if (isUnconfined(settings.sandboxPolicy)) return undefined;
  if (requested.unconfined === true) return { unconfined: true };
  const network = networkBeyond(requested.network, withAddressesLeftOut(settings));
  const write = await Promise.all((requested.write ?? []).map((path) => resolved(path, settings, sandbox)));
  const folders = [...new Set(write)].filter((path) => !isWritable(path, settings));
  if (network === undefined && folders.length === 0) return undefined;
  return {
    ...(network === undefined ? {} : { network }),
    ...(folders.length === 0 ? {} : { write: folders }),
  };
}

/** A command may connect to a host that the user gave addresses to, and is led to no others. */
function withAddressesLeftOut(settings: ThreadSettings): ThreadSettings {
  const { network } = settings;
  return typeof network === "object"
    ? { ...settings, network: { hosts: network.hosts.map(withoutAddresses) } }
    : settings;
}

/**
 * Returns the part of a network that is beyond the settings of a thread; undefined if there is none. A host that the user
 * gave addresses to is beyond them: only the proxy of the thread leads to these.
 */
export function networkBeyond(
  asked: NetworkPermission | undefined,
  { network, sandboxPolicy }: ThreadSettings,
): NetworkPermission | undefined {
  const isOpen = sandboxPolicy.type === "workspaceWrite" && sandboxPolicy.networkAccess === true;
  if (asked === undefined || asked === "none" || isOpen || network === "all") return undefined;
  if (asked === "all") return asked;
  const known = typeof network === "object" ? network.hosts : [];
  const hosts = asked.hosts.filter((host) => !known.some((rule) => hostRuleContains(rule, host)));
  return hosts.length === 0 ? undefined : { hosts };
}

async function resolved(path: string, { cwd }: ThreadSettings, sandbox: Sandbox): Promise<string> {
  const found = await sandbox.resolveWritable?.(path, cwd);
  if (found === undefined) throw new InvalidInput("needs.write is not available here.");
  if ("problem" in found) throw new InvalidInput(`needs.write: ${found.problem}.`);
  return found.path;
}

function isWritable(path: string, { cwd, sandboxPolicy }: ThreadSettings): boolean {
  if (sandboxPolicy.type !== "workspaceWrite") return false;
  return [cwd, ...(sandboxPolicy.writableRoots ?? [])].some((root) => isPathIn(path, root));
}
