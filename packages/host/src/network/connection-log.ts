import { formatEndpoint } from "@flint/protocol";
import type { DialFailure } from "./dial.ts";
import type { ConnectionRequest, RefusalCode } from "./host-gate.ts";

/** Everything that programs can see in `x-proxy-error`. */
export type ProxyError = RefusalCode | DialFailure | "bad-target" | "unknown-command";

/** The outcome of a connection, for the log, the item and the result of the tool. */
export interface ConnectionEvent extends ConnectionRequest {
  /** Unix milliseconds. */
  readonly at: number;
  /** `held` is followed by one of the others; `failed` means allowed, but not reached. */
  readonly outcome: "allowed" | "held" | "refused" | "failed";
  readonly code?: ProxyError;
  /** A clause for users. */
  readonly reason?: string;
}

/** A host and port that the sandbox refused to a command. */
export interface RefusedHost {
  readonly host: string;
  readonly port: number;
  readonly code: ProxyError;
  readonly reason: string;
  /** The number of connections that were refused. */
  readonly count: number;
  /**
   * True if the command itself is known to have made the attempt; otherwise the connection only happened
   * while it ran.
   */
  readonly isCertain: boolean;
}

/** The command that is asked about. */
export interface CommandWindow {
  readonly command: string;
  /** Unix milliseconds, both ends included. */
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Maximum number of connections that users and models see by name; the rest is only counted. */
const MOST_SHOWN = 5;

/** The connections of a thread, as facts about its commands. Bounded: the oldest are dropped. */
export class ConnectionLog {
  readonly #most: number;
  #events: ConnectionEvent[] = [];

  constructor(most = 2000) {
    this.#most = most;
  }

  record(event: ConnectionEvent): void {
    this.#events.push(event);
    if (this.#events.length > 2 * this.#most) this.#events = this.#events.slice(-this.#most);
  }

  /** Each host and port that was refused to a command, in the order of the first attempt. */
  refusedTo({ command, startedAt, endedAt }: CommandWindow): RefusedHost[] {
    const found = new Map<string, RefusedHost>();
    for (const event of this.#events) {
      const isOwn = event.command === command;
      const isInTime = event.command === undefined && event.at >= startedAt && event.at <= endedAt;
      if (!(isOwn || isInTime) || event.outcome !== "refused") continue;
      const key = formatEndpoint(event);
      const { count = 0, isCertain = false } = found.get(key) ?? {};
      found.set(key, {
        ...{ host: event.host, port: event.port, count: count + 1, isCertain: isCertain || isOwn },
        // The last one counts: what was not answered at first may have been declined since.
        ...{ code: event.code ?? "blocked-by-allowlist", reason: event.reason ?? "" },
      });
    }
    return [...found.values()];
  }
}

/** One sentence about refused hosts, for the end of a tool's result; undefined if there are none. */
export function describeRefusals(refused: readonly RefusedHost[]): string | undefined {
  const [first] = refused;
  if (first === undefined) return undefined;
  if (refused.length === 1)
    return `The sandbox refused the connection to ${formatEndpoint(first)}: ${first.reason}.`;
  const shown = refused.slice(0, MOST_SHOWN).map((host) => `${formatEndpoint(host)} (${host.reason})`);
  const more = refused.length > MOST_SHOWN ? ` and ${refused.length - MOST_SHOWN} more` : "";
  return `The sandbox refused connections to ${shown.join(", ")}${more}.`;
}

/** Output of programs that looked up a name or dialled an address directly, where there is nothing to reach. */
const DIRECT_ATTEMPT =
  /could not resolve host|temporary failure in name resolution|\b(?:EAI_AGAIN|ENETUNREACH)\b|network is unreachable|errno -3\b|name or service not known/i;

/** Explains the output of a failed command that did not go through the proxy; undefined if it does not look like that. */
export function describeDirectAttempt(output: string): string | undefined {
  if (!DIRECT_ATTEMPT.test(output)) return undefined;
  return "The sandbox has no direct network: only what goes through the HTTP proxy in HTTPS_PROXY reaches allowed hosts. DNS, UDP and programs that ignore the proxy do not.";
}
