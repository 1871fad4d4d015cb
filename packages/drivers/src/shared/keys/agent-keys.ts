import { KeyRelay } from "./key-relay.ts";

type Variables = Readonly<Record<string, string>>;

/** Start options of a process whose requests go through a relay. */
export interface RelayedStart {
  readonly environment: Variables;
  readonly command: readonly string[];
}

/** The keys in an agent's variables, which are put into its requests outside of the sandbox. */
export interface AgentKeys {
  /** The address of its model. */
  readonly upstream: URL;
  /** The variables in which it gets a stand-in for the key that it has there. */
  readonly variables: readonly string[];
  /** Variables with a header in each line, in which it gets stand-ins for the values. */
  readonly headers: readonly string[];
  /** Returns how it is started so that it takes the relay at this address for its model. */
  start(address: string): RelayedStart;
}

/** A relay for the keys of one process, and what the process is started with. */
export async function relayKeys(keys: AgentKeys): Promise<RelayedStart & Pick<KeyRelay, "close">> {
  const relay = await KeyRelay.open(keys.upstream);
  const { environment, command } = keys.start(relay.address);
  const hidden = Object.entries(environment).map(([name, value]): [string, string] => {
    if (keys.variables.includes(name)) return [name, relay.standIn(value, KEY_HEADERS)];
    return [name, keys.headers.includes(name) ? hiddenHeaders(value, relay) : value];
  });
  return { environment: Object.fromEntries(hidden), command, close: () => relay.close() };
}

/** The headers in which agents send the key of a model's provider. */
const KEY_HEADERS = ["x-api-key", "authorization"];

/** A header in each line, with a stand-in for each value. */
function hiddenHeaders(lines: string, relay: KeyRelay): string {
  return lines.replace(HEADER, (_line, name: string, separator: string, key: string) => {
    return name + separator + relay.standIn(key, [name]);
  });
}

const HEADER = /^([^:\n]+?)([^\S\n]*:[^\S\n]*)(\S[^\n]*)$/gm;
