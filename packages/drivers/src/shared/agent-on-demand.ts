import type { Account, Driver, DriverSession, McpServerStatus, SessionSpec } from "@flint/core/ports";
import type { ConfigOption, ConfigValues, Model } from "@flint/protocol";
import type { AgentOptions } from "./agent-options.ts";
import { isReady } from "./ready.ts";

/** How an agent is named, where it is, and how its driver is loaded. */
export interface AgentOnDemandOptions {
  readonly id: string;
  readonly options: AgentOptions;
  readonly asksToWrite: boolean;
  load(): Promise<Driver>;
}

/**
 * The driver of a foreign agent, loaded when it is first needed. An agent that is not on this machine offers no models,
 * so that nobody chooses it by accident; whoever names it is told how to get it.
 */
export class AgentOnDemand implements Driver {
  readonly id: string;
  readonly asksToWrite: boolean;
  readonly #options: AgentOptions;
  readonly #load: () => Promise<Driver>;
  #loaded: Promise<Driver> | undefined;
  #driverInUse: Driver | undefined;

  constructor({ id, options, asksToWrite, load }: AgentOnDemandOptions) {
    this.id = id;
    this.asksToWrite = asksToWrite;
    this.#options = options;
    this.#load = load;
  }

  /** Only the driver itself knows whether its sessions can be resumed; before it is loaded it has none to stop. */
  get stopsWhenIdle(): boolean {
    return this.#driverInUse?.stopsWhenIdle === true;
  }

  async models(): Promise<readonly Model[]> {
    if ((await this.#options.program()) === undefined) return [];
    return (await this.#driver()).models();
  }

  async defaultModel(): Promise<string> {
    const driver = await this.#driver();
    const soon = await driver.defaultModel?.();
    if (soon !== undefined) return soon;
    const models = await driver.models();
    return (models.find((model) => model.isDefault) ?? models[0])?.id ?? `${this.id}/default`;
  }

  /** Only the agent knows its models, so every name with its own in front is taken; the turn tells if it has it. */
  qualify(name: string): string | undefined {
    return name.startsWith(`${this.id}/`) && name.length > this.id.length + 1 ? name : undefined;
  }

  isPreferred(): Promise<boolean> {
    return isReady(this.#options);
  }

  async options(model: string, values: ConfigValues): Promise<readonly ConfigOption[]> {
    return (await this.#driver()).options(model, values);
  }

  async open(spec: SessionSpec): Promise<DriverSession> {
    return (await this.#driver()).open(spec);
  }

  async account(): Promise<Account> {
    const account = await (await this.#driver()).account?.();
    return account ?? { account: null, requiresLogin: false };
  }

  async mcpServers(): Promise<readonly McpServerStatus[]> {
    return (await (await this.#driver()).mcpServers?.()) ?? [];
  }

  /** What was never loaded has nothing to end. */
  async close(): Promise<void> {
    const driver = await this.#loaded?.catch(() => undefined);
    await driver?.close?.();
  }

  #driver(): Promise<Driver> {
    this.#loaded ??= this.#load().then((driver) => {
      this.#driverInUse = driver;
      return driver;
    });
    return this.#loaded;
  }
}
