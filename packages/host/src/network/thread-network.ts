import { randomBytes } from "node:crypto";
import { type Clock, SYSTEM_CLOCK } from "@flint/core/ports";
import { FlintError, formatEndpoint, type HostRule, parseNetworkRule } from "@flint/protocol";
import {
  type CommandWindow,
  type ConnectionEvent,
  ConnectionLog,
  type RefusedHost,
} from "./connection-log.ts";
import { Dialer, type DialOptions } from "./dial.ts";
import {
  type AskUser,
  HostGate,
  type HostGateOptions,
  type NetworkAnswer,
  type NetworkQuestion,
} from "./host-gate.ts";
import { innerKey, type NamespaceTools, NetworkNamespace } from "./namespace.ts";
import type { NodePrograms } from "./node-programs.ts";
import { PortRelays, relayAddresses } from "./port-relays.ts";
import { FilteringProxy, type ProxyLimits } from "./proxy.ts";
import { PROXY_ADDRESS, proxyEnvironment } from "./proxy-environment.ts";

/** Options of the network of a thread. */
export interface ThreadNetworkOptions {
  readonly tools: NamespaceTools;
  readonly programs: NodePrograms;
  /** Hosts that every command of the thread may reach, as rules. */
  readonly allow?: readonly string[];
  /** Hosts that no command reaches, whatever else allows them. */
  readonly deny?: readonly string[];
  /** Asks the user about other hosts; without it they are refused. */
  readonly ask?: AskUser;
  /** The private addresses that the user named for a host. */
  readonly addressesOf?: HostGateOptions["addressesOf"];
  /** Called for each connection that is held, allowed, refused or fails. */
  readonly onEvent?: (event: ConnectionEvent) => void;
  readonly clock?: Clock;
  readonly dial?: DialOptions;
  readonly limits?: Partial<ProxyLimits>;
  readonly holdMs?: number;
}

/** A command that is about to be started. */
export interface NetworkCommand {
  /** Names the command in questions and events. */
  readonly id: string;
  /** Hosts that it alone may reach, as rules. */
  readonly hosts?: readonly string[];
  /** Hosts that it is refused without a question, as rules: what an agent requests and can do without. */
  readonly refusedHosts?: readonly string[];
  /** Its variables so far. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The means by which a command is started in the network of its thread. */
export interface CommandNetwork {
  /** Goes before bubblewrap, which must have a user namespace of its own and no `--unshare-net`. */
  readonly enter: readonly string[];
  /** Variables to add to those of the command. */
  readonly environment: Readonly<Record<string, string>>;
  /** To be called when nothing is left of the command: its token and its own grants end with it. */
  release(): void;
}

/** A namespace with what serves it. */
interface Running {
  readonly namespace: NetworkNamespace;
  readonly proxy: FilteringProxy;
  readonly relays: PortRelays;
  /** The command of each token. Another namespace does not know them. */
  readonly tokens: Map<string, string>;
  commands: number;
  isEnded: boolean;
}

/**
 * The network of a thread: one namespace that all its commands share, made when the first one needs it, from which a proxy
 * in this process is the only way out. If the proxy stops, the next command gets a new namespace.
 */
export class ThreadNetwork {
  readonly #log = new ConnectionLog();
  readonly #options: ThreadNetworkOptions;
  readonly #clock: Clock;
  readonly #gate: HostGate;
  readonly #dialer: Dialer;
  /** Ports of the user's machine that are relayed for the whole thread. */
  readonly #ports = new Set<number>();
  #running: Promise<Running> | undefined;
  #isDisposed = false;

  /** Throws `invalidParams` for a rule that is not one. */
  constructor(options: ThreadNetworkOptions) {
    const { ask, holdMs, addressesOf } = options;
    const allow = (options.allow ?? []).map(ruleOf);
    this.#options = options;
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    this.#dialer = new Dialer(options.dial);
    this.#gate = new HostGate({
      clock: this.#clock,
      allow,
      deny: (options.deny ?? []).map(ruleOf),
      ...(ask === undefined ? {} : { ask: (question) => this.#ask(ask, question) }),
      ...(holdMs === undefined ? {} : { holdMs }),
      ...(addressesOf === undefined ? {} : { addressesOf }),
      onHeld: (request) => this.#report({ at: this.#clock.now(), ...request, outcome: "held" }),
    });
    for (const port of this.#portsOf(allow)) this.#ports.add(port);
  }

  /** Rejects with `sandboxUnavailable` if the namespace cannot be created; the next command tries again. */
  async openCommand(command: NetworkCommand): Promise<CommandNetwork> {
    const { id, hosts = [], refusedHosts = [], environment } = command;
    const [rules, refused] = [hosts.map(ruleOf), refusedHosts.map(ruleOf)];
    const running = await this.#run();
    const ports = this.#portsOf(rules);
    const token = randomBytes(24).toString("base64url");
    running.commands += 1;
    this.#gate.addCommand(id, rules, refused);
    running.tokens.set(token, id);
    let isReleased = false;
    let relayed: readonly number[] = [];
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      running.tokens.delete(token);
      this.#gate.removeCommand(id);
      for (const port of relayed) running.relays.close(port);
      running.commands -= 1;
      if (running.isEnded && running.commands === 0) running.namespace.close();
    };
    // A port that is taken inside fails the command that needs it, with nothing left behind.
    try {
      await running.relays.open(ports, (addresses) => running.namespace.listen(addresses));
      relayed = ports;
      if (running.isEnded) throw ended("while the command was prepared");
      const { programs, tools } = this.#options;
      const added = proxyEnvironment({ token, programs, node: tools.node, inherited: environment });
      return { enter: running.namespace.enter, environment: added, release };
    } catch (thrown) {
      release();
      throw thrown;
    }
  }

  /** Allows a host for the rest of the thread. Rejects with `invalidParams` for a rule that is not one. */
  async allow(text: string): Promise<void> {
    const rule = ruleOf(text);
    this.#gate.allow(rule);
    const ports = this.#portsOf([rule]);
    for (const port of ports) this.#ports.add(port);
    const running = await this.#current();
    await running?.relays.open(ports, (addresses) => running.namespace.listen(addresses));
  }

  /** Returns the hosts that were refused to a command, as facts. */
  refusedTo(window: CommandWindow): RefusedHost[] {
    return this.#log.refusedTo(window);
  }

  /** Ends every connection. The namespace goes as soon as the last command is released. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    this.#gate.close();
    const running = await this.#current();
    if (running !== undefined) end(running);
  }

  /** The namespace that is in use, if one is. */
  async #current(): Promise<Running | undefined> {
    // Expected: it could not be created, which `openCommand` reported.
    const running = await this.#running?.catch(() => undefined);
    return running?.isEnded === true ? undefined : running;
  }

  async #run(): Promise<Running> {
    const known = this.#running;
    const current = await this.#current();
    if (this.#isDisposed) throw ended("with its thread");
    if (current !== undefined) return current;
    // Of several commands that find none, the first one makes it.
    if (this.#running === known) this.#running = this.#start();
    const running = await this.#running;
    if (running === undefined || running.isEnded) throw ended("while it was made");
    return running;
  }

  async #start(): Promise<Running> {
    const { tools, limits } = this.#options;
    const ports = [...this.#ports];
    const addresses = [PROXY_ADDRESS, ...ports.flatMap(relayAddresses)];
    const { namespace, listeners } = await NetworkNamespace.create(tools, this.#clock, addresses);
    const reporting = { clock: this.#clock, dialer: this.#dialer, onEvent: this.#report };
    const tokens = new Map<string, string>();
    const proxy = new FilteringProxy({
      ...reporting,
      decide: (request) => this.#gate.decide(request),
      addressesOf: (request) => this.#gate.addressesOf(request),
      commandOf: (token) => tokens.get(token),
      ...(limits === undefined ? {} : { limits }),
    });
    const relays = new PortRelays(reporting);
    const running: Running = { namespace, proxy, relays, tokens, commands: 0, isEnded: false };
    // Whatever is missing, nothing is left of a namespace that cannot be used.
    try {
      const listener = listeners.get(innerKey(PROXY_ADDRESS));
      if (listener === undefined) throw new FlintError("sandboxUnavailable", "The proxy cannot listen.");
      listener.once("close", () => end(running));
      proxy.serve(listener);
      await relays.open(ports, async () => listeners);
    } catch (thrown) {
      end(running);
      throw thrown;
    }
    if (this.#isDisposed) end(running);
    return running;
  }

  /** A port of the user's machine that is allowed while a command runs is reached like one that was allowed before. */
  async #ask(ask: AskUser, question: NetworkQuestion): Promise<NetworkAnswer> {
    const answer = await ask(question);
    const isRelayed =
      question.host === "localhost" && answer.scope === "thread" && answer.decision === "allow";
    // Expected: the port is taken inside. The proxy still leads there.
    if (isRelayed) await this.allow(formatEndpoint(question)).catch(() => undefined);
    return answer;
  }

  /** The ports of the user's machine that rules name, unless a deny rule does, too, or the proxy listens there. */
  #portsOf(rules: readonly HostRule[]): number[] {
    const named = rules.filter(({ host }) => host === "localhost").flatMap(({ port }) => port ?? []);
    const isDenied = (port: number) => this.#gate.denies({ host: "localhost", port });
    return named.filter((port) => port !== PROXY_ADDRESS.port && !isDenied(port));
  }

  readonly #report = (event: ConnectionEvent): void => {
    this.#log.record(event);
    this.#options.onEvent?.(event);
  };
}

/** Closes the way out at once; running commands are left with a namespace that leads nowhere. */
function end(running: Running): void {
  if (running.isEnded) return;
  running.isEnded = true;
  running.tokens.clear();
  running.proxy.dispose();
  running.relays.dispose();
  if (running.commands === 0) running.namespace.close();
}

function ended(when: string): FlintError {
  return new FlintError("sandboxUnavailable", `Did not run the command: its network has ended ${when}.`);
}

function ruleOf(text: string): HostRule {
  const parsed = parseNetworkRule(text);
  if (!parsed.ok) throw new FlintError("invalidParams", parsed.reason, { rule: text });
  return parsed.value;
}
