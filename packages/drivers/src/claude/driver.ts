import { access } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  type Account,
  type AccountControl,
  type Clock,
  type Driver,
  type DriverSession,
  type NativeSessions,
  type SessionSpec,
  SYSTEM_CLOCK,
  type UsageReports,
} from "@flint/core/ports";
import type { ConfigOption, ConfigValues, Model } from "@flint/protocol";
import type { ClaudeModelInfo } from "@flint/protocol/claude";
import { type AgentOptions, agentEnvironment, requireProgram } from "../shared/agent.ts";
import { DescribedDriver } from "../shared/driver.ts";
import { CLAUDE_FOLDER } from "../shared/folders/agent-folders.ts";
import { folderPath } from "../shared/folders/agent-paths.ts";
import { CLAUDE_LOGIN } from "../shared/folders/login-files.ts";
import { OfflineFolder } from "../shared/folders/offline-folder.ts";
import { CLAUDE } from "./descriptor.ts";
import { claudeModel, claudePrice, isAlias, modelRows, qualifiedModel, selectors } from "./models.ts";

/** Claude Code: the real program, one long-lived process for each live thread. */
export class ClaudeDriver extends DescribedDriver implements Driver {
  readonly #options: AgentOptions;
  readonly #clock: Clock;
  readonly #home: string;
  readonly #offlineFolder: OfflineFolder;
  /** The models that Claude reported when it was last started. */
  #models: readonly ClaudeModelInfo[] = [];

  constructor(options: AgentOptions, clock: Clock = SYSTEM_CLOCK, home: string = homedir()) {
    super(CLAUDE);
    this.#options = options;
    this.#clock = clock;
    this.#home = home;
    this.#offlineFolder = new OfflineFolder(options.stateFolder, "claude-offline");
  }

  async models(): Promise<readonly Model[]> {
    return modelRows(this.#models);
  }

  async defaultModel(): Promise<string> {
    return "claude/default";
  }

  override qualify(name: string): string | undefined {
    return qualifiedModel(name);
  }

  async options(model: string, values: ConfigValues): Promise<readonly ConfigOption[]> {
    return selectors(model, values, this.#models);
  }

  /** Claude reports its cost when a turn ends; a price gives it call by call. Which model an alias means changes. */
  override async usageReports(model: string): Promise<UsageReports> {
    const name = claudeModel(model);
    const { prices, offlineModel } = this.#options;
    const isPriced = (known: string) =>
      isAlias(known) || (prices !== undefined && claudePrice(prices, known) !== undefined);
    const isKnown = offlineModel === undefined && (name === undefined || isPriced(name));
    return isKnown ? { ...CLAUDE.usageReports, costUsd: "call" } : CLAUDE.usageReports;
  }

  /** The process is started by the first turn. */
  async open(spec: SessionSpec): Promise<DriverSession> {
    const program = await requireProgram(this.#options, CLAUDE, spec.settings.cwd);
    const { ClaudeSession } = await import("./session.ts");
    return new ClaudeSession(spec, {
      ...{ agent: this.#options, program, clock: this.#clock, home: this.#home },
      offlineFolder: async () => program.environment.CLAUDE_CONFIG_DIR ?? this.#offlineFolder.path(),
      initialized: ({ models = [] }) => {
        this.#models = models;
      },
    });
  }

  /** Returns the login or the kind of key that Claude has; never reads either. */
  async account(): Promise<Account> {
    if (this.#options.offlineModel !== undefined) return { account: null, requiresLogin: false };
    const { environment = {} } = (await this.#options.program()) ?? {};
    if (environment.ANTHROPIC_API_KEY !== undefined || environment.ANTHROPIC_AUTH_TOKEN !== undefined) {
      return { account: { type: "apiKey", label: "Anthropic" }, requiresLogin: false };
    }
    const login = join(folderPath(CLAUDE_FOLDER, environment, this.#home), CLAUDE_LOGIN.name);
    const isSignedIn =
      environment.CLAUDE_CODE_OAUTH_TOKEN !== undefined ||
      (await access(login).then(
        () => true,
        () => false,
      ));
    return { account: isSignedIn ? { type: "claude", label: "Claude" } : null, requiresLogin: !isSignedIn };
  }

  async accountControl(): Promise<AccountControl | undefined> {
    const program = await requireProgram(this.#options, CLAUDE);
    const { sandbox } = this.#options;
    if (sandbox === undefined) return undefined;
    const { ClaudeAccountControl } = await import("./account-control.ts");
    return new ClaudeAccountControl(program, sandbox);
  }

  async nativeSessions(): Promise<NativeSessions> {
    const environment = await agentEnvironment(this.#options);
    const isOffline = this.#options.offlineModel !== undefined && environment.CLAUDE_CONFIG_DIR === undefined;
    const folder = isOffline
      ? await this.#offlineFolder.path()
      : folderPath(CLAUDE_FOLDER, environment, this.#home);
    const { claudeSessions } = await import("./import/sessions.ts");
    return claudeSessions(folder);
  }

  close(): Promise<void> {
    return this.#offlineFolder.remove();
  }
}
