import type { ContentBlock } from "@agentclientprotocol/sdk";
import { FlintError } from "@flint/protocol";
import { type JsonObject, objectOf, stringOf } from "../../shared/json.ts";
import { type Selector, type Selectors, selectorsOf, withOptions, withValue } from "../models.ts";
import { AcpConnection } from "./connection.ts";
import { Handshake, mcpServersFor, type OpenedSession } from "./handshake.ts";
import { type AgentStart, startProcess } from "./launch.ts";

/** What an agent takes beside text. */
export interface PromptCapabilities {
  readonly image: boolean;
}

/** A process of an agent with one open session. */
export class AcpAgent {
  readonly sessionId: string;
  /** Whether the session is new, so that it knows nothing of the thread. */
  readonly isFresh: boolean;
  /** Whether the session began as a copy of that of another thread. */
  readonly isCopy: boolean;
  readonly capabilities: PromptCapabilities;
  readonly canSteer: boolean;
  /** What the user should know about how it was started. */
  readonly warnings: readonly string[];
  /** The selectors as they were when the session was opened. */
  readonly initial: Selectors;
  /** The ids of the selectors that were set for the user; all others are the agent's own choice. */
  readonly chosen = new Set<string>();
  readonly #connection: AcpConnection;
  #selectors: Selectors;

  private constructor(
    connection: AcpConnection,
    initialized: JsonObject,
    session: OpenedSession,
    warnings: readonly string[],
  ) {
    this.#connection = connection;
    this.sessionId = session.sessionId;
    this.isFresh = session.isFresh;
    this.isCopy = session.isCopy === true;
    this.warnings = [...warnings, ...session.warnings];
    this.initial = selectorsOf(session.response);
    this.#selectors = this.initial;
    const prompts = objectOf(objectOf(initialized.agentCapabilities).promptCapabilities);
    this.capabilities = { image: prompts.image === true };
    this.canSteer = objectOf(objectOf(initialized._meta).steering).supported === true;
  }

  /** Starts the program and opens its session. Rejects with a FlintError that says what to do. */
  static async start(start: AgentStart): Promise<AcpAgent> {
    const { options, handlers, signal } = start;
    const { process, program } = await startProcess(start);
    const { displayName } = options.profile;
    const connection = new AcpConnection({ ...options, displayName }, process, handlers);
    const stop = () => void connection.stop();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    // Whatever fails, the process does not stay.
    try {
      const handshake = new Handshake(connection, start, program);
      const initialized = await handshake.initialize();
      const { servers, warnings } = mcpServersFor(start.spec.mcpServers, initialized);
      const session = await handshake.open(initialized, servers);
      return new AcpAgent(connection, initialized, session, warnings);
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
    return this.#connection.request("session/prompt", { sessionId: this.sessionId, prompt });
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

  /** Sets a selector to a value. */
  async choose({ kind, option: { id, type } }: Selector, value: string, timeoutMs: number): Promise<void> {
    const { sessionId } = this;
    switch (kind) {
      case "option": {
        const typed = type === "boolean" ? { type, value: value === "true" } : { value };
        const params = { sessionId, configId: id, ...typed };
        const response = await this.#connection.request("session/set_config_option", params, timeoutMs);
        const { configOptions } = response;
        this.#selectors = withValue(this.#selectors, id, value);
        if (Array.isArray(configOptions)) this.#selectors = withOptions(this.#selectors, configOptions);
        return;
      }
      case "mode":
        await this.#connection.request("session/set_mode", { sessionId, modeId: value }, timeoutMs);
        break;
      case "model":
        await this.#connection.request("session/set_model", { sessionId, modelId: value }, timeoutMs);
        break;
    }
    this.#selectors = withValue(this.#selectors, id, value);
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
}
