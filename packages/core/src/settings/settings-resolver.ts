import { resolve } from "node:path";
import {
  type ApprovalPolicy,
  agentOfModel,
  type Budget,
  type ConfigOption,
  type ConfigValues,
  changedBudget,
  FlintError,
  type GitMode,
  isUnconfined,
  type NetworkPermission,
  PERSONALITY,
  type ReasoningSummary,
  type SandboxPolicy,
  type SandboxPolicyInput,
  sandboxPolicyOf,
  type ThreadSettings,
  type ThreadTask,
} from "@flint/protocol";
import { SerialQueue } from "../async.ts";
import type { Workspaces } from "../ports/index.ts";
import { type AgentPermissions, narrowedTo, withPermissions } from "./agent-permissions.ts";
import type { Catalogue } from "./catalogue.ts";
import { rejectBeyondLocks, type SettingsLocks } from "./settings-locks.ts";

/** The defaults of new threads, and what settings are checked against. */
export interface SettingsOptions extends UnconfinedOptions {
  readonly cwd: string;
  readonly model: string | undefined;
  readonly approvalPolicy: ApprovalPolicy;
  readonly sandboxPolicy: SandboxPolicy;
  readonly network?: NetworkPermission | undefined;
  readonly git?: GitMode | undefined;
  readonly acceptEdits?: boolean | undefined;
  /** The permissions of new threads with an agent that has its own, by its id. */
  readonly agentPermissions?: ReadonlyMap<string, AgentPermissions> | undefined;
  readonly budget?: Budget | undefined;
  /** The configuration in workspace files. */
  readonly workspaces: Workspaces;
  /** Settings that an administrator has locked: no thread may go beyond them. */
  readonly locks?: SettingsLocks | undefined;
  /** Reports whether a path is an accessible folder. */
  isFolder(path: string): Promise<boolean>;
}

/** Settings of a thread that a client may override. */
export interface SettingsOverrides {
  readonly model?: string | undefined;
  readonly agent?: string | undefined;
  readonly cwd?: string | undefined;
  readonly approvalPolicy?: ApprovalPolicy | undefined;
  readonly sandbox?: SandboxPolicyInput | undefined;
  readonly network?: NetworkPermission | undefined;
  readonly git?: GitMode | undefined;
  readonly acceptEdits?: boolean | undefined;
  readonly acceptCommands?: boolean | undefined;
  readonly task?: ThreadTask | undefined;
  readonly config?: ConfigValues | undefined;
  readonly developerInstructions?: string | undefined;
  readonly summary?: ReasoningSummary | undefined;
  readonly personality?: string | undefined;
  readonly budget?: Budget | undefined;
}

/** The settings of a new thread, and what the user should know about them. */
export interface NewSettings {
  readonly settings: ThreadSettings;
  readonly notices: readonly string[];
}

/** Works out the settings of threads from defaults, workspace files and what clients ask for. */
export class SettingsResolver {
  readonly #options: SettingsOptions;
  readonly #catalogue: Catalogue;
  /** Changes of the defaults run one after the other, or a later one would undo an earlier one. */
  readonly #defaultChanges = new SerialQueue();
  /** The selector values of new threads. */
  #configDefaults: ConfigValues = {};

  constructor(options: SettingsOptions, catalogue: Catalogue) {
    this.#options = options;
    this.#catalogue = catalogue;
  }

  /** The settings of a new thread before workspace and client have changed anything. */
  async defaults(): Promise<ThreadSettings> {
    const { cwd, approvalPolicy, sandboxPolicy, network, git, acceptEdits, budget } = this.#options;
    const model = this.#options.model ?? (await this.#catalogue.defaultModel());
    const { id } = await this.#catalogue.choose(model);
    const config = await this.#catalogue.keepOffered(id, this.#configDefaults);
    const settings = {
      ...{ model: id, cwd, approvalPolicy, sandboxPolicy, config },
      ...(network === undefined ? {} : { network }),
      ...(git === undefined ? {} : { git }),
      ...(acceptEdits === undefined ? {} : { acceptEdits }),
    };
    const provided = this.#withProvider(settings);
    return budget === undefined ? provided : { ...provided, budget };
  }

  /** The agent of new threads. */
  defaultAgent(): ReturnType<Catalogue["defaultAgent"]> {
    return this.#catalogue.defaultAgent(this.#options.model);
  }

  /**
   * The settings of a new thread: the defaults, then what is configured for its agent, then the trusted files of its
   * folder, then the client's overrides.
   */
  async forNewThread(overrides: SettingsOverrides): Promise<NewSettings> {
    const defaults = await this.defaults();
    const cwd = overrides.cwd === undefined ? defaults.cwd : await this.#folder(overrides.cwd);
    const { notices, sandboxPolicy: sandbox, ...workspace } = await this.#options.workspaces.configOf(cwd);
    const { approvalPolicy, budget } = workspace;
    const inFolder = { ...defaults, model: workspace.model ?? defaults.model };
    // A model of the folder that is not used does not have to exist.
    const model = this.#requestedModel(inFolder, overrides) ?? inFolder.model;
    const permitted = withPermissions(defaults, await this.#permissionsFor(model));
    const here = await this.#changed(permitted, { model, approvalPolicy, sandbox, budget, cwd });
    return { settings: await this.#changed(here, overrides), notices };
  }

  /**
   * Settings with the client's overrides applied. Another agent's own permissions apply where they allow less, so that
   * a change of agents never allows more than before. Throws `invalidParams` for anything that does not exist.
   */
  async override(settings: ThreadSettings, overrides: SettingsOverrides): Promise<ThreadSettings> {
    const model = this.#requestedModel(settings, overrides);
    const permissions = model === undefined ? {} : await this.#permissionsFor(model, settings.model);
    return this.#changed(narrowedTo(settings, permissions), overrides);
  }

  /**
   * Returns the permissions configured for the agent of a model; none if that is the agent of the earlier
   * model.
   */
  async #permissionsFor(model: string, earlier?: string): Promise<AgentPermissions> {
    const { agentPermissions } = this.#options;
    if (agentPermissions === undefined || agentPermissions.size === 0) return {};
    const agent = agentOfModel((await this.#catalogue.choose(model)).id);
    const isSame = earlier !== undefined && agentOfModel(earlier) === agent;
    return isSame ? {} : (agentPermissions.get(agent) ?? {});
  }

  async #changed(settings: ThreadSettings, overrides: SettingsOverrides): Promise<ThreadSettings> {
    const model = this.#requestedModel(settings, overrides);
    const {
      cwd,
      approvalPolicy,
      sandbox,
      network,
      git,
      acceptEdits,
      acceptCommands,
      task,
      config,
      developerInstructions,
      summary,
      personality,
      budget,
    } = overrides;
    let next: ThreadSettings = { ...settings };
    if (model !== undefined && model !== settings.model) {
      next.model = (await this.#catalogue.choose(model)).id;
      next = this.#withProvider(next);
      next.config = await this.#catalogue.keepOffered(next.model, settings.config);
    }
    if (cwd !== undefined) next.cwd = await this.#folder(cwd);
    if (approvalPolicy !== undefined) next.approvalPolicy = approvalPolicy;
    if (sandbox !== undefined) next.sandboxPolicy = sandboxPolicyOf(sandbox);
    if (network !== undefined) next.network = network;
    if (git !== undefined) next.git = git;
    if (acceptEdits !== undefined) next.acceptEdits = acceptEdits;
    if (acceptCommands !== undefined) next.acceptCommands = acceptCommands;
    if (task !== undefined) next.task = task;
    if (config !== undefined) next.config = await this.#catalogue.withValues(next.model, next.config, config);
    if (developerInstructions !== undefined) next.developerInstructions = developerInstructions;
    if (summary !== undefined) next.summary = summary;
    if (personality !== undefined) await this.#setPersonality(next, personality);
    if (budget !== undefined) setBudget(next, budget);
    if (next.approvalPolicy === "never") rejectUnconfined(next, "thread", this.#options);
    rejectBeyondLocks(next, this.#options.locks);
    return next;
  }

  /** Folder and policy of a command outside of any thread. It is never asked about, so the rule of "never" applies. */
  async forCommand({ cwd, sandbox }: Pick<SettingsOverrides, "cwd" | "sandbox">): Promise<ThreadSettings> {
    const settings = await this.override(await this.defaults(), { cwd, sandbox });
    rejectUnconfined(settings, "command", this.#options);
    return settings;
  }

  /** Sets a selector for new threads and returns the selectors with it applied. */
  setDefault(id: string, value: string): Promise<readonly ConfigOption[]> {
    return this.#defaultChanges.run(async () => {
      const { model, config } = await this.defaults();
      this.#configDefaults = await this.#catalogue.withValues(model, config, { [id]: value });
      return this.#catalogue.options(model, this.#configDefaults);
    });
  }

  /** The model that a client asks for; an agent keeps the model that it has. */
  #requestedModel(settings: ThreadSettings, { agent, model }: SettingsOverrides): string | undefined {
    if (agent === undefined) return model;
    this.#catalogue.requireAgent(agent);
    if (model !== undefined) return agentOfModel(model) === agent ? model : `${agent}/${model}`;
    return agentOfModel(settings.model) === agent ? undefined : agent;
  }

  /** The settings with who serves their model, where that is not the agent itself. */
  #withProvider(settings: ThreadSettings): ThreadSettings {
    const { modelProvider: _earlier, ...others } = settings;
    const modelProvider = this.#catalogue.providerOf(settings.model);
    return modelProvider === undefined ? others : { ...others, modelProvider };
  }

  /** Sets the personality with the model's own selector if it has one, which is then its only home. */
  async #setPersonality(settings: ThreadSettings, personality: string): Promise<void> {
    const chosen = { ...settings.config, [PERSONALITY]: personality };
    const { [PERSONALITY]: offered } = await this.#catalogue.keepOffered(settings.model, chosen);
    if (offered === personality) {
      settings.config = chosen;
      delete settings.personality;
    } else settings.personality = personality;
  }

  async #folder(path: string): Promise<string> {
    if (await this.#options.isFolder(path)) return path;
    throw new FlintError("invalidParams", `${path} does not exist or is not a folder.`, {
      field: "cwd",
    });
  }
}

function setBudget(settings: ThreadSettings, requested: Budget): void {
  const budget = changedBudget(settings.budget, requested);
  if (budget === undefined) delete settings.budget;
  else settings.budget = budget;
}

/** Settings for unconfined work, and the folder of the user's files. */
export interface UnconfinedOptions {
  /** True if clients may turn off approvals and the sandbox at the same time. */
  readonly allowUnconfined: boolean;
  /** The user's home folder; a writable root that contains it confines nothing. */
  readonly home?: string | undefined;
  /** Resolves the links of a path; the path itself if nothing is there. */
  realPath(path: string): string;
}

/**
 * Throws `invalidParams` for settings that confine nothing, unless the server was started with `--allow-unconfined`. To
 * be called where nothing is asked: for threads with the approval policy "never", and commands outside of any thread.
 */
export function rejectUnconfined(
  { sandboxPolicy, cwd }: Pick<ThreadSettings, "sandboxPolicy" | "cwd">,
  subject: "thread" | "command",
  options: UnconfinedOptions,
): void {
  if (options.allowUnconfined) return;
  const reason = unconfinedReason(sandboxPolicy, cwd, options);
  if (reason !== undefined) throw ERRORS[subject](reason);
}

const ERRORS = {
  thread: (reason: string) =>
    new FlintError(
      "invalidParams",
      `With the approval policy "never" and ${reason} an agent could do anything without asking. Change one of them, or start Flint with --allow-unconfined.`,
      { field: "approvalPolicy" },
    ),
  command: (reason: string) =>
    new FlintError(
      "invalidParams",
      `With ${reason} a command could do anything without asking. Choose a narrower sandboxPolicy or cwd, or start Flint with --allow-unconfined.`,
      { field: "sandboxPolicy" },
    ),
};

/** Returns the reason a sandbox confines nothing, as text; undefined if it confines. */
function unconfinedReason(
  policy: SandboxPolicy,
  cwd: string,
  { home, realPath }: UnconfinedOptions,
): string | undefined {
  if (isUnconfined(policy)) return `the sandbox "${policy.type}"`;
  if (policy.type === "readOnly") return undefined;
  const real = (path: string) => realPath(resolve(path));
  if (real(cwd) === "/") return "the whole file system as the workspace";
  const homes = home === undefined ? [] : [home, real(home)];
  const wide = policy.writableRoots?.find((root) => {
    const folder = real(root);
    return folder === "/" || homes.some((path) => `${path}/`.startsWith(`${folder}/`));
  });
  return wide === undefined ? undefined : `the writable root ${wide}`;
}
