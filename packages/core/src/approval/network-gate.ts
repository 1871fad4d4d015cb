import {
  type Action,
  type AddressBlock,
  type Decision,
  type Endpoint,
  formatEndpoint,
  HostRules,
  hostRuleCovers,
  type Item,
  isKnownItem,
  type NetworkPermission,
  parseHostRule,
  parseNetworkRule,
  type ThreadItem,
  type ThreadSettings,
  type ThreadState,
} from "@flint/protocol";
import type {
  ConnectionAttempt,
  ConnectionDecision,
  FailedConnection,
  RefusedConnection,
} from "../ports/index.ts";

/** A connection of a command, and what became of it. */
export interface DecidedConnection extends Endpoint {
  readonly allowed: boolean;
  /** The reason it was refused or failed. */
  readonly reason?: string;
}

/** The parts of its thread that a gate uses. */
export interface NetworkGateOptions {
  state(): ThreadState;
  /** Host rules that nothing may connect to, whatever else allows it. */
  readonly deniedHosts: readonly string[];
  /** The file or setting of the deny rules, for messages. */
  readonly deniedBy: string;
  /** Rules of the policy file that name the private addresses of hosts. */
  readonly addressRules?: readonly string[];
  /** Requests approval for the running turn. */
  approve(action: Action): Promise<Decision>;
  /** Called when a host is allowed to a command that has ended without it. */
  onLateAnswer(command: string, connection: Endpoint): void;
  /** Notes that a connection was refused without asking. */
  noteDeclined(action: Action, reason: string): void;
}

type CommandItem = Item<"commandExecution">;

/** A question that is open, and whose connection it is about. */
interface OpenQuestion {
  readonly itemId: string | undefined;
  readonly decision: Promise<ConnectionDecision>;
}

/**
 * Decides which hosts the commands of a thread may connect to. A connection is held until the decision: by the thread's
 * settings and grants, or by the user, who is asked once per host. What is allowed once holds for the command that wanted
 * it, or for those that ran when an agent's connection could be of any of them, and never for a later one.
 */
export class NetworkGate {
  readonly #options: NetworkGateOptions;
  readonly #questions = new Map<string, OpenQuestion>();
  /** Endpoints that were declined to an agent itself, which would ask again and again. */
  readonly #declined = new Set<string>();
  /** Answers of the user about running commands, by item and endpoint. */
  readonly #answers = new Map<string, Map<string, boolean>>();
  /** Outcomes of the connections of running commands, by item and endpoint. */
  readonly #connections = new Map<string, Map<string, DecidedConnection>>();
  /** Endpoints allowed once after the command that asked had ended: for the next run of exactly that command. */
  readonly #retries = new Set<string>();
  readonly #denied = new HostRules();
  /** Connections that an agent itself did not get, by endpoint. */
  readonly #refusedToAgent = new Map<string, RefusedConnection>();

  constructor(options: NetworkGateOptions) {
    this.#options = options;
    for (const text of options.deniedHosts) {
      const rule = parseHostRule(text);
      if (rule.ok) this.#denied.deny(rule.value);
    }
  }

  /** Decides about a connection. Never rejects. */
  async decide(requested: ConnectionAttempt): Promise<ConnectionDecision> {
    const commands = commandsOf(this.#options.state(), requested.itemId);
    const decision = await this.#decide(requested, commands);
    this.#note(commands, { host: requested.host, port: requested.port, ...decision });
    return decision;
  }

  /** The private addresses that the user named for a host, in the settings of the thread or in the policy file. */
  addressesOf(endpoint: Endpoint): readonly AddressBlock[] {
    const network = networkOf(this.#options.state().settings);
    const rules = new HostRules();
    for (const text of [
      ...(typeof network === "object" ? network.hosts : []),
      ...(this.#options.addressRules ?? []),
    ]) {
      const rule = parseNetworkRule(text);
      if (rule.ok) rules.allow(rule.value);
    }
    return rules.addressesOf(endpoint);
  }

  /** Records a connection that did not come about with the command that wanted it. */
  onFailed({ itemId, ...connection }: FailedConnection): void {
    this.#note(commandsOf(this.#options.state(), itemId), connection);
  }

  /** Returns the connections that were refused to a command so far, by its item. */
  refused(itemId: string): readonly RefusedConnection[] {
    const connections = [...(this.#connections.get(itemId)?.values() ?? [])];
    return connections.flatMap(({ host, port, allowed, reason = "it is not allowed" }) =>
      allowed ? [] : [{ host, port, reason }],
    );
  }

  /** The last connections of an agent itself that were refused or failed, and not made since. */
  get refusedToAgent(): readonly RefusedConnection[] {
    return [...this.#refusedToAgent.values()];
  }

  /** Removes and returns what became of the connections of a command, by its item. */
  take(itemId: string): readonly DecidedConnection[] {
    const connections = [...(this.#connections.get(itemId)?.values() ?? [])];
    this.#connections.delete(itemId);
    this.#answers.delete(itemId);
    return connections;
  }

  async #decide(requested: ConnectionAttempt, commands: readonly CommandItem[]): Promise<ConnectionDecision> {
    const key = formatEndpoint(requested);
    for (;;) {
      const known = this.#decideBySettings(requested, commands) ?? this.#answered(commands, key);
      if (known !== undefined) return known;
      const open = this.#questions.get(key);
      if (open === undefined) break;
      const decision = await open.decision;
      // The answer about one command says nothing about another one, but may have been for the whole thread.
      if (open.itemId === requested.itemId) return decision;
    }
    const decision = this.#ask(requested, commands).finally(() => this.#questions.delete(key));
    this.#questions.set(key, { itemId: requested.itemId, decision });
    return decision;
  }

  #decideBySettings(
    requested: ConnectionAttempt,
    commands: readonly CommandItem[],
  ): ConnectionDecision | undefined {
    if (this.#denied.judge(requested) === "deny") {
      const { deniedBy } = this.#options;
      return this.#refuse(
        requested,
        commands,
        `a rule of ${deniedBy} denies connecting to ${requested.host}`,
      );
    }
    const { settings } = this.#options.state();
    const network = networkOf(settings);
    if (network === "none") return this.#refuse(requested, commands, noNetwork(settings));
    if (network === "all") return ALLOWED;
    return network?.hosts.some((rule) => hostRuleCovers(rule, requested)) === true ? ALLOWED : undefined;
  }

  /** Refuses without asking; once for each command and host is enough to know. */
  #refuse(
    requested: ConnectionAttempt,
    commands: readonly CommandItem[],
    reason: string,
  ): ConnectionDecision {
    const { state, noteDeclined } = this.#options;
    const action = connectionAction(state(), commands, requested);
    const isKnown = this.#connections.get(action?.itemId ?? "")?.has(formatEndpoint(requested)) === true;
    if (action !== undefined && !isKnown) noteDeclined(action, `Refused because ${reason}.`);
    return { allowed: false, reason };
  }

  #answered(commands: readonly CommandItem[], key: string): ConnectionDecision | undefined {
    if (commands.length === 0) return this.#declined.has(key) ? DECLINED : undefined;
    const answers = commands.map(({ id }) => this.#answers.get(id)?.get(key));
    if (answers.includes(true)) return ALLOWED;
    const retried = commands.filter((command) => this.#retries.delete(retryKey(command, key)));
    this.#remember(retried, key, true);
    if (retried.length > 0) return ALLOWED;
    return answers.every((answer) => answer === false) ? DECLINED : undefined;
  }

  async #ask(requested: ConnectionAttempt, commands: readonly CommandItem[]): Promise<ConnectionDecision> {
    const state = this.#options.state();
    const key = formatEndpoint(requested);
    const action = connectionAction(state, commands, requested);
    if (action === undefined) return NO_TURN;
    const { outcome, scope } = await this.#options.approve(action);
    const allowed = outcome === "allow";
    const { openItemIds } = this.#options.state();
    const running = commands.filter(({ id }) => openItemIds.includes(id));
    this.#remember(running, key, allowed);
    const late = allowed ? commands.filter((command) => !running.includes(command)) : [];
    for (const command of late) {
      if (scope === "once") this.#retries.add(retryKey(command, key));
      this.#options.onLateAnswer(command.command, requested);
    }
    if (allowed) return ALLOWED;
    if (commands.length === 0) this.#declined.add(key);
    return state.settings.approvalPolicy === "never" ? unlisted(key) : DECLINED;
  }

  #remember(commands: readonly CommandItem[], key: string, answer: boolean): void {
    for (const { id } of commands) mapIn(this.#answers, id).set(key, answer);
  }

  #note(commands: readonly CommandItem[], connection: DecidedConnection): void {
    const key = formatEndpoint(connection);
    for (const { id } of commands) mapIn(this.#connections, id).set(key, connection);
    if (commands.length === 0) this.#noteOfAgent(key, connection);
  }

  #noteOfAgent(key: string, { host, port, reason }: DecidedConnection): void {
    this.#refusedToAgent.delete(key);
    if (reason !== undefined) this.#refusedToAgent.set(key, { host, port, reason });
    const [oldest] = this.#refusedToAgent.keys();
    if (oldest !== undefined && this.#refusedToAgent.size > MOST_NAMED) this.#refusedToAgent.delete(oldest);
  }
}

/** The number of an agent's refused connections that an error names. */
const MOST_NAMED = 3;

const ALLOWED: ConnectionDecision = { allowed: true };
const DECLINED: ConnectionDecision = { allowed: false, reason: "it was declined" };
const NO_TURN: ConnectionDecision = {
  allowed: false,
  reason: "no turn is running, so no one can approve it",
};

function unlisted(key: string): ConnectionDecision {
  const reason = `approvals are off, and it is not on the list of allowed hosts (--network ${key})`;
  return { allowed: false, reason };
}

/** The reason nothing can be connected to. */
export const NO_NETWORK =
  "The network is off in this thread. Allow hosts with --network HOST; a read-only sandbox needs a list of hosts.";

/** The network of a thread: what its settings name, or what its sandbox policy says. Undefined: the user is asked. */
export function networkOf({ network, sandboxPolicy }: ThreadSettings): NetworkPermission | undefined {
  if (sandboxPolicy.type === "workspaceWrite" && sandboxPolicy.networkAccess === true) return "all";
  // A thread that only reads does not ask.
  return network ?? (sandboxPolicy.type === "readOnly" ? "none" : undefined);
}

function noNetwork({ network }: ThreadSettings): string {
  const why = network === "none" ? "--network none" : "--sandbox read-only without --network";
  return `the thread has no network (${why}); allow hosts with --network HOST`;
}

function mapIn<Value>(maps: Map<string, Map<string, Value>>, id: string): Map<string, Value> {
  const found = maps.get(id) ?? new Map<string, Value>();
  maps.set(id, found);
  return found;
}

/** Exactly this command line in this folder, and this endpoint. */
function retryKey({ command, cwd }: CommandItem, key: string): string {
  return JSON.stringify([command, cwd, key]);
}

function openItems(state: ThreadState): ThreadItem[] {
  const turn = state.turns.find(({ id }) => id === state.activeTurnId);
  return turn?.items.filter(({ id }) => state.openItemIds.includes(id)) ?? [];
}

/** The command of an item, also one that runs on in the background; without an item, all that run now. */
function commandsOf(state: ThreadState, itemId: string | undefined): CommandItem[] {
  const all = itemId === undefined ? openItems(state) : state.turns.flatMap(({ items }) => items);
  const commands = all.flatMap((item) =>
    isKnownItem(item) && item.type === "commandExecution" ? [item] : [],
  );
  return itemId === undefined ? commands : commands.filter(({ id }) => id === itemId);
}

/** The request of the commands that may be connecting, or else of the agent itself; undefined if no turn is running. */
function connectionAction(
  state: ThreadState,
  [command, ...others]: readonly CommandItem[],
  { host, port }: Endpoint,
): Action | undefined {
  const needs = { network: { hosts: [formatEndpoint({ host, port })] } };
  if (command !== undefined) {
    const also = others.map((other) => other.command).join("; ");
    const reason = also === "" ? {} : { reason: `It may also come from: ${also}.` };
    const { id: itemId, cwd } = command;
    return { kind: "command", itemId, command: command.command, cwd, running: true, needs, ...reason };
  }
  const turn = state.turns.find(({ id }) => id === state.activeTurnId);
  const open = openItems(state);
  const item = open.at(-1) ?? turn?.items.at(-1);
  if (item === undefined) return undefined;
  const own = open.every(isText) ? { forItself: true } : {};
  return { kind: "tool", itemId: item.id, tool: "network", arguments: { host, port }, needs, ...own };
}

/** Reports whether an item is only text: no action of an agent waits in it. */
function isText(item: ThreadItem): boolean {
  return isKnownItem(item) && TEXT_ITEMS.has(item.type);
}

const TEXT_ITEMS: ReadonlySet<string> = new Set([
  ...["userMessage", "agentMessage", "subAgentMessage", "reasoning", "plan"],
  ...["enteredReviewMode", "exitedReviewMode"],
]);
