import { access, mkdir, mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Account,
  type Clock,
  type Driver,
  type DriverSession,
  type SessionSpec,
  SYSTEM_CLOCK,
} from "@flint/core/ports";
import type { ConfigOption, ConfigValues, Model } from "@flint/protocol";
import type { ClaudeModelInfo } from "@flint/protocol/claude";
import { CLAUDE_FOLDER, placeOf } from "../shared/agent-folders.ts";
import type { AgentOptions } from "../shared/agent-options.ts";
import { notInstalled } from "../shared/descriptor.ts";
import { CLAUDE } from "./descriptor.ts";
import { modelRows, qualifiedModel, selectors } from "./models.ts";
import { LOGIN_FILE } from "./process/home.ts";

/** Claude Code: the real program, one long-lived process for each live thread. */
export class ClaudeDriver implements Driver {
  readonly id = CLAUDE.id;
  readonly asksToWrite = CLAUDE.asksToWrite;
  readonly stopsWhenIdle = CLAUDE.stopsWhenIdle;
  readonly #options: AgentOptions;
  readonly #clock: Clock;
  readonly #home: string;
  /** What Claude said about its models, once it was asked. */
  #models: readonly ClaudeModelInfo[] = [];
  /** The folder for what Claude keeps while it works on the offline model, where there is no place for it to stay. */
  #temporary: Promise<string> | undefined;

  constructor(options: AgentOptions, clock: Clock = SYSTEM_CLOCK, home: string = homedir()) {
    this.#options = options;
    this.#clock = clock;
    this.#home = home;
  }

  async models(): Promise<readonly Model[]> {
    return modelRows(this.#models);
  }

  async defaultModel(): Promise<string> {
    return "claude/default";
  }

  qualify(name: string): string | undefined {
    return qualifiedModel(name);
  }

  async options(model: string, values: ConfigValues): Promise<readonly ConfigOption[]> {
    return selectors(model, values, this.#models);
  }

  /** The process is started by the first turn. */
  async open(spec: SessionSpec): Promise<DriverSession> {
    const program = await this.#options.program();
    if (program === undefined) throw notInstalled(CLAUDE);
    const { ClaudeSession } = await import("./session.ts");
    return new ClaudeSession(spec, {
      ...{ agent: this.#options, program, clock: this.#clock, home: this.#home },
      offlineFolder: () => this.#folderForOffline(program.environment),
      welcomed: ({ models = [] }) => {
        this.#models = models;
      },
    });
  }

  /** Whether there is a login of Claude's own, or a key; never what it is. */
  async account(): Promise<Account> {
    if (this.#options.offlineModel !== undefined) return { account: null, requiresLogin: false };
    const { environment = {} } = (await this.#options.program()) ?? {};
    if (environment.ANTHROPIC_API_KEY !== undefined || environment.ANTHROPIC_AUTH_TOKEN !== undefined) {
      return { account: { type: "apiKey", label: "Anthropic" }, requiresLogin: false };
    }
    const login = join(placeOf(CLAUDE_FOLDER, environment, this.#home), LOGIN_FILE);
    const isSignedIn =
      environment.CLAUDE_CODE_OAUTH_TOKEN !== undefined ||
      (await access(login).then(
        () => true,
        () => false,
      ));
    return { account: isSignedIn ? { type: "claude", label: "Claude" } : null, requiresLogin: !isSignedIn };
  }

  /** Removes the folder that nobody keeps. */
  async close(): Promise<void> {
    const folder = await this.#temporary?.catch(() => undefined);
    if (folder !== undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }

  /** What Claude does on the offline model has nothing to do with the user's own sessions of it. */
  async #folderForOffline({ CLAUDE_CONFIG_DIR: given }: Readonly<Record<string, string>>): Promise<string> {
    if (given !== undefined) return given;
    const { stateFolder } = this.#options;
    if (stateFolder === undefined) {
      this.#temporary ??= mkdtemp(join(tmpdir(), "flint-claude-"));
      return this.#temporary;
    }
    const folder = join(stateFolder, "claude-offline");
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  }
}
