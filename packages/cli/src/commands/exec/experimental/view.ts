import type { AgentEvent } from "@flint/sdk";
import { visible } from "@flint/view";
import type { Outputs } from "../piped.ts";
import type { ExecView } from "../view.ts";
import { beforeLines, type LinesState, stepLines } from "./translate.ts";

/** The lines of `codex exec --experimental-json`; nothing else is on the answer's stream. */
export class CodexLinesView implements ExecView {
  readonly #outputs: Outputs;
  #state: LinesState;

  constructor(outputs: Outputs, answer: ((text: string) => string) | undefined) {
    this.#outputs = outputs;
    this.#state = beforeLines(answer);
  }

  show(event: AgentEvent): void {
    const { state, lines } = stepLines(this.#state, event);
    this.#state = state;
    for (const line of lines) this.#outputs.answer(`${JSON.stringify(line)}\n`);
  }

  say(text: string): void {
    this.#outputs.aside(`${visible(text)}\n`);
  }

  end(): void {}

  close(): void {}
}
