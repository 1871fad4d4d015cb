import type { SessionSpec } from "@flint/core/ports";
import type { CodexUserInput } from "@flint/protocol/codex";
import { historyText } from "../shared/history-text.ts";
import { textInput } from "./settings.ts";

type HandoffSpec = Pick<SessionSpec, "handoffSummary" | "history" | "forkOf">;

/** What Codex's own thread lacks, as input before the next prompt: the turns of other agents, or all of them. */
export class Handoff {
  readonly #spec: HandoffSpec;
  #isSent = false;
  #isLost = false;
  #isCopy = false;

  constructor(spec: HandoffSpec) {
    this.#spec = spec;
  }

  /** Codex begins with a copy of a thread, which has what was said there. */
  copied(): void {
    this.#isCopy = true;
  }

  /** Codex begins a new thread, because it no longer has the old one. */
  lost(): void {
    this.#isLost = true;
    this.#isSent = false;
    this.#isCopy = false;
  }

  /** Codex has accepted the input. */
  sent(): void {
    this.#isSent = true;
  }

  /** The input that was not sent yet. */
  async input(turnId: string): Promise<CodexUserInput[]> {
    if (this.#isSent) return [];
    const source = (this.#isCopy ? this.#spec.forkOf : undefined) ?? this.#spec;
    const summary = (await source.handoffSummary()) || (await this.#lostHistory(turnId));
    if (summary === "") return [];
    return [textInput(`What happened in this conversation before you joined it:\n\n${summary}`)];
  }

  /** The history of a thread that Codex had and has no longer. The running turn may already be part of it. */
  async #lostHistory(turnId: string): Promise<string> {
    if (!this.#isLost) return "";
    return historyText((await this.#spec.history()).filter(({ id }) => id !== turnId));
  }
}
