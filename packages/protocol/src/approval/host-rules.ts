import { type AddressBlock, type Parsed, parsePrivateBlock } from "./private-addresses.ts";

/** A host and a port, as a program asked for them: lower case, checked, never an address. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** A rule of the user: a host, all hosts below it, or a port of the user's own machine. */
export interface HostRule {
  readonly host: string;
  /** Matches every host below `host`, and not `host` itself. */
  readonly isWildcard: boolean;
  /** Undefined if the rule names no port. */
  readonly port?: number;
  /** The private addresses that the host may have. Undefined: it is reached at public addresses only. */
  readonly addresses?: AddressBlock;
}

/** The verdict of a list of rules on an endpoint. */
export type HostDecision = "allow" | "deny" | "unknown";

/** The ports that an allow rule without a port stands for. */
const WEB_PORTS = [80, 443];

const LONGEST_HOST = 253;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** A last label that some resolver takes for an IPv4 address: `1`, `0x7f`, `2130706433`. */
const NUMERIC = /^(?:[0-9]+|0x[0-9a-f]*)$/;
const USER_NAME = "a user name is not part of a host";
const PORT = /^[1-9][0-9]{0,4}$/;

/** Parses a rule: `host`, `host:port`, `*.host`, `*.host:port` or `localhost:PORT`. */
export function parseHostRule(text: string): Parsed<HostRule> {
  const shown = JSON.stringify(text);
  const refuse = (reason: string): Parsed<HostRule> => ({
    ok: false,
    reason: `${shown} is not a host rule: ${reason}`,
  });
  if (/^\*(?::[0-9]*)?$/.test(text)) return refuse("it stands for every host; --network all allows any host");
  if (text.includes("=")) return refuse("only the user can name addresses, with --network or in a file");
  const isWildcard = text.startsWith("*.");
  const [name = "", port, ...more] = (isWildcard ? text.slice(2) : text).split(":");
  if (more.length > 0 || text.includes("/"))
    return refuse("write host, host:port or *.host, without a scheme, a path or an IPv6 address");
  const host = parseHost(name);
  if (!host.ok) return refuse(host.reason);
  if (port !== undefined && parsePort(port) === undefined) return refuse("the port must be 1 to 65535");
  const rule = { host: host.value, isWildcard, ...(port === undefined ? {} : { port: Number(port) }) };
  if (isWildcard && !rule.host.includes("."))
    return refuse(`"*.${rule.host}" stands for too many hosts; name at least two labels after the "*."`);
  if (rule.host === "localhost" && rule.port === undefined)
    return refuse("a service on your machine needs its port, as in localhost:3000");
  return { ok: true, value: rule };
}

/**
 * Parses a rule as the user writes it: a host rule, or `HOST[:PORT]=ADDRESS` for a host that may have this private address, or
 * one of this network. Nothing that a model, an agent or a program wrote may be read with it.
 */
export function parseNetworkRule(text: string): Parsed<HostRule> {
  const at = text.indexOf("=");
  if (at < 0) return parseHostRule(text);
  const refuse = (reason: string): Parsed<HostRule> => ({
    ok: false,
    reason: `${JSON.stringify(text)} is not a host rule: ${reason}`,
  });
  const rule = parseHostRule(text.slice(0, at));
  if (!rule.ok) return rule;
  if (rule.value.isWildcard) return refuse("addresses belong to one host, so name it in full");
  if (rule.value.host === "localhost") return refuse("localhost:PORT has no address");
  const addresses = parsePrivateBlock(text.slice(at + 1));
  return addresses.ok
    ? { ok: true, value: { ...rule.value, addresses: addresses.value } }
    : refuse(addresses.reason);
}

/** The host and port of a rule, without the addresses that it may name. */
export function withoutAddresses(rule: string): string {
  return rule.split("=")[0] ?? rule;
}

/** Parses the target of a CONNECT request, which always names a port. */
export function parseAuthority(text: string): Parsed<Endpoint> {
  if (text.includes("@")) return { ok: false, reason: USER_NAME };
  const at = text.lastIndexOf(":");
  const host = parseHost(at < 0 ? text : text.slice(0, at));
  if (!host.ok) return host;
  const port = at < 0 ? undefined : parsePort(text.slice(at + 1));
  if (port === undefined) return { ok: false, reason: "the port must be 1 to 65535" };
  return { ok: true, value: { host: host.value, port } };
}

/** Parses the target of a plain request to a proxy, `http://host[:port]/path`. */
export function parseHttpUrl(text: string): Parsed<{ readonly endpoint: Endpoint; readonly path: string }> {
  const match = /^http:\/\/([^/?#]*)(\/[^#]*|\?[^#]*)?$/i.exec(text);
  if (match === null) return { ok: false, reason: schemeReason(text) };
  const [, authority = "", rest = "/"] = match;
  const endpoint = parseAuthority(authority.includes(":") ? authority : `${authority}:80`);
  if (!endpoint.ok) return endpoint;
  if (!/^[\x21-\x7e]*$/.test(rest))
    return { ok: false, reason: "the path has characters that must be encoded" };
  const path = rest.startsWith("/") ? rest : `/${rest}`;
  return { ok: true, value: { endpoint: endpoint.value, path } };
}

/** Writes an endpoint as `host:port`, which is also the rule that stands for exactly this endpoint. */
export function formatEndpoint({ host, port }: Endpoint): string {
  return `${host}:${port}`;
}

/** Allow and deny rules. A deny rule beats every allow rule, and without a port it covers all ports. */
export class HostRules {
  readonly #allow: HostRule[] = [];
  readonly #deny: HostRule[] = [];

  allow(rule: HostRule): void {
    this.#allow.push(rule);
  }

  deny(rule: HostRule): void {
    this.#deny.push(rule);
  }

  judge(endpoint: Endpoint): HostDecision {
    const covers = (rule: HostRule) => rule.port === undefined || rule.port === endpoint.port;
    if (this.#deny.some((rule) => matchesHost(rule, endpoint.host) && covers(rule))) return "deny";
    return this.#allow.some((rule) => allowsEndpoint(rule, endpoint)) ? "allow" : "unknown";
  }

  /** The private addresses that the rules name for an endpoint. If there are any, it is reached at no other address. */
  addressesOf(endpoint: Endpoint): readonly AddressBlock[] {
    const named = this.#allow.filter((rule) => allowsEndpoint(rule, endpoint));
    return named.flatMap(({ addresses }) => addresses ?? []);
  }
}

/** Reports whether an allow rule covers an endpoint; without a port it covers the ports of the web only. */
export function allowsEndpoint(rule: HostRule, { host, port }: Endpoint): boolean {
  return coversPort(rule, port) && matchesHost(rule, host);
}

/**
 * Reports whether an allow rule covers everything that another one covers. What is not a rule covers nothing, and neither does one
 * that names addresses: it opens only these.
 */
export function hostRuleContains(rule: string, other: string): boolean {
  const [outer, inner] = [parseHostRule(rule), parseHostRule(other)];
  if (!outer.ok || !inner.ok) return false;
  const { host, isWildcard, port } = inner.value;
  const ports = port === undefined ? WEB_PORTS : [port];
  const isHost = isWildcard
    ? outer.value.isWildcard && (host === outer.value.host || host.endsWith(`.${outer.value.host}`))
    : matchesHost(outer.value, host);
  return isHost && ports.every((each) => coversPort(outer.value, each));
}

/** Reports whether any host matches both rules, whatever the ports. */
export function hostRulesOverlap(left: string, right: string): boolean {
  const [one, other] = [parseNetworkRule(left), parseNetworkRule(right)];
  if (!one.ok || !other.ok) return false;
  const isIn = (rule: HostRule, { host, isWildcard }: HostRule) =>
    matchesHost(rule, host) || (isWildcard && rule.isWildcard && rule.host === host);
  return isIn(one.value, other.value) || isIn(other.value, one.value);
}

function coversPort({ port: own }: HostRule, port: number): boolean {
  return own === undefined ? WEB_PORTS.includes(port) : own === port;
}

function matchesHost({ host, isWildcard }: HostRule, asked: string): boolean {
  return isWildcard ? asked.endsWith(`.${host}`) : asked === host;
}

/** Accepts one spelling of a name only, because a second one would be a way around the first. */
function parseHost(text: string): Parsed<string> {
  const refuse = (reason: string): Parsed<string> => ({ ok: false, reason });
  if (text === "") return refuse("the host is missing");
  if (text.includes("@")) return refuse(USER_NAME);
  if (text.startsWith("[") || text.includes(":"))
    return refuse("write a name; an IP address is not accepted");
  if (/[^\x21-\x7e]/.test(text))
    return refuse("a host has no spaces or special characters; write other scripts in their xn-- form");
  if (text.includes("*")) return refuse('"*" may only stand at the beginning, as in *.example.org');
  const host = text.toLowerCase();
  if (host.length > LONGEST_HOST) return refuse(`a host has at most ${LONGEST_HOST} characters`);
  const labels = host.split(".");
  if (NUMERIC.test(labels.at(-1) ?? "")) return refuse("write a name; an IP address is not accepted");
  if (!labels.every((label) => LABEL.test(label))) return refuse("it is not the name of a host");
  if (host.endsWith(".localhost")) return refuse("write localhost and its port, as in localhost:3000");
  return { ok: true, value: host };
}

function parsePort(text: string): number | undefined {
  const port = PORT.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}

function schemeReason(text: string): string {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return "this is a proxy; it serves CONNECT and requests for http:// addresses";
  if (scheme === "https") return "https goes through a proxy by CONNECT, which this program did not use";
  return scheme === "http" ? "the address is malformed" : `${scheme} cannot go through an HTTP proxy`;
}
