import * as z from "zod/mini";
import { looseObject } from "../wire/loose-object.ts";
import {
  allowsEndpoint,
  type Endpoint,
  hostRuleContains,
  hostRulesOverlap,
  parseHostRule,
  parseNetworkRule,
} from "./host-rules.ts";

/** Explains what is wrong with a host rule; undefined for one that can be used. */
export function hostRuleProblem(rule: string): string | undefined {
  const parsed = parseHostRule(rule);
  return parsed.ok ? undefined : parsed.reason;
}

/** The same for a rule that the user wrote, which may name private addresses. */
export function networkRuleProblem(rule: string): string | undefined {
  const parsed = parseNetworkRule(rule);
  return parsed.ok ? undefined : parsed.reason;
}

/** Reports whether a rule covers a connection. What is not a rule covers nothing. */
export function hostRuleCovers(rule: string, endpoint: Endpoint): boolean {
  const parsed = parseNetworkRule(rule);
  return parsed.ok && allowsEndpoint(parsed.value, endpoint);
}

type RuleProblem = (rule: string) => string | undefined;

/** A rule on the wire. */
function ruleString(problemOf: RuleProblem) {
  return z.string().check((rule) => {
    const message = problemOf(rule.value);
    if (message !== undefined) rule.issues.push({ code: "custom", message, input: rule.value });
  });
}

function networkOf(problemOf: RuleProblem) {
  return z.union([z.enum(["none", "all"]), looseObject(() => ({ hosts: z.array(ruleString(problemOf)) }))], {
    error: ({ input }) => networkProblem(input, problemOf),
  });
}

/** The hosts that an action may connect to: none, all, or the named ones. It never names addresses. */
export const NetworkPermission = networkOf(hostRuleProblem);
export type NetworkPermission = z.output<typeof NetworkPermission>;

/**
 * The hosts that the user allows: none, all, or the named ones, of which some may be at private addresses.
 */
export const NetworkSetting = networkOf(networkRuleProblem);

function networkProblem(input: unknown, problemOf: RuleProblem): string {
  const hosts: unknown = Object(input).hosts;
  const problems = Array.isArray(hosts) ? hosts.map((host) => problemOf(String(host))) : [];
  return problems.find((problem) => problem !== undefined) ?? 'must be "none", "all" or { "hosts": [...] }';
}

/** Mode for taking over commits made in the sandbox: never, after asking, or without asking. */
export const GitMode = z.enum(["off", "ask", "auto"]);
export type GitMode = z.output<typeof GitMode>;

/** Rights of an action beyond its sandbox. */
export const Permission = looseObject(() => ({
  network: z.optional(NetworkPermission),
  /** Absolute paths, free of links. */
  write: z.optional(z.array(z.string())),
  /**
   * The identity of the folder at each of these paths at the time of the request, so that another one in its
   * place is not allowed.
   */
  identities: z.optional(z.record(z.string(), z.string())),
  /** Commits that were made in the sandbox are taken over into the repository. */
  git: z.optional(z.boolean()),
  /** The command runs outside of the sandbox. Never combined with the others. */
  unconfined: z.optional(z.literal(true)),
}));
export type Permission = z.output<typeof Permission>;

/** Everything that these permissions give together. Leaving the sandbox is never part of it. */
export function joinPermissions(permissions: readonly Permission[]): Permission {
  const write = [...new Set(permissions.flatMap((permission) => permission.write ?? []))];
  const hosts = permissions.flatMap(({ network }) => (typeof network === "object" ? network.hosts : []));
  const isAll = permissions.some(({ network }) => network === "all");
  const network: NetworkPermission | undefined = isAll
    ? "all"
    : hosts.length > 0
      ? { hosts: [...new Set(hosts)] }
      : undefined;
  // Of two folders that were at the same path, the later one counts.
  const identities = Object.assign({}, ...permissions.map((permission) => permission.identities));
  return {
    ...(network === undefined ? {} : { network }),
    ...(write.length === 0 ? {} : { write }),
    ...(Object.keys(identities).length === 0 ? {} : { identities }),
  };
}

/** Describes a permission as a verb phrase: "connect to registry.example (port 443)". */
export function describePermission({ network, write, git, unconfined }: Permission): string {
  if (unconfined === true) return "run outside of the sandbox, with everything you may do";
  const parts = [
    ...describeNetwork(network),
    ...(write ?? []).map((path) => `write ${path}`),
    ...(git === true ? ["add its commits to your repository"] : []),
  ];
  return parts.length === 0 ? "do nothing more" : parts.join(" and ");
}

function describeNetwork(network: NetworkPermission | undefined): string[] {
  if (network === undefined || network === "none") return [];
  if (network === "all") return ["connect to any host"];
  return [`connect to ${network.hosts.map(describeHostRule).join(", ")}`];
}

/** Describes a rule: "git.corp.example (port 443, at 10.1.2.3)". */
export function describeHostRule(rule: string): string {
  const [name = rule, addresses] = rule.split("=");
  const [host = name, port] = name.split(":");
  const ports = port === undefined ? "ports 80 and 443" : `port ${port}`;
  return `${host} (${ports}${addresses === undefined ? "" : `, at ${addresses}`})`;
}

/**
 * Reports whether a permission includes all that is needed. Leaving the sandbox is a permission of its own:
 * it includes only itself, and nothing else includes it.
 */
export function permissionCovers(given: Permission, needed: Permission): boolean {
  if (given.unconfined === true || needed.unconfined === true) return given.unconfined === needed.unconfined;
  if (needed.git === true && given.git !== true) return false;
  const folders = given.write ?? [];
  const isWritable = (path: string) => folders.some((folder) => isPathIn(path, folder));
  return (needed.write ?? []).every(isWritable) && networkCovers(given.network, needed.network);
}

function networkCovers(given: NetworkPermission = "none", needed: NetworkPermission = "none"): boolean {
  if (needed === "none" || given === "all") return true;
  if (needed === "all" || given === "none") return false;
  return needed.hosts.every((host) => given.hosts.some((rule) => hostRuleContains(rule, host)));
}

/** Reports whether two permissions have anything in common: a host, a path, or the same right. */
export function permissionsOverlap(one: Permission, other: Permission): boolean {
  if (one.unconfined === true && other.unconfined === true) return true;
  if (one.git === true && other.git === true) return true;
  const isShared = (path: string) =>
    (other.write ?? []).some((each) => isPathIn(path, each) || isPathIn(each, path));
  return (one.write ?? []).some(isShared) || networksOverlap(one.network, other.network);
}

function networksOverlap(one: NetworkPermission = "none", other: NetworkPermission = "none"): boolean {
  if (one === "none" || other === "none") return false;
  if (one === "all" || other === "all") return true;
  return one.hosts.some((host) => other.hosts.some((each) => hostRulesOverlap(host, each)));
}

/** Reports whether an absolute path is a folder or inside of it. Both are free of links and of dots. */
export function isPathIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

/** The hosts that a permission names; none where it opens the whole network, or nothing of it. */
export function hostsOf({ network }: Permission): readonly string[] {
  return typeof network === "object" ? network.hosts : [];
}
