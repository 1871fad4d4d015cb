import { describeGoal, inputText, mintId, type UserInput } from "@flint/protocol";
import type { CoreCalls } from "../../shared/core-calls.ts";
import { agentOf } from "../sessions/config-options.ts";
import type { AcpSession } from "../sessions/session.ts";
import type { SessionSettings } from "../sessions/settings.ts";
import type { Command } from "./commands.ts";
import { followUp, type InputCallbacks, type InputResult, sendInput } from "./pending-inputs.ts";

/** Runs Flint's own commands, which clients send as prompts. */
export class CommandRunner {
  readonly #core: CoreCalls;
  readonly #settings: SessionSettings;

  constructor(core: CoreCalls, settings: SessionSettings) {
    this.#core = core;
    this.#settings = settings;
  }

  /** Runs a command. Rejects if it cannot be started. */
  async run(session: AcpSession, command: Command, callbacks: InputCallbacks): Promise<void> {
    switch (command.name) {
      case "agent":
        return this.#agent(session, command.agent, command.input, callbacks);
      case "duet":
        return this.#duet(session, command.agents, command.input, callbacks);
      case "model":
        return this.#model(session, command.argument, callbacks);
      case "mode":
        return this.#mode(session, command.argument, callbacks);
      case "compact":
        return this.#compact(session, callbacks);
      case "review":
        return this.#review(session, command.argument, callbacks);
      case "goal":
        return this.#goal(session, command.argument, callbacks);
      case "ps":
        return this.#listBackground(session, callbacks);
      case "stop":
        return this.#stopBackground(session, command.argument, callbacks);
    }
  }

  async #agent(
    session: AcpSession,
    agent: string,
    input: readonly UserInput[],
    callbacks: InputCallbacks,
  ): Promise<void> {
    if (input.length === 0) return this.#model(session, agent, callbacks);
    sendInput(session, { input: [...input], model: agent }, callbacks);
  }

  /** The first agent works on the task; the second reviews the result and improves it. */
  async #duet(
    session: AcpSession,
    named: readonly string[],
    input: readonly UserInput[],
    callbacks: InputCallbacks,
  ): Promise<void> {
    const [first, second] = await this.#pair(session, named);
    if (input.length === 0 || first === undefined || second === undefined) {
      const problem = first === undefined || second === undefined ? "needs two agents" : "needs a task";
      return respond(session, callbacks, `/duet ${problem}: /duet [agent] [agent] task\n`);
    }
    const review = `Another agent has just worked on this request:\n\n${inputText(input)}\n\nReview what it did. Correct what is wrong, add what is missing, and say what you changed.`;
    const onEnd = (result: InputResult): void => {
      if (result.kind !== "turn" || result.turn.status !== "completed") {
        callbacks.onEnd(result);
        return;
      }
      const next = { input: [{ type: "text" as const, text: review }], model: second, isSynthetic: true };
      sendInput(session, next, followUp(callbacks));
    };
    sendInput(session, { input: [...input], model: first }, { ...callbacks, onEnd });
  }

  /** The named agents first, then the current one, then all others. */
  async #pair(session: AcpSession, named: readonly string[]): Promise<readonly string[]> {
    const agents = await this.#settings.agents();
    const current = agentOf(session.settings?.model ?? "");
    return [...new Set([...named, current, ...agents])].filter((agent) => agents.includes(agent));
  }

  async #model(session: AcpSession, model: string, callbacks: InputCallbacks): Promise<void> {
    const settings = this.#settings;
    if (model === "") {
      const models = (await settings.models()).map(({ id }) => `- ${id}`);
      return respond(session, callbacks, `Models:\n${models.join("\n")}\n`);
    }
    await settings.setModel(session, model, () => undefined);
    respond(session, callbacks, `The model is now ${session.settings?.model ?? model}.\n`);
  }

  async #mode(session: AcpSession, mode: string, callbacks: InputCallbacks): Promise<void> {
    const settings = this.#settings;
    if (mode === "") {
      const { modes } = await settings.read(session);
      const lines = modes.availableModes.map(({ id, description }) => `- ${id}: ${description ?? ""}`);
      return respond(
        session,
        callbacks,
        `Modes:\n${lines.join("\n")}\nThe mode is ${modes.currentModeId}.\n`,
      );
    }
    await settings.setMode(session, mode, () => undefined);
    respond(session, callbacks, `The mode is now ${mode}.\n`);
  }

  async #compact(session: AcpSession, callbacks: InputCallbacks): Promise<void> {
    const params = { threadId: session.id };
    session.inputs.track(
      (started) => this.#core.call("thread/compact/start", params, ({ turn }) => started(turn.id)),
      callbacks,
    );
  }

  async #review(session: AcpSession, instructions: string, callbacks: InputCallbacks): Promise<void> {
    const uncommitted = { type: "uncommittedChanges" } as const;
    const target = instructions === "" ? uncommitted : ({ type: "custom", instructions } as const);
    const params = { threadId: session.id, target, delivery: "inline" } as const;
    session.inputs.track(
      (started) => this.#core.call("review/start", params, ({ turn }) => started(turn.id)),
      callbacks,
    );
  }

  /** Sets the goal and begins with it; the turns that follow are shown like any other. */
  async #goal(session: AcpSession, text: string, callbacks: InputCallbacks): Promise<void> {
    const threadId = session.id;
    if (text === "clear") {
      await this.#core.call("thread/goal/clear", { threadId });
      return respond(session, callbacks, "The goal is cleared.\n");
    }
    if (text === "" || text === "show") {
      const { goal } = await this.#core.call("thread/goal/get", { threadId });
      return respond(session, callbacks, goal === null ? NO_GOAL : `${describeGoal(goal)}\n`);
    }
    await this.#core.call("thread/goal/set", { threadId, objective: text, pursue: {} });
    sendInput(session, { input: [{ type: "text", text }] }, callbacks);
  }

  async #listBackground(session: AcpSession, callbacks: InputCallbacks): Promise<void> {
    const { data } = await this.#core.call("thread/backgroundCommands/list", { threadId: session.id });
    const lines = data.map(({ processId, command }) => `- ${processId}: \`${command}\``);
    const text = lines.length === 0 ? NOTHING_RUNS : `In the background:\n${lines.join("\n")}\n`;
    respond(session, callbacks, text);
  }

  async #stopBackground(session: AcpSession, processId: string, callbacks: InputCallbacks): Promise<void> {
    const chosen = processId === "" ? {} : { processId };
    const params = { threadId: session.id, ...chosen };
    const { stopped } = await this.#core.call("thread/backgroundCommands/stop", params);
    const isUnknown = stopped.length === 0 && processId !== "";
    const none = isUnknown
      ? `No background command ${processId} is running. /ps lists them.\n`
      : NOTHING_RUNS;
    respond(session, callbacks, stopped.length === 0 ? none : `Stopped ${stopped.join(", ")}.\n`);
  }
}

const NO_GOAL = "No goal. /goal TEXT sets one.\n";

const NOTHING_RUNS = "No background commands are running.\n";

/** Answers a prompt with a message, without a turn. */
function respond(session: AcpSession, callbacks: InputCallbacks, text: string): void {
  callbacks.onInserted?.(mintId());
  session.setBusy(true);
  session.sendMessage(text);
  session.setBusy(false);
  callbacks.onEnd({ kind: "done" });
}
