import type {
  Account,
  AccountControl,
  AgentCapabilities,
  Driver,
  DriverSession,
  McpServerStatus,
  NativeSessions,
  PassedSetting,
  SessionSpec,
  SetupProblem,
  Steering,
  UsageReports,
} from "@flint/core/ports";
import type {
  AgentFeature,
  ConfigOption,
  ConfigValues,
  FolderSkills,
  Model,
  ReportedLimit,
} from "@flint/protocol";
import { type AgentDescriptor, type AgentOptions, notInstalled } from "./agent.ts";
import { TerminalAccount } from "./fixed-account.ts";

/** Loads the code of a driver and makes one. */
export type LoadDriver = (options: AgentOptions) => Promise<Driver>;

/** A driver as far as the descriptor of its agent determines it. */
export abstract class DescribedDriver {
  readonly id: string;
  readonly kind: string | undefined;
  readonly displayName: string;
  readonly projectFiles: readonly string[];
  readonly asksToWrite: boolean;
  readonly stopsWhenIdle: boolean;
  readonly #provider: string;
  readonly #capabilities: AgentCapabilities;
  readonly #passedSettings: readonly PassedSetting[];
  readonly #usageReports: UsageReports;

  constructor(descriptor: AgentDescriptor) {
    const { id, displayName, project, asksToWrite, stopsWhenIdle, usageReports, passedSettings } = descriptor;
    this.id = id;
    this.kind = descriptor.kind;
    this.displayName = displayName;
    this.projectFiles = project.files;
    this.#usageReports = usageReports;
    this.asksToWrite = asksToWrite;
    this.stopsWhenIdle = stopsWhenIdle;
    this.#provider = descriptor.provider;
    this.#capabilities = descriptor.capabilities;
    this.#passedSettings = passedSettings;
  }

  async usageReports(_model: string): Promise<UsageReports> {
    return this.#usageReports;
  }

  provider(_model: string): string {
    return this.#provider;
  }

  capabilities(_model: string): AgentCapabilities {
    return this.#capabilities;
  }

  passedSettings(_model: string): readonly PassedSetting[] {
    return this.#passedSettings;
  }

  /** Accepts every name with its own id in front: only the agent knows its models, and the turn fails if it has no such one. */
  qualify(name: string): string | undefined {
    return name.startsWith(`${this.id}/`) && name.length > this.id.length + 1 ? name : undefined;
  }
}

/**
 * The driver of any agent, from its descriptor. The real driver is loaded when it is first needed. An agent that is not
 * installed offers no models, so that it is never chosen by accident; a thread that names it fails with the way to get it.
 */
export class LazyDriver extends DescribedDriver implements Driver {
  readonly #descriptor: AgentDescriptor;
  readonly #options: AgentOptions;
  readonly #load: LoadDriver;
  #loaded: Promise<Driver> | undefined;

  constructor(descriptor: AgentDescriptor, options: AgentOptions, load: LoadDriver) {
    super(descriptor);
    this.#descriptor = descriptor;
    this.#options = options;
    this.#load = load;
  }

  async models(): Promise<readonly Model[]> {
    if ((await this.#options.program()) === undefined) return [];
    return (await this.#driver()).models();
  }

  async defaultModel(): Promise<string> {
    if (this.#options.model !== undefined) return this.#options.model;
    const driver = await this.#driver();
    const known = await driver.defaultModel?.();
    if (known !== undefined) return known;
    const models = await driver.models();
    return (models.find((model) => model.isDefault) ?? models[0])?.id ?? `${this.id}/default`;
  }

  /** Reports whether the agent is installed and known to have credentials. */
  async isPreferred(): Promise<boolean> {
    if ((await this.#options.hasAccess?.()) !== true) return false;
    return (await this.#options.program()) !== undefined;
  }

  async setupProblem(cwd: string): Promise<SetupProblem | undefined> {
    const { program, leftOut, hasAccess, offlineModel } = this.#options;
    const { displayName, login, credentials } = this.#descriptor;
    if ((await program(cwd)) === undefined)
      return { kind: "missing", message: notInstalled(this.#descriptor, await leftOut?.(cwd)).message };
    const isKnown = credentials.variables.length + credentials.files.length > 0;
    if (login === undefined || !isKnown || offlineModel !== undefined || (await hasAccess?.()) !== false)
      return undefined;
    return { kind: "login", message: `No login of ${displayName} was found. Log in with ${login.hint}.` };
  }

  async options(model: string, values: ConfigValues): Promise<readonly ConfigOption[]> {
    return (await this.#driver()).options(model, values);
  }

  async open(spec: SessionSpec): Promise<DriverSession> {
    return (await this.#driver()).open(spec);
  }

  override async usageReports(model: string): Promise<UsageReports> {
    return (await (await this.#driver()).usageReports?.(model)) ?? super.usageReports(model);
  }

  async account(): Promise<Account> {
    const account = await (await this.#driver()).account?.();
    return account ?? { account: null, requiresLogin: false };
  }

  /** Also of an agent that is not installed: it is then said how to install it. */
  async accountControl(): Promise<AccountControl> {
    return (await (await this.#driver()).accountControl?.()) ?? new TerminalAccount(this.#descriptor);
  }

  async features(): Promise<readonly AgentFeature[]> {
    return (await (await this.#driver()).features?.()) ?? [];
  }

  async skills(cwd: string, steering: Steering): Promise<FolderSkills> {
    return (await (await this.#driver()).skills?.(cwd, steering)) ?? { cwd, skills: [], errors: [] };
  }

  /** Those of a driver that is in use; loads nothing. */
  async limits(): Promise<readonly ReportedLimit[]> {
    return (await (await this.#loaded)?.limits?.()) ?? [];
  }

  async mcpServers(): Promise<readonly McpServerStatus[]> {
    return (await (await this.#driver()).mcpServers?.()) ?? [];
  }

  async nativeSessions(): Promise<NativeSessions | undefined> {
    return (await this.#driver()).nativeSessions?.();
  }

  /** Closes the driver if it was ever loaded. */
  async close(): Promise<void> {
    const driver = await this.#loaded?.catch(() => undefined);
    await driver?.close?.();
  }

  #driver(): Promise<Driver> {
    this.#loaded ??= this.#load(this.#options);
    return this.#loaded;
  }
}
