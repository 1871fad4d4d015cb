import { inputText, mintId, type UserInput } from "@flint/protocol";
import type { Client } from "../../shared/frontend.ts";
import { agentOf } from "../sessions/config-options.ts";
import type { AcpSession } from "../sessions/session.ts";
import type { SessionSettings } from "../sessions/settings.ts";
import type { Command } from "./commands.ts";
import { followUp, sendInput } from "./sent-input.ts";
import type { InputEnd, InputWatch } from "./turns.ts";

/** Flint's own commands, which a client sends as prompts. */
export class OwnCommands {
  readonly #client: Client;
  readonly #settings: SessionSettings;

  constructor(client: Client, settings: SessionSettings) {
    this.#client = client;
    this.#settings = settings;
  }

  /** Does what a command says. */
  async run(session: AcpSession, command: Command, watch: InputWatch): Promise<void> {
    switch (command.name) {
      case "agent":
        return this.#agent(session, command.agent, command.input, watch);
      case "duet":
        return this.#duet(session, command.agents, command.input, watch);
      case "model":
        return this.#chooseModel(session, command.argument, watch);
      case "mode":
        return this.#chooseMode(session, command.argument, watch);
      case "compact":
        return this.#compact(session, watch);
      case "review":
        return this.#review(session, command.argument, watch);
    }
  }

  async #agent(
    session: AcpSession,
    agent: string,
    input: readonly UserInput[],
    watch: InputWatch,
  ): Promise<void> {
    if (input.length === 0) return this.#chooseModel(session, agent, watch);
    sendInput(session, { input: [...input], model: agent }, watch);
  }

  /** The first agent does it; then the second looks at it with fresh eyes, and goes on. */
  async #duet(
    session: AcpSession,
    named: readonly string[],
    input: readonly UserInput[],
    watch: InputWatch,
  ): Promise<void> {
    const [first, second] = await this.#pair(session, named);
    if (input.length === 0 || first === undefined || second === undefined) {
      const problem =
        first === undefined || second === undefined ? "needs two agents" : "needs something to do";
      return spoken(session, watch, `/duet ${problem}: /duet [agent] [agent] what to do\n`);
    }
    const review = `Another agent has just worked on this request:\n\n${inputText(input)}\n\nLook at what it did. Correct what is wrong, do what is missing, and say what you changed.`;
    const onEnd = (end: InputEnd): void => {
      if (end.kind !== "turn" || end.turn.status !== "completed") {
        watch.onEnd(end);
        return;
      }
      const wishes = { input: [{ type: "text" as const, text: review }], model: second, isNudge: true };
      sendInput(session, wishes, followUp(watch));
    };
    sendInput(session, { input: [...input], model: first }, { ...watch, onEnd });
  }

  /** Those that were named, then the one at work, then the others. */
  async #pair(session: AcpSession, named: readonly string[]): Promise<readonly string[]> {
    const agents = await this.#settings.agents();
    const current = agentOf(session.settings?.model ?? "");
    return [...new Set([...named, current, ...agents])].filter((agent) => agents.includes(agent));
  }

  async #chooseModel(session: AcpSession, wanted: string, watch: InputWatch): Promise<void> {
    const settings = this.#settings;
    if (wanted === "") {
      const models = (await settings.models()).map(({ id }) => `- ${id}`);
      return spoken(session, watch, `The models are:\n${models.join("\n")}\n`);
    }
    await settings.setModel(session, wanted, () => undefined);
    spoken(session, watch, `${session.settings?.model ?? wanted} goes on from here.\n`);
  }

  async #chooseMode(session: AcpSession, wanted: string, watch: InputWatch): Promise<void> {
    const settings = this.#settings;
    if (wanted === "") {
      const { modes } = await settings.read(session);
      const lines = modes.availableModes.map(({ id, description }) => `- ${id}: ${description ?? ""}`);
      return spoken(session, watch, `The modes are:\n${lines.join("\n")}\nNow: ${modes.currentModeId}\n`);
    }
    await settings.setMode(session, wanted, () => undefined);
    spoken(session, watch, `The mode is ${wanted}.\n`);
  }

  async #compact(session: AcpSession, watch: InputWatch): Promise<void> {
    const client = this.#client;
    session.prompts.follow(
      (begun) =>
        client.core.call("thread/compact/start", { threadId: session.id }, ({ turn }) => begun(turn.id)),
      watch,
    );
  }

  async #review(session: AcpSession, instructions: string, watch: InputWatch): Promise<void> {
    const client = this.#client;
    const uncommitted = { type: "uncommittedChanges" } as const;
    const target = instructions === "" ? uncommitted : ({ type: "custom", instructions } as const);
    session.prompts.follow(
      (begun) =>
        client.core.call("review/start", { threadId: session.id, target, delivery: "inline" }, ({ turn }) =>
          begun(turn.id),
        ),
      watch,
    );
  }
}

/** Answers a prompt without a turn. */
function spoken(session: AcpSession, watch: InputWatch, text: string): void {
  watch.onInserted?.(mintId());
  session.works(true);
  session.say(text);
  session.works(false);
  watch.onEnd({ kind: "done" });
}
