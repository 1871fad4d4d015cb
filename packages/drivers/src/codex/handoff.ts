import type { SessionSpec } from "@flint/core/ports";
import type { CodexUserInput } from "@flint/protocol/codex";
import { historyText } from "../shared/history-text.ts";
import { textInput } from "./settings.ts";

/** What Codex is told of a thread in words: what other agents did, or all that happened if it has no memory of it. */
export class Account {
  readonly #spec: Pick<SessionSpec, "handoffSummary" | "history" | "forkOf">;
  #isTold = false;
  #isLost = false;
  #isCopy = false;

  constructor(spec: Pick<SessionSpec, "handoffSummary" | "history" | "forkOf">) {
    this.#spec = spec;
  }

  /** Codex begins with a copy of a thread that knows what was said. */
  copied(): void {
    this.#isCopy = true;
  }

  /** Codex begins anew, because it has no more what it had. */
  lost(): void {
    this.#isLost = true;
    this.#isTold = false;
    this.#isCopy = false;
  }

  /** Codex has taken it; it is not told again. */
  told(): void {
    this.#isTold = true;
  }

  /** What is still to be told, before what the user says now. */
  async input(turnId: string): Promise<CodexUserInput[]> {
    if (this.#isTold) return [];
    const known = (this.#isCopy ? this.#spec.forkOf : undefined) ?? this.#spec;
    const account = (await known.handoffSummary()) || (await this.#forgotten(turnId));
    if (account === "") return [];
    return [textInput(`What happened in this conversation before you joined it:\n\n${account}`)];
  }

  /** What was said in a thread that Codex had and has no more. The running turn may be in the history already. */
  async #forgotten(turnId: string): Promise<string> {
    if (!this.#isLost) return "";
    return historyText((await this.#spec.history()).filter(({ id }) => id !== turnId));
  }
}
