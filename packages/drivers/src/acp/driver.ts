import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Clock,
  type Driver,
  type DriverSession,
  type SessionSpec,
  SYSTEM_CLOCK,
} from "@flint/core/ports";
import type { ConfigOption, ConfigValues, Model } from "@flint/protocol";
import type { AgentOptions } from "../shared/agent-options.ts";
import { asOptions, modelsOf, OWN_CHOICE, presetSelectors, type Selectors } from "./models.ts";
import type { AcpProfile } from "./profiles.ts";

/** Which agent it is, and where it is. */
export interface AcpOptions extends AgentOptions {
  readonly profile: AcpProfile;
}

/** Any agent that speaks the Agent Client Protocol. What it offers is known once it ran for the first time. */
export class AcpDriver implements Driver {
  readonly id: string;
  readonly asksToWrite: boolean;
  readonly stopsWhenIdle: boolean;
  readonly #options: AcpOptions;
  readonly #clock: Clock;
  #offlineFolder: Promise<string> | undefined;
  #selectors: Selectors;

  constructor(options: AcpOptions, clock: Clock = SYSTEM_CLOCK) {
    this.#clock = clock;
    const { profile } = options;
    this.id = profile.id;
    this.asksToWrite = profile.asksToWrite;
    this.stopsWhenIdle = profile.stopsWhenIdle;
    this.#options = options;
    this.#selectors = presetSelectors(profile);
  }

  async models(): Promise<readonly Model[]> {
    return modelsOf(this.#options.profile, this.#selectors);
  }

  async defaultModel(): Promise<string> {
    return `${this.id}/${OWN_CHOICE}`;
  }

  /** Only the agent knows its models, so every name with its own in front is taken; the turn tells if it has it. */
  qualify(name: string): string | undefined {
    if (name === this.id) return `${this.id}/${OWN_CHOICE}`;
    return name.startsWith(`${this.id}/`) && name.length > this.id.length + 1 ? name : undefined;
  }

  async options(_model: string, values: ConfigValues): Promise<readonly ConfigOption[]> {
    return asOptions(this.#selectors, values);
  }

  async open(spec: SessionSpec): Promise<DriverSession> {
    const [{ AcpSession }, { loadUnifiedDiff }, { ofWholeFiles }] = await Promise.all([
      import("./session.ts"),
      import("@flint/host/files"),
      import("./translate/fragments.ts"),
    ]);
    const learned = (selectors: Selectors) => {
      this.#selectors = selectors;
    };
    const offlineFolder = () => this.#folderForOffline();
    const options = { ...this.#options, clock: this.#clock, offlineFolder };
    const told = await loadUnifiedDiff();
    const diff = options.profile.tellsFragments ? ofWholeFiles(told, spec.settings.cwd) : told;
    return AcpSession.open({ spec, options, diff, learned });
  }

  /** What the agent keeps while it works offline must not mix with what it keeps otherwise. */
  #folderForOffline(): Promise<string> {
    this.#offlineFolder ??= this.#makeFolder();
    return this.#offlineFolder;
  }

  async #makeFolder(): Promise<string> {
    const { stateFolder } = this.#options;
    if (stateFolder === undefined) return mkdtemp(join(tmpdir(), "flint-agent-"));
    const folder = join(stateFolder, this.id);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  }
}
