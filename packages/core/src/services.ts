import {
  type ApprovalPolicy,
  type Budget,
  type ClientTool,
  type ConfigOption,
  type ConfigValues,
  changedBudget,
  FlintError,
  type SandboxPolicy,
  type SandboxPolicyInput,
  sandboxPolicyOf,
  type ThreadSettings,
} from "@flint/protocol";
import { SerialQueue } from "./async/serial-queue.ts";
import type {
  Checkpoints,
  Clock,
  Driver,
  LaunchResult,
  LaunchSpec,
  McpServerConfig,
  PolicyRules,
  Rules,
  Sandbox,
  Store,
  Workspaces,
} from "./ports/index.ts";
import { Redactor } from "./redact/index.ts";
import { mcpServerSecrets } from "./redact/server-keys.ts";
import { Catalogue } from "./settings/catalogue.ts";
import { refuseUnconfined } from "./settings/unconfined.ts";
import { Announcements } from "./thread/announcements.ts";
import type { LiveThread } from "./thread/live-thread.ts";
import { ThreadRegistry } from "./thread/registry.ts";

/** All that an engine is made of. */
export interface EngineOptions {
  readonly version: string;
  readonly store: Store;
  readonly ephemeralStore: Store;
  readonly drivers: readonly Driver[];
  readonly sandbox: Sandbox;
  readonly rules: Rules;
  /** Rules for when nobody is there to answer. */
  readonly policyRules?: PolicyRules | undefined;
  readonly clock: Clock;
  /** Keeps what turns change. Without it files cannot be put back. */
  readonly checkpoints?: Checkpoints | undefined;
  /** The MCP servers that the user configured for all threads. */
  readonly mcpServers: readonly McpServerConfig[];
  /** What folders may say themselves. */
  readonly workspaces: Workspaces;
  /** What new threads start with. */
  readonly cwd: string;
  readonly model: string | undefined;
  readonly approvalPolicy: ApprovalPolicy;
  readonly sandboxPolicy: SandboxPolicy;
  readonly budget?: Budget | undefined;
  /** Whether a client may choose to be asked nothing and to confine nothing at the same time. */
  readonly allowUnconfined: boolean;
  /** The user's home folder; a writable root around it confines nothing. */
  readonly home?: string | undefined;
  readonly approvalTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly backgroundTimeoutMs: number;
  /** Texts that are kept out of the log and of everything that is told, such as the keys of model providers. */
  readonly secrets?: readonly string[] | undefined;
  /** What a completed turn has survived, in words for `config/read`. */
  readonly durability: string;
  /** Runs last when the server ends. */
  onClose?(): Promise<void>;
  /** Whether a path is a folder that can be worked in. */
  isFolder(path: string): Promise<boolean>;
  /** Where a path really leads, free of links; the path itself if nothing is there. */
  realPath(path: string): string;
}

/** What a client may change about a thread. */
export interface Overrides {
  readonly model?: string | undefined;
  readonly cwd?: string | undefined;
  readonly approvalPolicy?: ApprovalPolicy | undefined;
  readonly sandbox?: SandboxPolicyInput | undefined;
  readonly config?: ConfigValues | undefined;
  readonly developerInstructions?: string | undefined;
  readonly budget?: Budget | undefined;
}

/** What a new thread starts with, and what the user should know about it. */
export interface NewSettings {
  readonly settings: ThreadSettings;
  readonly notices: readonly string[];
}

/** The parts of a server that the handlers share. */
export class Services {
  readonly options: EngineOptions;
  readonly catalogue: Catalogue;
  readonly registry: ThreadRegistry;
  readonly redactor: Redactor;
  readonly announcements = new Announcements();
  readonly #stopping = new AbortController();
  readonly #launches = new Set<Promise<unknown>>();
  /** One default is set after the other, or the later one would undo the earlier. */
  readonly #defaultChanges = new SerialQueue();
  /** The selector values of new threads. */
  #configDefaults: ConfigValues = {};

  constructor(options: EngineOptions) {
    this.options = options;
    this.catalogue = new Catalogue(options.drivers);
    this.redactor = new Redactor(options.secrets ?? []);
    const { catalogue, redactor, announcements } = this;
    this.registry = new ThreadRegistry({ ...options, catalogue, redactor, announcements });
  }

  /** What a new thread starts with. */
  async defaultSettings(): Promise<ThreadSettings> {
    const { cwd, approvalPolicy, sandboxPolicy, budget } = this.options;
    const model = this.options.model ?? (await this.catalogue.defaultModel());
    const { id } = await this.catalogue.choose(model);
    const config = await this.catalogue.keepOffered(id, this.#configDefaults);
    const settings = { model: id, cwd, approvalPolicy, sandboxPolicy, config };
    return budget === undefined ? settings : { ...settings, budget };
  }

  /**
   * What a new thread in a folder starts with: the defaults, what the trusted files of the folder ask for, then what
   * the client wants different. The notices are for the user.
   */
  async newSettings(wanted: Overrides): Promise<NewSettings> {
    const defaults = await this.defaultSettings();
    const cwd = wanted.cwd === undefined ? defaults.cwd : await this.#folder(wanted.cwd);
    const { notices, sandboxPolicy: sandbox, ...asked } = await this.options.workspaces.configOf(cwd);
    const { model, approvalPolicy, budget } = asked;
    const here = await this.withOverrides(defaults, { model, approvalPolicy, sandbox, budget, cwd });
    return { settings: await this.withOverrides(here, wanted), notices };
  }

  /** Settings with what a client wants different. Refuses what does not exist. */
  async withOverrides(settings: ThreadSettings, wanted: Overrides): Promise<ThreadSettings> {
    const next: ThreadSettings = { ...settings };
    if (wanted.model !== undefined && wanted.model !== settings.model) {
      next.model = (await this.catalogue.choose(wanted.model)).id;
      next.config = await this.catalogue.keepOffered(next.model, settings.config);
    }
    if (wanted.cwd !== undefined) next.cwd = await this.#folder(wanted.cwd);
    if (wanted.approvalPolicy !== undefined) next.approvalPolicy = wanted.approvalPolicy;
    if (wanted.sandbox !== undefined) next.sandboxPolicy = sandboxPolicyOf(wanted.sandbox);
    if (wanted.config !== undefined) {
      next.config = await this.catalogue.withValues(next.model, next.config, wanted.config);
    }
    if (wanted.developerInstructions !== undefined) next.developerInstructions = wanted.developerInstructions;
    if (wanted.budget !== undefined) setBudget(next, wanted.budget);
    if (next.approvalPolicy === "never") refuseUnconfined(next, "thread", this.options);
    return next;
  }

  /** Where and how confined a command outside of any thread runs. Nobody is asked about it, so a thread's rule holds. */
  async commandSettings({ cwd, sandbox }: Pick<Overrides, "cwd" | "sandbox">): Promise<ThreadSettings> {
    const settings = await this.withOverrides(await this.defaultSettings(), { cwd, sandbox });
    refuseUnconfined(settings, "command", this.options);
    return settings;
  }

  /** Sets a selector for new threads. */
  setDefault(id: string, value: string): Promise<readonly ConfigOption[]> {
    return this.#defaultChanges.run(async () => {
      const { model, config } = await this.defaultSettings();
      this.#configDefaults = await this.catalogue.withValues(model, config, { [id]: value });
      return this.catalogue.options(model, this.#configDefaults);
    });
  }

  /**
   * Gives a thread the MCP servers that a client brings along. An agent that is there already knows them when it starts
   * anew: at once if it rests, else when it is next let go. What they are given as keys is told to nobody.
   */
  async setClientMcpServers(
    thread: LiveThread,
    servers: readonly McpServerConfig[] | undefined,
  ): Promise<void> {
    if (servers === undefined) return;
    this.redactor.learn(servers.flatMap(mcpServerSecrets));
    const isChange = this.registry.clientProvided.setMcpServers(thread.id, servers);
    if (isChange && thread.log.state.activeTurnId === undefined) await thread.dropSession();
  }

  /** Gives a thread the tools that a client offers and runs itself, in place of those before. */
  async setClientTools(thread: LiveThread, tools: readonly ClientTool[] | undefined): Promise<void> {
    if (tools === undefined) return;
    const isChange = this.registry.clientProvided.setTools(thread.id, tools);
    if (isChange && thread.log.state.activeTurnId === undefined) await thread.dropSession();
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

  /** Stops everything that runs, then lets go of the stores. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled(this.#launches);
    await this.registry.close();
    await this.options.store.close();
    await this.options.ephemeralStore.close();
    await this.options.onClose?.();
    await this.options.checkpoints?.close();
  }

  async #folder(path: string): Promise<string> {
    if (await this.options.isFolder(path)) return path;
    throw new FlintError("invalidParams", `The folder ${path} does not exist or is not a folder.`, {
      field: "cwd",
    });
  }
}

function setBudget(settings: ThreadSettings, wanted: Budget): void {
  const budget = changedBudget(settings.budget, wanted);
  if (budget === undefined) delete settings.budget;
  else settings.budget = budget;
}
