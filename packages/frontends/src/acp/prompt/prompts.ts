import { asFlintError, type UserInput } from "@flint/protocol";
import type { Client } from "../../shared/frontend.ts";
import { answerOf } from "../core.ts";
import type { AcpParams } from "../requests.ts";
import type { Sessions } from "../sessions/open-sessions.ts";
import type { AcpSession } from "../sessions/session.ts";
import { interrupt } from "../sessions/session-calls.ts";
import type { SessionSettings } from "../sessions/settings.ts";
import { OwnCommands } from "./command-runner.ts";
import { commandIn } from "./commands.ts";
import { inputOf } from "./input.ts";
import { atEnd, atOnce, PromptRequest } from "./response.ts";
import { sendInput } from "./sent-input.ts";
import type { InputWatch } from "./turns.ts";

type Reply = (answer: unknown) => void;

/** What prompting needs. */
export interface PromptingOptions {
  readonly client: Client;
  readonly sessions: Sessions;
  readonly settings: SessionSettings;
  /** Whether prompts are answered when their message stands in the conversation. */
  acknowledgesPrompts(): boolean;
}

/** Prompts of a client: each is answered when its turn has ended, after the last update of it. */
export class Prompting {
  readonly #options: PromptingOptions;
  readonly #commands: OwnCommands;
  /** The requests that are under way, by what the client calls them. */
  readonly #requests = new Map<string, PromptRequest>();

  constructor(options: PromptingOptions) {
    this.#options = options;
    this.#commands = new OwnCommands(options.client, options.settings);
  }

  /** Answers with the reason why the turn stopped, or, in the second version, when the message stands in the conversation. */
  async prompt({ sessionId, prompt }: AcpParams<"session/prompt">, reply: Reply, key: string): Promise<void> {
    const input = inputOf(prompt);
    const request = new PromptRequest(sessionId);
    // Before anything is waited for: the client may cancel in the same breath.
    this.#requests.set(key, request);
    try {
      const { sessions } = this.#options;
      const session = await sessions.get(sessionId);
      sessions.worksIn(session);
      await new Promise<void>((resolve, reject) => {
        const answering = { session, request, reply, resolve, reject };
        const watch = this.#options.acknowledgesPrompts() ? atOnce(answering) : atEnd(answering);
        const sent = { ...watch, onSent: (cancel: () => Promise<void>) => request.sent(cancel) };
        this.#start(session, request, input, sent).catch(reject);
      });
    } finally {
      if (this.#requests.get(key) === request) this.#requests.delete(key);
    }
  }

  /** Does what a prompt says: a command of Flint's own, or a turn. */
  async #start(
    session: AcpSession,
    request: PromptRequest,
    input: readonly UserInput[],
    watch: InputWatch,
  ): Promise<void> {
    const [first] = input;
    const isCommand = first?.type === "text" && first.text.trimStart().startsWith("/");
    const command = isCommand ? commandIn(input, await this.#options.settings.agents()) : undefined;
    const whole = command === undefined ? await session.withEditorFiles(input) : input;
    if (request.isCancelled) watch.onEnd({ kind: "cancelled" });
    else if (command === undefined) sendInput(session, { input: [...whole] }, watch);
    else await this.#commands.run(session, command, watch);
  }

  /** Stops the work of a session: this client's prompts, and whatever else runs there. */
  async cancel(sessionId: string): Promise<void> {
    for (const request of this.#requests.values())
      if (request.sessionId === sessionId) request.isCancelled = true;
    const session = this.#options.sessions.opened(sessionId);
    if (session === undefined) return;
    await session.prompts.cancelAll();
    await interrupt(this.#options.client, sessionId).catch(() => undefined);
  }

  /** The client does not wait for the answer to a prompt any more: its turn is stopped. */
  async cancelRequest(key: string): Promise<void> {
    await this.#requests.get(key)?.takeBack();
  }

  /** Gives input to the running turn; says how that went in the words of those who invented it. */
  async steer({ sessionId, prompt }: AcpParams<"_session/steering">, reply: Reply): Promise<void> {
    const input = inputOf(prompt);
    const { client, sessions } = this.#options;
    const { id: threadId } = await sessions.get(sessionId);
    // Expected: no turn runs, or its agent takes no input now; the client then sends a prompt instead.
    try {
      await answerOf(client, "turn/steer", { threadId, input });
      reply({ outcome: "injected" });
    } catch (error) {
      const { kind, message } = asFlintError(error);
      if (kind !== "notRunning" && kind !== "unsupported") throw error;
      reply({ outcome: kind === "notRunning" ? "promptRequired" : "failed", message });
    }
  }
}
