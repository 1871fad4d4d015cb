import { shellQuote } from "@flint/core/text";
import type { NodePrograms } from "./node-programs.ts";

/** The address of the proxy in the namespace of every thread. */
export const PROXY_ADDRESS = { host: "127.0.0.1", port: 3128 } as const;

/** Options of the environment that leads commands to the proxy. */
export interface ProxyEnvironmentOptions {
  /** The token of the command, by which the proxy knows it. */
  readonly token: string;
  readonly programs: NodePrograms;
  /** The Node that runs the programs. */
  readonly node: string;
  /** The variables of the command so far, to which some of these are added. */
  readonly inherited: Readonly<Record<string, string>>;
}

/** Loopback is inside: a server that another command of the thread started, or a port that is relayed. */
const DIRECT = "localhost,127.0.0.1,::1";

/**
 * The variables that make curl, git, ssh, npm, yarn, pip, cargo, Go, Python and Node use the proxy. They only show the way:
 * a program that ignores them reaches nothing.
 */
export function proxyEnvironment(options: ProxyEnvironmentOptions): Record<string, string> {
  const { host, port } = PROXY_ADDRESS;
  const proxy = `http://flint:${options.token}@${host}:${port}`;
  const { GIT_SSH_COMMAND: ssh = "ssh", NODE_OPTIONS: nodeOptions = "" } = options.inherited;
  const helper = [options.node, options.programs.connect].map(shellQuote).join(" ");
  return {
    ...both("HTTP_PROXY", proxy),
    ...both("HTTPS_PROXY", proxy),
    ...both("ALL_PROXY", proxy),
    ...both("NO_PROXY", DIRECT),
    // These have settings files of their own, which would win over the variables above.
    npm_config_proxy: proxy,
    npm_config_https_proxy: proxy,
    npm_config_noproxy: DIRECT,
    // npm looks for its own updates after any command, and the user would be asked about that connection.
    npm_config_update_notifier: "false",
    YARN_HTTP_PROXY: proxy,
    YARN_HTTPS_PROXY: proxy,
    PIP_PROXY: proxy,
    CARGO_HTTP_PROXY: proxy,
    // Without a method git first asks without credentials, and would be taken for another program.
    ...gitSettings(options.inherited, { "http.proxy": proxy, "http.proxyAuthMethod": "basic" }),
    GIT_SSH_COMMAND: `${ssh} -o ProxyCommand=${shellQuote(`${helper} %h %p`)}`,
    NODE_USE_ENV_PROXY: "1",
    NODE_OPTIONS: `${nodeOptions} --require ${nodeQuote(options.programs.preload)}`.trim(),
  };
}

/** Some programs read the one spelling, some the other. */
function both(name: string, value: string): Record<string, string> {
  return { [name]: value, [name.toLowerCase()]: value };
}

/** Settings for git, after those that are in the environment already. */
function gitSettings(
  inherited: Readonly<Record<string, string>>,
  settings: Readonly<Record<string, string>>,
): Record<string, string> {
  const before = Number(inherited.GIT_CONFIG_COUNT ?? 0);
  const first = Number.isInteger(before) && before >= 0 ? before : 0;
  const entries = Object.entries(settings);
  const pairs = entries.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${first + at}`, key],
    [`GIT_CONFIG_VALUE_${first + at}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(first + entries.length), ...Object.fromEntries(pairs) };
}

/** A word as NODE_OPTIONS has it. */
function nodeQuote(word: string): string {
  return /[\s"\\]/.test(word) ? `"${word.replace(/["\\]/g, "\\$&")}"` : word;
}
