import {
  type ApprovalPolicy,
  type ConfigOption,
  type ConfigValues,
  FlintError,
  type SandboxPolicy,
  type SandboxPolicyInput,
  sandboxPolicyOf,
  type ThreadSettings,
} from "@flint/protocol";
import { Catalogue } from "./catalogue.ts";
import type { Clock, Driver, LaunchResult, LaunchSpec, Rules, Sandbox, Store } from "./ports/index.ts";
import { SerialQueue } from "./serial-queue.ts";
import { ThreadRegistry } from "./thread-registry.ts";

/** All that an engine is made of. */
export interface EngineOptions {
  readonly version: string;
  readonly store: Store;
  readonly ephemeralStore: Store;
  readonly drivers: readonly Driver[];
  readonly sandbox: Sandbox;
  readonly rules: Rules;
  readonly clock: Clock;
  /** What new threads start with. */
  readonly cwd: string;
  readonly model: string | undefined;
  readonly approvalPolicy: ApprovalPolicy;
  readonly sandboxPolicy: SandboxPolicy;
  /** Whether a client may choose to be asked nothing and to confine nothing at the same time. */
  readonly allowUnconfined: boolean;
  readonly approvalTimeoutMs: number;
  readonly idleMs: number;
  /** What a completed turn has survived, in words for `config/read`. */
  readonly durability: string;
  /** Whether a path is a folder that can be worked in. */
  isFolder(path: string): Promise<boolean>;
}

/** What a client may change about a thread. */
export interface Overrides {
  readonly model?: string | undefined;
  readonly cwd?: string | undefined;
  readonly approvalPolicy?: ApprovalPolicy | undefined;
  readonly sandbox?: SandboxPolicyInput | undefined;
  readonly config?: ConfigValues | undefined;
  readonly developerInstructions?: string | undefined;
}

/** The parts of a server that the handlers share. */
export class Services {
  readonly options: EngineOptions;
  readonly catalogue: Catalogue;
  readonly registry: ThreadRegistry;
  readonly #stopping = new AbortController();
  readonly #launches = new Set<Promise<unknown>>();
  /** One default is set after the other, or the later one would undo the earlier. */
  readonly #defaultChanges = new SerialQueue();
  /** The selector values of new threads. */
  #configDefaults: ConfigValues = {};

  constructor(options: EngineOptions) {
    this.options = options;
    this.catalogue = new Catalogue(options.drivers);
    const { catalogue } = this;
    this.registry = new ThreadRegistry({ ...options, catalogue });
  }

  /** What a new thread starts with. */
  async defaultSettings(): Promise<ThreadSettings> {
    const { cwd, approvalPolicy, sandboxPolicy } = this.options;
    const model = this.options.model ?? (await this.catalogue.defaultModel());
    const { id } = await this.catalogue.choose(model);
    const config = await this.catalogue.keepOffered(id, this.#configDefaults);
    return { model: id, cwd, approvalPolicy, sandboxPolicy, config };
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
    this.#refuseUnconfined(next);
    return next;
  }

  /** Whoever starts the server decides about this, not whoever is connected to it. */
  #refuseUnconfined({ approvalPolicy, sandboxPolicy }: ThreadSettings): void {
    if (this.options.allowUnconfined) return;
    if (approvalPolicy !== "never" || sandboxPolicy.type !== "dangerFullAccess") return;
    const message =
      'With the approval policy "never" and the sandbox "dangerFullAccess" an agent could do anything unasked. Choose one of them, or start Flint with --allow-unconfined.';
    throw new FlintError("invalidParams", message, { field: "approvalPolicy" });
  }

  /** Sets a selector for new threads. */
  setDefault(id: string, value: string): Promise<readonly ConfigOption[]> {
    return this.#defaultChanges.run(async () => {
      const { model, config } = await this.defaultSettings();
      this.#configDefaults = await this.catalogue.withValues(model, config, { [id]: value });
      return this.catalogue.options(model, this.#configDefaults);
    });
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
  }

  async #folder(path: string): Promise<string> {
    if (await this.options.isFolder(path)) return path;
    throw new FlintError("invalidParams", `The folder ${path} does not exist or is not a folder.`, {
      field: "cwd",
    });
  }
}
