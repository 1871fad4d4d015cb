import type { ContentBlock } from "@agentclientprotocol/sdk";
import { FlintError } from "@flint/protocol";
import { type Selector, type Selectors, selectorsOf, withOptions, withValue } from "../models.ts";
import type { PromptAbilities } from "../prompt.ts";
import { type JsonObject, objectOf, stringOf } from "../wire.ts";
import { AcpConnection } from "./connection.ts";
import { Handshake, mcpServersFor, type OpenedSession } from "./handshake.ts";
import { type AgentWish, startProcess } from "./launch.ts";

/** A process of an agent with one session in it. */
export class AcpAgent {
  readonly sessionId: string;
  /** Whether the session knows nothing of what was said before. */
  readonly isFresh: boolean;
  /** Whether the session began as a copy of one that knows what was said in another thread. */
  readonly isCopy: boolean;
  readonly abilities: PromptAbilities;
  readonly canSteer: boolean;
  /** What the user should know about how it was set up. */
  readonly notes: readonly string[];
  /** What was chosen when the session began. */
  readonly initial: Selectors;
  /** The ids of what was chosen for the user since; everything else is the agent's own choice. */
  readonly chosen = new Set<string>();
  readonly #connection: AcpConnection;
  #selectors: Selectors;

  private constructor(
    connection: AcpConnection,
    hello: JsonObject,
    session: OpenedSession,
    notes: readonly string[],
  ) {
    this.#connection = connection;
    this.sessionId = session.sessionId;
    this.isFresh = session.isFresh;
    this.isCopy = session.isCopy === true;
    this.notes = [...notes, ...session.notes];
    this.initial = selectorsOf(session.answer);
    this.#selectors = this.initial;
    const prompts = objectOf(objectOf(hello.agentCapabilities).promptCapabilities);
    this.abilities = { image: prompts.image === true };
    this.canSteer = objectOf(objectOf(hello._meta).steering).supported === true;
  }

  /** Starts the program and opens or takes up its session. Rejects with a FlintError that says what to do. */
  static async start(wish: AgentWish): Promise<AcpAgent> {
    const { options, services } = wish;
    const { process, program } = await startProcess(wish);
    const connection = new AcpConnection(
      { ...options, title: options.profile.displayName },
      process,
      services,
    );
    const stop = () => void connection.stop();
    wish.signal.addEventListener("abort", stop, { once: true });
    if (wish.signal.aborted) stop();
    // Whatever keeps the session from being there, the process is not left behind.
    try {
      const handshake = new Handshake(connection, wish, program);
      const hello = await handshake.greet();
      const { servers, notes } = mcpServersFor(wish.spec.mcpServers, hello);
      const session = await handshake.open(hello, servers);
      return new AcpAgent(connection, hello, session, notes);
    } catch (thrown) {
      const failure = thrown instanceof FlintError ? thrown : await connection.failure(thrown);
      await connection.stop();
      throw failure;
    } finally {
      wish.signal.removeEventListener("abort", stop);
    }
  }

  get selectors(): Selectors {
    return this.#selectors;
  }

  get closed(): Promise<unknown> {
    return this.#connection.closed;
  }

  /** Does one turn. Resolves with the agent's answer. */
  prompt(prompt: readonly ContentBlock[]): Promise<JsonObject> {
    return this.#connection.request("session/prompt", { sessionId: this.sessionId, prompt });
  }

  /** Asks it to stop the turn. */
  cancel(): void {
    this.#connection.notify("session/cancel", { sessionId: this.sessionId });
  }

  /** Gives input to the running turn. False if there was none to give it to. */
  async steer(prompt: readonly ContentBlock[], timeoutMs: number): Promise<boolean> {
    // Without this an idle agent would begin a turn that nobody follows.
    const _meta = { steering: { idleBehavior: "promptRequired" } };
    const params = { sessionId: this.sessionId, prompt, _meta };
    const { outcome } = await this.#connection.request("_session/steering", params, timeoutMs);
    return outcome === "injected" || outcome === "startedNewTurn";
  }

  /** Chooses a value. */
  async choose({ way, option: { id, type } }: Selector, value: string, timeoutMs: number): Promise<void> {
    const { sessionId } = this;
    if (way === "option") {
      const typed = type === "boolean" ? { type, value: value === "true" } : { value };
      const params = { sessionId, configId: id, ...typed };
      const { configOptions } = await this.#connection.request(
        "session/set_config_option",
        params,
        timeoutMs,
      );
      this.#selectors = withValue(this.#selectors, id, value);
      if (Array.isArray(configOptions)) this.#selectors = withOptions(this.#selectors, configOptions);
      return;
    }
    const params = way === "mode" ? { sessionId, modeId: value } : { sessionId, modelId: value };
    await this.#connection.request(
      way === "mode" ? "session/set_mode" : "session/set_model",
      params,
      timeoutMs,
    );
    this.#selectors = withValue(this.#selectors, id, value);
  }

  /** Takes note of what the agent says about its own choices. */
  noteChoices(update: JsonObject): void {
    if (update.sessionUpdate === "config_option_update")
      this.#selectors = withOptions(this.#selectors, update.configOptions);
    const mode = stringOf(update.currentModeId);
    if (mode !== undefined) this.#selectors = withValue(this.#selectors, "mode", mode);
  }

  /** What went wrong with a request, in words. */
  failure(thrown: unknown): Promise<FlintError> {
    return this.#connection.failure(thrown);
  }

  /** Ends the process and everything it started. */
  stop(): Promise<void> {
    return this.#connection.stop();
  }
}
