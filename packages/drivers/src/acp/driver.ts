import {
  type Clock,
  type Driver,
  type DriverSession,
  type SessionSpec,
  SYSTEM_CLOCK,
  type UsageReports,
} from "@flint/core/ports";
import type { ConfigOption, ConfigValues, Model } from "@flint/protocol";
import { type AgentOptions, isFree } from "../shared/agent.ts";
import { DescribedDriver } from "../shared/driver.ts";
import { OfflineFolder } from "../shared/folders/offline-folder.ts";
import { asOptions, DEFAULT_MODEL, modelsOf, presetSelectors, type Selectors } from "./models.ts";
import type { AcpProfile } from "./profile.ts";

/** Options of an ACP agent: its profile and its program. */
export interface AcpOptions extends AgentOptions {
  readonly profile: AcpProfile;
}

/** Any agent that speaks the Agent Client Protocol. Its models and modes are known once it has run. */
export class AcpDriver extends DescribedDriver implements Driver {
  readonly #options: AcpOptions;
  readonly #clock: Clock;
  readonly #offlineFolder: OfflineFolder;
  #selectors: Selectors;

  constructor(options: AcpOptions, clock: Clock = SYSTEM_CLOCK) {
    const { profile, stateFolder } = options;
    super(profile);
    this.#options = options;
    this.#clock = clock;
    this.#offlineFolder = new OfflineFolder(stateFolder, profile.id);
    this.#selectors = presetSelectors(profile);
  }

  async models(): Promise<readonly Model[]> {
    return modelsOf(this.#options.profile, this.#selectors);
  }

  async defaultModel(): Promise<string> {
    return `${this.id}/${DEFAULT_MODEL}`;
  }

  async options(_model: string, values: ConfigValues): Promise<readonly ConfigOption[]> {
    return asOptions(this.#selectors, values);
  }

  /** A configured price gives the cost of an agent that reports its tokens; a model that is free has none in any case. */
  override async usageReports(model: string): Promise<UsageReports> {
    const { prices, offlineModel } = this.#options;
    const reports = await super.usageReports(model);
    const price = prices?.configured(model);
    if (offlineModel !== undefined || (price !== undefined && isFree(price)))
      return { ...reports, costUsd: "free" };
    return price === undefined || reports.tokens === "never"
      ? reports
      : { ...reports, costUsd: reports.tokens };
  }

  async open(spec: SessionSpec): Promise<DriverSession> {
    const { AcpSession } = await import("./session.ts");
    const options = {
      ...this.#options,
      clock: this.#clock,
      offlineFolder: () => this.#offlineFolder.path(),
    };
    const learned = (selectors: Selectors) => {
      this.#selectors = selectors;
    };
    return AcpSession.open({ spec, options, selectorsChanged: learned });
  }

  close(): Promise<void> {
    return this.#offlineFolder.remove();
  }
}
