import {
  type Account,
  type Clock,
  type Driver,
  type DriverSession,
  type McpServerStatus,
  type Sandbox,
  type SessionSpec,
  SYSTEM_CLOCK,
} from "@flint/core/ports";
import type { ConfigOption, ConfigValues, Model } from "@flint/protocol";
import { CODEX_VERSION, type CodexModel } from "@flint/protocol/codex";
import type { AgentOptions } from "../shared/agent-options.ts";
import { CODEX } from "./descriptor.ts";
import { CODEX_ID, DEFAULT_MODEL, modelRows, selectorsOf } from "./models.ts";
import { codexLaunch, codexProgram } from "./process/launch.ts";
import type { Wall } from "./process/sandbox.ts";
import type { CodexServer } from "./process/server.ts";
import { CodexServers } from "./process/servers.ts";
import { CODEX_TIMING, type CodexTiming } from "./process/timing.ts";
import { CodexSession } from "./session.ts";
import { mcpServerStatus } from "./translate/mcp-status.ts";

/** The models as one process of Codex told them. */
interface Listed {
  readonly server: CodexServer;
  readonly models: readonly CodexModel[];
}

/** How long a Codex that could not say what it has is not asked again: one question to Flint may ask for it many times. */
const SILENT_MS = 5_000;

/** Codex: one `codex app-server` for all threads that may write the same. Starts nothing before it is needed. */
export class CodexDriver implements Driver {
  readonly id = CODEX.id;
  readonly asksToWrite = CODEX.asksToWrite;
  readonly stopsWhenIdle = CODEX.stopsWhenIdle;
  readonly #options: AgentOptions;
  readonly #timing: CodexTiming;
  readonly #clock: Clock;
  readonly #servers: CodexServers;
  readonly #sessions = new Set<CodexSession>();
  #sandbox: Sandbox | undefined;
  #listed: Listed | undefined;
  #listing: Promise<readonly CodexModel[]> | undefined;
  /** The process that could not say what it has, if there was one at all, and until when it is not asked again. */
  #silent: { readonly server: CodexServer | undefined; readonly until: number } | undefined;
  #comparedVersion: string = CODEX_VERSION;

  constructor(options: AgentOptions, timing: Partial<CodexTiming> = {}, clock: Clock = SYSTEM_CLOCK) {
    this.#options = options;
    this.#timing = { ...CODEX_TIMING, ...timing };
    this.#clock = clock;
    this.#sandbox = options.sandbox;
    const start = (sandbox: Sandbox, wall: Wall) => this.#spec(sandbox, wall);
    this.#servers = new CodexServers(start, clock, this.#timing.linger);
  }

  async models(): Promise<readonly Model[]> {
    if ((await this.#options.program()) === undefined) return [];
    return modelRows(await this.#models());
  }

  async defaultModel(): Promise<string> {
    return DEFAULT_MODEL;
  }

  /** Codex takes any name of a model; it says itself if there is none. */
  qualify(name: string): string | undefined {
    if (name === CODEX_ID) return DEFAULT_MODEL;
    return name.startsWith(`${CODEX_ID}/`) && name.length > CODEX_ID.length + 1 ? name : undefined;
  }

  async options(model: string, values: ConfigValues): Promise<readonly ConfigOption[]> {
    return selectorsOf(model, await this.#models(), values);
  }

  async open(spec: SessionSpec): Promise<DriverSession> {
    this.#sandbox ??= spec.sandbox;
    // Without the program there is no thread; that is said now, not in the middle of a turn.
    await codexProgram(this.#options);
    const session = new CodexSession(spec, {
      ...{ servers: this.#servers, clock: this.#clock, timing: this.#timing },
      drift: (server) => this.#drift(server),
      closed: (closing) => this.#sessions.delete(closing),
    });
    this.#sessions.add(session);
    return session;
  }

  async account(): Promise<Account> {
    const nobody: Account = { account: null, requiresLogin: false };
    return this.#ask(async (server) => {
      const told = await server.request("account/read", {}, this.#timing.list);
      if (told.account === undefined || told.account === null) {
        return { account: null, requiresLogin: told.requiresOpenaiAuth };
      }
      const { type, email } = told.account;
      return { account: typeof email === "string" ? { type, label: email } : { type }, requiresLogin: false };
    }, nobody);
  }

  /** Those of the open threads and of Codex itself; of one name the latest counts. Starts nothing. */
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

  /** Ends the processes. Threads that go on start others. */
  close(): Promise<void> {
    return this.#servers.close();
  }

  async #spec(sandbox: Sandbox, wall: Wall) {
    const { version, trace } = this.#options;
    return { launch: await codexLaunch(this.#options, wall), sandbox, version, trace, timing: this.#timing };
  }

  /** As the running process lists them; as the last one did if none runs, and none at all if Codex cannot say. */
  async #models(): Promise<readonly CodexModel[]> {
    const running = await this.#servers.running();
    if (this.#listed !== undefined && (running === undefined || running === this.#listed.server)) {
      return this.#listed.models;
    }
    if (this.#silent?.server === running && this.#clock.now() < (this.#silent?.until ?? 0))
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
    const isSilent = models === known && this.#sandbox !== undefined;
    this.#silent = isSilent
      ? { server: await this.#servers.running(), until: this.#clock.now() + SILENT_MS }
      : undefined;
    return models;
  }

  /** Asks the process, started if need be; what cannot be asked, or is not answered in time, has another answer. */
  async #ask<Answer>(ask: (server: CodexServer) => Promise<Answer>, otherwise: Answer): Promise<Answer> {
    const sandbox = this.#sandbox;
    if (sandbox === undefined) return otherwise;
    const shared = await this.#servers.forQuestions();
    const letGo = shared.hold();
    const late = new Promise<Answer>((resolve) =>
      this.#clock.after(this.#timing.list, () => resolve(otherwise)),
    );
    // Whoever starts a turn is told what is wrong; a list is only empty.
    const answer = shared
      .server(sandbox)
      .then(ask)
      .catch(() => otherwise);
    return Promise.race([answer, late]).finally(letGo);
  }

  /** What changed in a Codex of another version, told once. */
  async #drift({ version }: CodexServer): Promise<readonly string[]> {
    const sandbox = this.#sandbox;
    const program = await this.#options.program();
    if (version === this.#comparedVersion || sandbox === undefined || program === undefined) return [];
    this.#comparedVersion = version;
    const { codexDrift, printingIn } = await import("./drift/drift.ts");
    // A Codex that cannot print its words is used as it is.
    const changes = await codexDrift(program.command, printingIn(sandbox)).catch(() => []);
    return [
      `Codex is ${version || "of an unknown version"}; Flint was made for ${CODEX_VERSION}.`,
      ...changes,
    ];
  }
}
