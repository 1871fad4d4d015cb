import type { ContentBlock } from "@agentclientprotocol/sdk";
import { FlintError, stringOf, type ThreadSettings } from "@flint/protocol";
import { type JsonObject, objectOf } from "../../shared/json.ts";
import { agentServers } from "../../shared/mcp-servers.ts";
import {
  DEFAULT_MODEL,
  type Selector,
  type Selectors,
  selectorsOf,
  withOptions,
  withValue,
} from "../models.ts";
import type { AcpProfile } from "../profile.ts";
import { AcpConnection } from "./connection.ts";
import { Handshake, mcpServersFor, type OpenedSession, resumeMethod } from "./handshake.ts";
import { type AgentStart, startProcess } from "./launch.ts";

/** The content that an agent takes beside text. */
export interface PromptCapabilities {
  readonly image: boolean;
}

/** Time within which an agent must change one of its settings. */
const CHOOSE_MS = 20_000;
/** Maximum number of offered models that an error names. */
const MAX_LISTED_MODELS = 20;

/** A process of an agent with one open session. */
export class AcpAgent {
  readonly sessionId: string;
  /** True if the session is new, so that it knows nothing of the thread. */
  readonly isFresh: boolean;
  /** True if the session began as a copy of that of another thread. */
  readonly isCopy: boolean;
  readonly capabilities: PromptCapabilities;
  readonly canSteer: boolean;
  /** True if another process can go on with the session. */
  readonly canResume: boolean;
  /** Warnings for the user about how it was started. */
  readonly warnings: readonly string[];
  readonly #connection: AcpConnection;
  readonly #profile: AcpProfile;
  /** The selectors as they were when the session was opened. */
  readonly #initial: Selectors;
  /** The ids of the selectors that were set for the user; all others are the agent's own choice. */
  readonly #chosen = new Set<string>();
  #selectors: Selectors;

  private constructor(
    connection: AcpConnection,
    profile: AcpProfile,
    initialized: JsonObject,
    session: OpenedSession,
    warnings: readonly string[],
  ) {
    this.#connection = connection;
    this.#profile = profile;
    this.sessionId = session.sessionId;
    this.isFresh = session.isFresh;
    this.isCopy = session.isCopy === true;
    this.warnings = [...warnings, ...session.warnings];
    this.#initial = selectorsOf(session.response);
    this.#selectors = this.#initial;
    const prompts = objectOf(objectOf(initialized.agentCapabilities).promptCapabilities);
    this.capabilities = { image: prompts.image === true };
    this.canResume = resumeMethod(initialized) !== undefined;
    this.canSteer = objectOf(objectOf(initialized._meta).steering).supported === true;
  }

  /** Starts the program and opens its session. Rejects with a FlintError that explains what to do. */
  static async start(start: AgentStart): Promise<AcpAgent> {
    const { options, handlers, signal } = start;
    const { process, program } = await startProcess(start);
    const { profile } = options;
    const connection = new AcpConnection({ ...options, displayName: profile.displayName }, process, handlers);
    const stop = () => void connection.stop();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    // The process does not outlive a failed start.
    try {
      const handshake = new Handshake(connection, start, program);
      const initialized = await handshake.initialize();
      const { spec, settings } = start;
      const reachable = await agentServers({ spec, settings, broker: process.broker });
      const { servers, warnings } = mcpServersFor(reachable, initialized);
      const session = await handshake.open(initialized, servers);
      if (!(await process.sessions.claim(session.sessionId))) throw notItsOwn(profile, session.sessionId);
      const problems = await process.sessions.takeProblems();
      return new AcpAgent(connection, profile, initialized, session, [...warnings, ...problems]);
    } catch (thrown) {
      const failure = thrown instanceof FlintError ? thrown : await connection.failure(thrown);
      await connection.stop();
      throw failure;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  get selectors(): Selectors {
    return this.#selectors;
  }

  get closed(): Promise<unknown> {
    return this.#connection.closed;
  }

  /** Sends a prompt. Resolves with the response at the end of the turn. */
  prompt(prompt: readonly ContentBlock[]): Promise<JsonObject> {
    const response = this.#connection.request("session/prompt", { sessionId: this.sessionId, prompt });
    return response.finally(() => this.#connection.publishSession());
  }

  /** Asks the agent to cancel the turn. */
  cancel(): void {
    this.#connection.notify("session/cancel", { sessionId: this.sessionId });
  }

  /** Adds input to the running turn. False if there is none. */
  async steer(prompt: readonly ContentBlock[], timeoutMs: number): Promise<boolean> {
    // Without this an idle agent would begin a turn that no client sees.
    const _meta = { steering: { idleBehavior: "promptRequired" } };
    const params = { sessionId: this.sessionId, prompt, _meta };
    const { outcome } = await this.#connection.request("_session/steering", params, timeoutMs);
    return outcome === "injected" || outcome === "startedNewTurn";
  }

  /**
   * Applies the thread's model, mode and other values, as far as they differ from the agent's own. Rejects with a FlintError
   * for a model that it does not offer, and for a mode that the approval policy rules out.
   */
  async applySettings(settings: ThreadSettings): Promise<void> {
    await this.#chooseModel(settings.model.slice(this.#profile.id.length + 1));
    for (const { option } of this.#initial.others) {
      const value = Object.hasOwn(settings.config, option.id) ? settings.config[option.id] : undefined;
      // One choice may remove another selector.
      const current = this.#selectors.others.find((selector) => selector.option.id === option.id);
      if (current !== undefined) await this.#choose(current, value, option.value);
    }
    this.#refuseAutonomousMode(settings);
  }

  /** Notes an update in which the agent changes its own selectors. */
  noteUpdate(update: JsonObject): void {
    if (update.sessionUpdate === "config_option_update")
      this.#selectors = withOptions(this.#selectors, update.configOptions);
    const mode = stringOf(update.currentModeId);
    if (mode !== undefined) this.#selectors = withValue(this.#selectors, "mode", mode);
  }

  /** The FlintError for a request that was rejected. */
  failure(thrown: unknown): Promise<FlintError> {
    return this.#connection.failure(thrown);
  }

  /** Stops the process and everything it started. */
  stop(): Promise<void> {
    return this.#connection.stop();
  }

  async #chooseModel(name: string): Promise<void> {
    const { model } = this.#selectors;
    if (model === undefined && (name === DEFAULT_MODEL || name === "")) return;
    const offered = model?.option.options.map(({ id }) => id) ?? [];
    const value = name === DEFAULT_MODEL && !offered.includes(name) ? undefined : name;
    if (model === undefined || (value !== undefined && !offered.includes(value))) {
      const known = [DEFAULT_MODEL, ...offered].slice(0, MAX_LISTED_MODELS).join(", ");
      const message = `${this.#profile.displayName} offers no model ${name}. Choose one of: ${known}.`;
      throw new FlintError("invalidParams", message);
    }
    await this.#choose(model, value, this.#initial.model?.option.value ?? model.option.value);
  }

  /** A selector without a chosen value is left to the agent, which may have changed it; only an earlier choice is undone. */
  async #choose(selector: Selector, chosen: string | undefined, initial: string): Promise<void> {
    const { id, value, options } = selector.option;
    if (chosen === undefined && !this.#chosen.has(id)) return;
    const next = chosen ?? initial;
    if (value !== next && options.some((choice) => choice.id === next)) await this.#set(selector, next);
    if (chosen === undefined) this.#chosen.delete(id);
    else this.#chosen.add(id);
  }

  /** Sets a selector to a value, by the method that the agent has for it. */
  async #set({ kind, option: { id, type } }: Selector, value: string): Promise<void> {
    const { sessionId } = this;
    switch (kind) {
      case "option": {
        const typed = type === "boolean" ? { type, value: value === "true" } : { value };
        const params = { sessionId, configId: id, ...typed };
        const response = await this.#connection.request("session/set_config_option", params, CHOOSE_MS);
        const { configOptions } = response;
        this.#selectors = withValue(this.#selectors, id, value);
        if (Array.isArray(configOptions)) this.#selectors = withOptions(this.#selectors, configOptions);
        return;
      }
      case "mode":
        await this.#connection.request("session/set_mode", { sessionId, modeId: value }, CHOOSE_MS);
        break;
      case "model":
        await this.#connection.request("session/set_model", { sessionId, modelId: value }, CHOOSE_MS);
        break;
    }
    this.#selectors = withValue(this.#selectors, id, value);
  }

  /** Rejects a mode in which the agent asks about nothing where the approval policy is to ask about everything. */
  #refuseAutonomousMode({ approvalPolicy }: ThreadSettings): void {
    if (approvalPolicy !== "always") return;
    const { displayName, autonomousModes } = this.#profile;
    const mode = this.#selectors.others.find(
      ({ option }) => option.category === "mode" || option.id === "mode",
    );
    const value = mode?.option.value;
    if (value === undefined || !autonomousModes.includes(value)) return;
    const message = `${displayName} does not ask in its mode ${value}, and the approval policy is always. Choose another mode or another policy.`;
    throw new FlintError("invalidParams", message);
  }
}

/** A process in which something else runs could name the session of another. */
function notItsOwn({ displayName }: AcpProfile, sessionId: string): FlintError {
  const message = `${displayName} began the session ${sessionId}, which is already there and not its own. Send the prompt again; if that does not help, start a new thread.`;
  return new FlintError("agentFailed", message, { sessionId });
}
