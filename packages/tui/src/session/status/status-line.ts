import {
  agentOfModel,
  type ThreadSettings,
  type ThreadState,
  totalTokens,
  type UsageLimit,
} from "@flint/protocol";
import type { AgentEvent } from "@flint/sdk";
import { escapeControls, money, shortFolder, tokens } from "@flint/view";
import type { CommandId, StatusPart } from "@flint/view/commands";
import { keyLabel } from "../../input/index.ts";
import type { SessionContext } from "../context.ts";
import type { OtherThreads } from "./other-threads.ts";

/** A longer name or goal would leave no room for the rest. */
const MAX_WORDS = 40;

/** The line below the composer, on the thread and on the others. */
export class StatusLine {
  parts: readonly StatusPart[];
  readonly #session: SessionContext;
  readonly #others: OtherThreads;
  #limits: readonly UsageLimit[] = [];

  constructor(session: SessionContext, others: OtherThreads, parts: readonly StatusPart[]) {
    this.#session = session;
    this.#others = others;
    this.parts = parts;
  }

  /** Its texts, in the order that the user chose; a part about which there is nothing to say is left out. */
  get texts(): readonly string[] {
    const { settings } = this.#session;
    if (settings === undefined) return [];
    return this.parts.flatMap((part) => this.#textsOf(part, settings)).filter((text) => text !== "");
  }

  /** Learns the limits of agents' accounts. */
  event(event: AgentEvent): void {
    if (event.type !== "account/limits") return;
    const { agent, limits } = event.data;
    this.#limits = [...this.#limits.filter((limit) => limit.agent !== agent), ...limits];
  }

  /** Asks the server for what is shown and not part of the thread. */
  async load(): Promise<void> {
    if (!this.parts.includes("limits")) return;
    this.#limits = (await this.#session.client.call("account/limits/read", {})).data;
    this.#session.changed();
  }

  #textsOf(part: StatusPart, settings: ThreadSettings): readonly string[] {
    const { state, machine } = this.#session;
    switch (part) {
      case "threads":
        return this.#otherThreads();
      case "agent":
        return [escapeControls(agentOfModel(settings.model))];
      case "model":
        return [escapeControls(settings.model)];
      case "permissions":
        return [this.#session.describePermissions(settings)];
      case "folder":
        return [escapeControls(shortFolder(settings.cwd, machine.home))];
      case "branch":
        return [escapeControls(machine.branchOf(settings.cwd) ?? "")];
      case "name":
        return [words(state?.thread.name ?? state?.thread.preview ?? "")];
      case "goal":
        return state?.goal === undefined ? [] : [`goal: ${words(state.goal.objective)}`];
      case "context":
        return contextShare(state);
      case "tokens":
        return state === undefined || totalTokens(state.usage) === 0
          ? []
          : [tokens(totalTokens(state.usage))];
      case "cost":
        return state?.cost === undefined ? [] : [money(state.cost)];
      case "limits":
        return this.#limitTexts(agentOfModel(settings.model));
      case "help":
        return [`${this.#key("showHelp") ?? "/help"} for help`];
    }
  }

  #otherThreads(): readonly string[] {
    const waiting = this.#others.count("waiting");
    const rest = (["failed", "running"] as const).flatMap((standing) => {
      const count = this.#others.count(standing);
      return count === 0 ? [] : [`${count} ${standing}`];
    });
    const threads = waiting === 1 ? "1 thread" : `${waiting} threads`;
    return [
      ...(waiting === 0 ? [] : [`${threads} waiting for you (${this.#key("showInbox") ?? "/inbox"})`]),
      ...(rest.length === 0 ? [] : [`elsewhere ${rest.join(", ")} (${this.#key("nextThread") ?? "/next"})`]),
    ];
  }

  #limitTexts(agent: string): readonly string[] {
    return this.#limits
      .filter((limit) => limit.agent === agent && limit.usedPercent !== undefined)
      .map(({ window, usedPercent = 0 }) => `${escapeControls(window)}: ${Math.round(usedPercent)} %`);
  }

  #key(id: CommandId): string | undefined {
    const [chord] = this.#session.keymap.keys[id];
    return chord === undefined ? undefined : keyLabel(chord, this.#session.look.unicode);
  }
}

function words(text: string): string {
  const line = escapeControls(text).replaceAll(/\s+/g, " ").trim();
  return line.length > MAX_WORDS ? `${line.slice(0, MAX_WORDS).trimEnd()}...` : line;
}

function contextShare(state: ThreadState | undefined): readonly string[] {
  if (state?.modelContextWindow === undefined) return [];
  const share = (100 * totalTokens(state.lastUsage)) / state.modelContextWindow;
  return share < 1 ? [] : [`${Math.min(100, Math.round(share))} % of the context`];
}
