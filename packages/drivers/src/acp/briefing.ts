import type { ContentBlock } from "@agentclientprotocol/sdk";
import type { SessionSpec, TurnContext } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import { historyText } from "../shared/history-text.ts";
import type { AcpAgent } from "./process/agent.ts";
import { promptBlocks, textBlock } from "./prompt.ts";

/** What agents call the command that sums up their context. */
const COMPACTING = ["compact", "compress", "summarize"];

/** What an agent is told at the beginning of a turn: what it does not know yet, and what the user wants. */
export class Briefing {
  readonly #spec: SessionSpec;
  #untold: "account" | "copied" | "history" | undefined;
  #isNew = false;

  constructor(spec: SessionSpec) {
    this.#spec = spec;
  }

  /** Notes that a process is there, and whether it was expected to remember something. */
  meet({ isFresh, isCopy }: AcpAgent, hadSession: boolean): void {
    this.#isNew = isFresh;
    if (isCopy) this.#untold = "copied";
    // Who was to go on with a session and could not knows nothing at all.
    this.#untold = isFresh && hadSession ? "history" : (this.#untold ?? "account");
  }

  /** The prompt of a turn. Rejects with a FlintError if the agent cannot do what the turn is for. */
  async prompt(
    turn: TurnContext,
    agent: AcpAgent,
    commands: readonly string[],
  ): Promise<readonly ContentBlock[]> {
    if (turn.kind === "compact") return [textBlock(compactCommand(commands))];
    const before = await this.#before(turn);
    const { developerInstructions, cwd } = turn.settings;
    const instructions =
      this.#isNew && developerInstructions !== undefined ? [textBlock(developerInstructions)] : [];
    const input = await promptBlocks(turn.input, cwd, agent.abilities);
    this.#untold = undefined;
    this.#isNew = false;
    return [...before, ...instructions, ...input, ...schemaBlocks(turn.outputSchema)];
  }

  async #before({ turnId }: TurnContext): Promise<ContentBlock[]> {
    if (this.#untold === undefined) return [];
    const text = await this.#textBefore(this.#untold, turnId);
    return text === "" ? [] : [textBlock(text)];
  }

  async #textBefore(untold: "account" | "copied" | "history", turnId: string): Promise<string> {
    switch (untold) {
      case "account":
        return this.#spec.handoffSummary();
      case "copied":
        return (await this.#spec.forkOf?.handoffSummary()) ?? "";
      case "history":
        return historyText((await this.#spec.history()).filter(({ id }) => id !== turnId));
    }
  }
}

function compactCommand(commands: readonly string[]): string {
  const known = COMPACTING.find((name) => commands.includes(name));
  if (known !== undefined) return `/${known}`;
  throw new FlintError(
    "unsupported",
    "This agent cannot be asked to sum up its context; it does so by itself.",
  );
}

function schemaBlocks(schema: TurnContext["outputSchema"]): ContentBlock[] {
  if (schema === undefined) return [];
  const text = `Answer with nothing but JSON that fits this schema:\n${JSON.stringify(schema)}`;
  return [textBlock(text)];
}
