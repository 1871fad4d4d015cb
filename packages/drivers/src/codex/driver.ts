import { homedir } from "node:os";
import { join } from "node:path";
import {
  type Account,
  type AccountControl,
  type AgentPlugins,
  type Clock,
  type Driver,
  type DriverSession,
  type McpServerStatus,
  type NativeSessions,
  type PluginFolder,
  type Sandbox,
  type SessionSpec,
  type Steering,
  SYSTEM_CLOCK,
  type UsageReports,
} from "@flint/core/ports";
import type {
  AgentFeature,
  ConfigOption,
  ConfigValues,
  FolderHooks,
  FolderSkills,
  Model,
  ReportedLimit,
} from "@flint/protocol";
import { CODEX_VERSION, type CodexModel } from "@flint/protocol/codex";
import { type AgentOptions, agentEnvironment } from "../shared/agent.ts";
import { DescribedDriver } from "../shared/driver.ts";
import { CODEX_FOLDER } from "../shared/folders/agent-folders.ts";
import { folderPath } from "../shared/folders/agent-paths.ts";
import { CODEX } from "./descriptor.ts";
import { hooksIn, pluginsIn, skillsIn } from "./extensions.ts";
import { codexPrice, DEFAULT_MODEL, modelRows, resolveModelName, selectorsOf } from "./models.ts";
import { codexLaunch, codexProgram, type ServerSandbox } from "./process/launch.ts";
import { CODEX_TIMING, type CodexServer, type CodexTiming } from "./process/server.ts";
import { ServerPool } from "./process/server-pool.ts";
import { CodexSession, mcpServerStatus } from "./session.ts";
import { limitsIn } from "./translate/limits.ts";

/** The models as one process of Codex listed them. */
interface ModelList {
  readonly server: CodexServer;
  readonly models: readonly CodexModel[];
}

/**
 * Time for which a Codex that did not list its models is not asked again: one request to Flint may need the
 * list many times.
 */
const RETRY_MS = 5_000;

/** Codex: one `codex app-server` for all threads in the same sandbox. Starts nothing before it is needed. */
export class CodexDriver extends DescribedDriver implements Driver {
  readonly #options: AgentOptions;
  readonly #timing: CodexTiming;
  readonly #clock: Clock;
  readonly #servers: ServerPool;
  readonly #sessions = new Set<CodexSession>();
  #sandbox: Sandbox | undefined;
  #control: AccountControl | undefined;
  #listed: ModelList | undefined;
  #listing: Promise<readonly CodexModel[]> | undefined;
  /** The process that did not list its models, if there was one at all, and until when it is not asked again. */
  #unlisted: { readonly server: CodexServer | undefined; readonly until: number } | undefined;
  /** The version whose protocol was last compared with Flint's. */
  #comparedVersion: string = CODEX_VERSION;

  constructor(options: AgentOptions, timing: Partial<CodexTiming> = {}, clock: Clock = SYSTEM_CLOCK) {
    super(CODEX);
    this.#options = options;
    this.#timing = { ...CODEX_TIMING, ...timing };
    this.#clock = clock;
    this.#sandbox = options.sandbox;
    const spec = (sandbox: Sandbox, serverSandbox: ServerSandbox) => this.#serverSpec(sandbox, serverSandbox);
    this.#servers = new ServerPool(spec, clock, this.#timing.keepAlive);
  }

  async models(): Promise<readonly Model[]> {
    if ((await this.#options.program()) === undefined) return [];
    return modelRows(await this.#models());
  }

  async defaultModel(): Promise<string> {
    return DEFAULT_MODEL;
  }

  async options(model: string, values: ConfigValues): Promise<readonly ConfigOption[]> {
    return selectorsOf(model, await this.#models(), values);
  }

  /** Codex does not report its cost; a price gives it call by call. */
  override async usageReports(id: string): Promise<UsageReports> {
    const { prices, offlineModel } = this.#options;
    if (offlineModel !== undefined) return { ...CODEX.usageReports, costUsd: "free" };
    const name = resolveModelName(id, await this.#models());
    const hasPrice = name !== undefined && prices !== undefined && codexPrice(prices, name) !== undefined;
    return hasPrice ? { ...CODEX.usageReports, costUsd: "call" } : CODEX.usageReports;
  }

  async open(spec: SessionSpec): Promise<DriverSession> {
    this.#sandbox ??= spec.sandbox;
    // Without the program there is no thread; that fails now, not in the middle of a turn.
    await codexProgram(this.#options);
    const session = new CodexSession(spec, {
      ...{ servers: this.#servers, clock: this.#clock, timing: this.#timing, prices: this.#options.prices },
      drift: (server) => this.#drift(server),
      closed: (closing) => this.#sessions.delete(closing),
    });
    this.#sessions.add(session);
    return session;
  }

  async features(): Promise<readonly AgentFeature[]> {
    return this.#ask(async (server) => {
      const { data } = await server.request("experimentalFeature/list", {}, this.#timing.list);
      return data.map(({ name, stage, displayName, description, announcement, enabled, defaultEnabled }) => ({
        ...{ name, stage, enabled, defaultEnabled },
        ...(displayName == null ? {} : { displayName }),
        ...(description == null ? {} : { description }),
        ...(announcement == null ? {} : { announcement }),
      }));
    }, []);
  }

  async skills(cwd: string, steering: Steering): Promise<FolderSkills> {
    const none: FolderSkills = { cwd, skills: [], errors: [] };
    return this.#ask(async (server) => {
      const { data } = await server.request(
        "skills/list",
        { cwds: [cwd], forceReload: true },
        this.#timing.list,
      );
      return skillsIn(data, cwd, steering);
    }, none);
  }

  async hooks(cwd: string, steering: Steering): Promise<FolderHooks> {
    const none: FolderHooks = { cwd, hooks: [], warnings: [], errors: [] };
    return this.#ask(async (server) => {
      const { data } = await server.request("hooks/list", { cwds: [cwd] }, this.#timing.list);
      return hooksIn(data, cwd, steering);
    }, none);
  }

  async plugins(folders: readonly PluginFolder[], installedOnly: boolean): Promise<AgentPlugins> {
    const none: AgentPlugins = { data: [], errors: [], featured: [] };
    const cwds = folders.map(({ cwd }) => cwd);
    return this.#ask(async (server) => {
      const listed = installedOnly
        ? await server.request("plugin/installed", { cwds }, this.#timing.list)
        : await server.request("plugin/list", { cwds }, this.#timing.list);
      return pluginsIn(listed, folders);
    }, none);
  }

  async account(): Promise<Account> {
    const unknown: Account = { account: null, requiresLogin: false };
    return this.#ask(async (server): Promise<Account> => {
      const { account, requiresOpenaiAuth } = await server.request("account/read", {}, this.#timing.list);
      if (account === undefined || account === null)
        return { account: null, requiresLogin: requiresOpenaiAuth };
      const { type, email, planType } = account;
      const label = typeof email === "string" ? { label: email } : {};
      const plan = typeof planType === "string" ? { plan: planType } : {};
      return { account: { type, ...label, ...plan }, requiresLogin: false };
    }, unknown);
  }

  async accountControl(): Promise<AccountControl> {
    const { CodexAccountControl } = await import("./account-control.ts");
    this.#control ??= new CodexAccountControl(this.#servers, () => this.#requireSandbox(), this.#clock);
    return this.#control;
  }

  /** As a running process tells them; it does not without a login. Starts nothing. */
  async limits(): Promise<readonly ReportedLimit[]> {
    return limitsIn(await (await this.#servers.running())?.rateLimits());
  }

  /** Those of the open threads and of Codex itself; the latest of each name. Starts nothing. */
  async mcpServers(): Promise<readonly McpServerStatus[]> {
    const running = await this.#servers.running();
    if (running === undefined) return [];
    const none: readonly McpServerStatus[] = [];
    const own = await this.#ask(async (server) => {
      const params = { detail: "toolsAndAuthOnly" };
      const { data } = await server.request("mcpServerStatus/list", params, this.#timing.list);
      return data.map(({ name, runtimeStatus, toolsError }) =>
        mcpServerStatus(name, runtimeStatus, toolsError),
      );
    }, none);
    const all = [...own, ...[...this.#sessions].flatMap((session) => session.mcpServers)];
    return [...new Map(all.map((status) => [status.name, status])).values()];
  }

  async nativeSessions(): Promise<NativeSessions> {
    const { offlineModel, stateFolder } = this.#options;
    const isOffline = offlineModel !== undefined && stateFolder !== undefined;
    const environment = await agentEnvironment(this.#options);
    const home = isOffline ? join(stateFolder, "codex") : folderPath(CODEX_FOLDER, environment, homedir());
    const { codexSessions } = await import("./import/sessions.ts");
    return codexSessions(home);
  }

  /** Stops the processes. Threads that continue start others. */
  close(): Promise<void> {
    return this.#servers.close();
  }

  async #serverSpec(sandbox: Sandbox, serverSandbox: ServerSandbox) {
    const { version, trace } = this.#options;
    const launch = await codexLaunch(this.#options, serverSandbox);
    return { launch, sandbox, version, trace, timing: this.#timing };
  }

  /** The list of the running process; the last list if none runs, and an empty one if Codex does not answer. */
  async #models(): Promise<readonly CodexModel[]> {
    const running = await this.#servers.running();
    if (this.#listed !== undefined && (running === undefined || running === this.#listed.server)) {
      return this.#listed.models;
    }
    if (this.#unlisted?.server === running && this.#clock.now() < (this.#unlisted?.until ?? 0))
      return this.#listed?.models ?? [];
    this.#listing ??= this.#list().finally(() => {
      this.#listing = undefined;
    });
    return this.#listing;
  }

  async #list(): Promise<readonly CodexModel[]> {
    const known = this.#listed?.models ?? [];
    const models = await this.#ask(async (server) => {
      const { data } = await server.request("model/list", {}, this.#timing.list);
      this.#listed = { server, models: data };
      return data;
    }, known);
    const hasFailed = models === known && this.#sandbox !== undefined;
    this.#unlisted = hasFailed
      ? { server: await this.#servers.running(), until: this.#clock.now() + RETRY_MS }
      : undefined;
    return models;
  }

  /** Asks a process, started if there is none; resolves with `otherwise` if that fails or takes too long. */
  async #ask<Answer>(ask: (server: CodexServer) => Promise<Answer>, otherwise: Answer): Promise<Answer> {
    const sandbox = this.#sandbox;
    if (sandbox === undefined) return otherwise;
    const shared = await this.#servers.any();
    const release = shared.acquire();
    const late = new Promise<Answer>((resolve) =>
      this.#clock.after(this.#timing.list, () => resolve(otherwise)),
    );
    // A turn reports what is wrong; a list is only empty.
    const answer = shared
      .server(sandbox)
      .then(ask)
      .catch(() => otherwise);
    return Promise.race([answer, late]).finally(release);
  }

  /** Without a program there is nothing to log in to; that is said as it is to a thread. */
  async #requireSandbox(): Promise<Sandbox> {
    await codexProgram(this.#options);
    if (this.#sandbox === undefined) throw new Error("The driver was given nothing to start a process with.");
    return this.#sandbox;
  }

  /** Returns the deviations of a Codex of another version, once for each version. */
  async #drift({ version }: CodexServer): Promise<readonly string[]> {
    const sandbox = this.#sandbox;
    const program = await this.#options.program();
    if (version === this.#comparedVersion || sandbox === undefined || program === undefined) return [];
    this.#comparedVersion = version;
    const { codexDrift, runInSandbox } = await import("./drift.ts");
    // A Codex that cannot print its schemas is used as it is.
    const changes = await codexDrift(program.command, runInSandbox(sandbox)).catch(() => []);
    return [
      `Codex is ${version || "of an unknown version"}; Flint was made for ${CODEX_VERSION}.`,
      ...changes,
    ];
  }
}
