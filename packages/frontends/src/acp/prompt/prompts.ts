import { asFlintError, type UserInput } from "@flint/protocol";
import { idText } from "@flint/rpc";
import type { CoreCalls } from "../../shared/core-calls.ts";
import type { RequestContext } from "../../shared/frontend.ts";
import type { InitializedClient } from "../client-state.ts";
import type { AcpParams } from "../requests.ts";
import type { OpenSessions } from "../sessions/open-sessions.ts";
import type { AcpSession } from "../sessions/session.ts";
import type { SessionSettings } from "../sessions/settings.ts";
import { CommandRunner } from "./command-runner.ts";
import { commandIn } from "./commands.ts";
import { inputOf } from "./input.ts";
import { type InputCallbacks, sendInput } from "./pending-inputs.ts";
import { PromptRequest, respondAtEnd, respondOnInsert } from "./response.ts";

/** Dependencies for handling prompts. */
export interface PromptsOptions {
  readonly core: CoreCalls;
  readonly sessions: OpenSessions;
  readonly settings: SessionSettings;
  self(): InitializedClient;
}

/** Handles the prompts of one client, and their cancellation. */
export class Prompts {
  readonly #options: PromptsOptions;
  readonly #commands: CommandRunner;
  /** The prompts without a response, by request id. */
  readonly #requests = new Map<string, PromptRequest>();

  constructor(options: PromptsOptions) {
    this.#options = options;
    this.#commands = new CommandRunner(options.core, options.settings);
  }

  /** Handles `session/prompt`: starts a turn, or runs a command of Flint's own. */
  async prompt(params: AcpParams<"session/prompt">, { id, reply }: RequestContext): Promise<void> {
    const { sessionId, prompt } = params;
    const input = inputOf(prompt);
    const request = new PromptRequest(sessionId);
    const key = idText(id);
    // Registered before anything is awaited: the client may cancel at once.
    this.#requests.set(key, request);
    try {
      const { sessions } = this.#options;
      const session = await sessions.get(sessionId);
      sessions.recordUse(session);
      session.provideHost();
      await new Promise<void>((resolve, reject) => {
        const { acknowledgesPrompts } = this.#options.self().version;
        const respond = acknowledgesPrompts ? respondOnInsert : respondAtEnd;
        const callbacks = {
          ...respond({ session, request, reply, resolve, reject }),
          onSent: (cancel: () => Promise<void>) => request.sent(cancel),
          isCancelled: () => request.isCancelled,
        };
        this.#start(session, request, input, callbacks).catch(reject);
      });
    } finally {
      if (this.#requests.get(key) === request) this.#requests.delete(key);
    }
  }

  async #start(
    session: AcpSession,
    request: PromptRequest,
    input: readonly UserInput[],
    callbacks: InputCallbacks,
  ): Promise<void> {
    const [first] = input;
    const mayBeCommand = first?.type === "text" && first.text.trimStart().startsWith("/");
    const command = mayBeCommand ? commandIn(input, await this.#options.settings.agents()) : undefined;
    const whole = command === undefined ? await session.withEditorFiles(input) : input;
    if (request.isCancelled) callbacks.onEnd({ kind: "cancelled" });
    else if (command === undefined) sendInput(session, { input: [...whole] }, callbacks);
    else await this.#commands.run(session, command, callbacks);
  }

  /** Handles `session/cancel`: stops the prompts of this client, and any other turn of the session. */
  async cancel(sessionId: string): Promise<void> {
    for (const request of this.#requests.values())
      if (request.sessionId === sessionId) request.isCancelled = true;
    const session = this.#options.sessions.find(sessionId);
    if (session === undefined) return;
    await session.inputs.cancelAll();
    await session.interrupt().catch(() => undefined);
  }

  /** Handles `$/cancel_request` for a prompt: its turn is stopped. */
  async cancelRequest(key: string): Promise<void> {
    await this.#requests.get(key)?.withdraw();
  }

  /** Handles `_session/steering`: adds input to the running turn. The outcomes are those of the extension's authors. */
  async steer(params: AcpParams<"_session/steering">, { core, reply }: RequestContext): Promise<void> {
    const input = inputOf(params.prompt);
    const { id: threadId } = await this.#options.sessions.get(params.sessionId);
    // Expected: no turn is running, or its agent cannot be steered; the client then sends a prompt instead.
    try {
      await core.call("turn/steer", { threadId, input });
      reply({ outcome: "injected" });
    } catch (error) {
      const { kind, message } = asFlintError(error);
      if (kind !== "notRunning" && kind !== "unsupported") throw error;
      reply({ outcome: kind === "notRunning" ? "promptRequired" : "failed", message });
    }
  }
}
