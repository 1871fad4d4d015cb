import type { ClientTool, EventBody, PublishedEvent } from "@flint/protocol";
import { MemoryLimitStore, UsageLimits } from "./account/usage-limits.ts";
import { SerialQueue } from "./async.ts";
import type {
  Checkpoints,
  Clock,
  Driver,
  LaunchResult,
  LaunchSpec,
  LimitStore,
  McpServerConfig,
  PolicyRules,
  Rules,
  Sandbox,
  Store,
  Tasks,
} from "./ports/index.ts";
import { mcpServerSecrets, Redactor } from "./redact/index.ts";
import { Catalogue } from "./settings/catalogue.ts";
import { type SettingsOptions, SettingsResolver } from "./settings/settings-resolver.ts";
import { Announcements } from "./thread/announcements.ts";
import type { LiveThread } from "./thread/live-thread.ts";
import { ThreadRegistry } from "./thread/registry.ts";
import { StartedThreads } from "./thread/started-threads.ts";

/** Everything that an engine is made of, with the defaults of its threads. */
export interface EngineOptions extends SettingsOptions {
  readonly version: string;
  readonly store: Store;
  readonly ephemeralStore: Store;
  readonly drivers: readonly Driver[];
  readonly sandbox: Sandbox;
  readonly rules: Rules;
  /** Rules of a policy file, for unattended runs. */
  readonly policyRules?: PolicyRules | undefined;
  readonly clock: Clock;
  /** Keeps the usage limits of accounts. Without it they are known only to this engine. */
  readonly limitStore?: LimitStore | undefined;
  /** Saves files before turns change them. Without it files cannot be restored. */
  readonly checkpoints?: Checkpoints | undefined;
  /** The task layer, on servers that have one. */
  readonly tasks?: Tasks | undefined;
  /** The MCP servers that the user configured for all threads. */
  readonly mcpServers: readonly McpServerConfig[];
  readonly approvalTimeoutMs: number;
  /** Time for which an agent may report nothing while its model is expected to respond. */
  readonly silenceTimeoutMs?: number | undefined;
  readonly idleTimeoutMs: number;
  readonly backgroundTimeoutMs: number;
  /** Strings to keep out of logs and of everything that is sent, such as the keys of model providers. */
  readonly secrets?: readonly string[] | undefined;
  /**
   * A notice about this server for the client of the first thread, such as why it is not the one that runs
   * already.
   */
  readonly notice?: string | undefined;
  /** The durability of a completed turn, as text for `config/read`. */
  readonly durability: string;
  /** Deletes what is kept of a deleted thread beside its log and its checkpoints. */
  onThreadDeleted?(threadId: string): Promise<void>;
  /** Called after all threads were closed. */
  onClose?(): Promise<void>;
  /**
   * Returns what identifies a folder among all that were ever at the same path; undefined if there is none.
   */
  folderIdentity?(path: string): string | undefined;
}

/** The parts of a server that the handlers share. */
export class Services {
  readonly options: EngineOptions;
  readonly catalogue: Catalogue;
  readonly settings: SettingsResolver;
  readonly registry: ThreadRegistry;
  readonly redactor: Redactor;
  readonly announcements = new Announcements();
  /** The clients that follow the tasks. */
  readonly taskSubscribers = new Announcements();
  readonly usageLimits: UsageLimits;
  readonly startedThreads = new StartedThreads();
  /** Imports of agents' sessions run one after the other. */
  readonly imports = new SerialQueue();
  readonly #stopping = new AbortController();
  readonly #launches = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;
  #notice: string | undefined;

  constructor(options: EngineOptions) {
    this.options = options;
    this.#notice = options.notice;
    this.catalogue = new Catalogue(options.drivers);
    this.settings = new SettingsResolver(options, this.catalogue);
    this.redactor = new Redactor(options.secrets ?? []);
    this.usageLimits = new UsageLimits(options.clock, options.limitStore ?? new MemoryLimitStore());
    const { catalogue, redactor, announcements, usageLimits } = this;
    this.registry = new ThreadRegistry({ ...options, catalogue, redactor, announcements, usageLimits });
  }

  /** Sends an event of a task to the clients that follow the tasks. */
  publishTaskEvent(event: PublishedEvent): void {
    const at = this.options.clock.now();
    this.taskSubscribers.publish({ type: "task/event", data: { event }, at });
  }

  /** The notice about this server, for the client that opens a thread; it is given once. */
  takeNotice(threadId: string): EventBody[] {
    const message = this.#notice;
    this.#notice = undefined;
    return message === undefined ? [] : [{ type: "warning", data: { threadId, message, reason: "server" } }];
  }

  /** Reports whether the server has begun to stop. */
  get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  /**
   * Sets the MCP servers that a client provides for a thread. A running agent gets them when it next starts: at once
   * if no turn runs, else after it was stopped. Their keys are redacted from now on.
   */
  async setClientMcpServers(
    thread: LiveThread,
    servers: readonly McpServerConfig[] | undefined,
  ): Promise<void> {
    if (servers === undefined) return;
    this.redactor.learn(servers.flatMap(mcpServerSecrets));
    const isChange = this.registry.clientProvided.setMcpServers(thread.id, servers);
    if (isChange && thread.log.state.activeTurnId === undefined) await thread.closeSession();
  }

  /** Sets the tools that a client provides and runs itself, in place of earlier ones. */
  async setClientTools(thread: LiveThread, tools: readonly ClientTool[] | undefined): Promise<void> {
    if (tools === undefined) return;
    const isChange = this.registry.clientProvided.setTools(thread.id, tools);
    if (isChange && thread.log.state.activeTurnId === undefined) await thread.closeSession();
  }

  /** Runs a command outside of any thread; it is stopped when the server stops. */
  async launch(spec: Omit<LaunchSpec, "signal">): Promise<LaunchResult> {
    const launched = this.options.sandbox.launch({ ...spec, signal: this.#stopping.signal });
    this.#launches.add(launched);
    try {
      return await launched;
    } finally {
      this.#launches.delete(launched);
    }
  }

  /** Stops everything that runs, then closes the stores. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // Tasks end with the turns that they wait for.
    const tasks = this.options.tasks?.close();
    this.#stopping.abort();
    await Promise.allSettled(this.#launches);
    await this.registry.close();
    await tasks;
    await this.options.store.close();
    await this.options.ephemeralStore.close();
    await this.options.onClose?.();
    await this.options.checkpoints?.close();
  }
}
