import {
  type Action,
  type Decision,
  type Endpoint,
  formatEndpoint,
  hostRuleCovers,
  isKnownItem,
  type NetworkPermission,
  type ThreadItem,
  type ThreadSettings,
  type ThreadState,
} from "@flint/protocol";

/** A connection that was decided about, and how. */
export interface DecidedConnection extends Endpoint {
  readonly allowed: boolean;
}

/** What a gate needs of its thread. */
export interface NetworkGateOptions {
  state(): ThreadState;
  /** Requests approval for the running turn. */
  approve(action: Action): Promise<Decision>;
}

/**
 * Decides which hosts the commands of a thread may connect to. A connection is held until the decision: by the thread's
 * settings and grants, or by the user, who is asked once per host. What is allowed once holds for the commands that run.
 */
export class NetworkGate {
  readonly #options: NetworkGateOptions;
  readonly #asking = new Map<string, Promise<boolean>>();
  /** What an agent itself may not connect to: it would ask again and again. */
  readonly #declined = new Set<string>();
  /** What was decided while a command ran, by its item. */
  readonly #decided = new Map<string, Map<string, DecidedConnection>>();

  constructor(options: NetworkGateOptions) {
    this.#options = options;
  }

  /** Decides about a connection. Never rejects. */
  async decide(connection: Endpoint): Promise<boolean> {
    const { settings } = this.#options.state();
    const allowed = decidedBySettings(settings, connection) ?? (await this.#decideOnce(connection));
    for (const { id } of openCommands(this.#options.state())) this.#note(id, { ...connection, allowed });
    return allowed;
  }

  /** Removes and returns what was decided while the command of this item ran. */
  take(itemId: string): readonly DecidedConnection[] {
    const decided = [...(this.#decided.get(itemId)?.values() ?? [])];
    this.#decided.delete(itemId);
    return decided;
  }

  #decideOnce(connection: Endpoint): Promise<boolean> {
    const key = formatEndpoint(connection);
    const isAllowed = openCommands(this.#options.state()).some(
      ({ id }) => this.#decided.get(id)?.get(key)?.allowed === true,
    );
    if (isAllowed) return Promise.resolve(true);
    const asking = this.#asking.get(key) ?? this.#ask(connection).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }

  async #ask(connection: Endpoint): Promise<boolean> {
    const action = connectionAction(this.#options.state(), connection);
    const key = formatEndpoint(connection);
    if (action === undefined || (action.kind === "tool" && this.#declined.has(key))) return false;
    const { outcome } = await this.#options.approve(action);
    if (outcome !== "allow" && action.kind === "tool") this.#declined.add(key);
    return outcome === "allow";
  }

  #note(itemId: string, connection: DecidedConnection): void {
    const decided = this.#decided.get(itemId) ?? new Map<string, DecidedConnection>();
    decided.set(formatEndpoint(connection), connection);
    this.#decided.set(itemId, decided);
  }
}

/** The network of a thread: what its settings name, or what its sandbox policy says. Undefined: the user is asked. */
export function networkOf({ network, sandboxPolicy }: ThreadSettings): NetworkPermission | undefined {
  if (sandboxPolicy.type === "workspaceWrite" && sandboxPolicy.networkAccess === true) return "all";
  // A thread that only reads does not ask.
  return network ?? (sandboxPolicy.type === "readOnly" ? "none" : undefined);
}

function decidedBySettings(settings: ThreadSettings, connection: Endpoint): boolean | undefined {
  const network = networkOf(settings);
  if (network === "none") return false;
  if (network === "all") return true;
  return network?.hosts.some((rule) => hostRuleCovers(rule, connection)) === true ? true : undefined;
}

function openItems(state: ThreadState): ThreadItem[] {
  const turn = state.turns.find(({ id }) => id === state.activeTurnId);
  return turn?.items.filter(({ id }) => state.openItemIds.includes(id)) ?? [];
}

function openCommands(state: ThreadState) {
  return openItems(state).flatMap((item) =>
    isKnownItem(item) && item.type === "commandExecution" ? [item] : [],
  );
}

/** The request of the commands that run now, or else of the agent itself; undefined if no turn is running. */
function connectionAction(state: ThreadState, connection: Endpoint): Action | undefined {
  const needs = { network: { hosts: [formatEndpoint(connection)] } };
  const commands = openCommands(state);
  const [command] = commands;
  if (command !== undefined) {
    const others = commands.slice(1).map((other) => other.command);
    const reason = others.length === 0 ? {} : { reason: `It may also come from: ${others.join("; ")}.` };
    const { id: itemId, cwd } = command;
    return { kind: "command", itemId, command: command.command, cwd, running: true, needs, ...reason };
  }
  const turn = state.turns.find(({ id }) => id === state.activeTurnId);
  const item = openItems(state).at(-1) ?? turn?.items.at(-1);
  if (item === undefined) return undefined;
  return { kind: "tool", itemId: item.id, tool: "network", arguments: { ...connection }, needs };
}
