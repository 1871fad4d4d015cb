import type { AgentEvent } from "@flint/sdk";
import { escapeControls } from "@flint/view";
import type { TurnView, ViewEnd } from "./turn-view.ts";

/** The streams of a view: the answer on stdout, messages about it on stderr. */
export interface Outputs {
  readonly answer: (text: string) => void;
  readonly aside: (text: string) => void;
}

/** Prints every event as a line of JSON, in order; stdout has nothing else. */
export class JsonView implements TurnView {
  readonly #outputs: Outputs;
  readonly #threadId: () => string | undefined;

  constructor(outputs: Outputs, threadId: () => string | undefined) {
    this.#outputs = outputs;
    this.#threadId = threadId;
  }

  show(event: AgentEvent): void {
    this.#outputs.answer(`${JSON.stringify(this.#record(event))}\n`);
  }

  say(text: string): void {
    this.#outputs.aside(`${escapeControls(text)}\n`);
  }

  end(): void {}

  close(): void {}

  #record(event: AgentEvent): object {
    const threadId = this.#threadId();
    if (event.type === "unknown") return { type: event.method, threadId, ...asObject(event.params) };
    const { type, data, seq, at } = event;
    return {
      type,
      threadId,
      ...data,
      ...(seq === undefined ? {} : { seq }),
      ...(at === undefined ? {} : { at }),
    };
  }
}

/** Prints only the agent's last message, or the JSON that it was asked for. */
export class AnswerView implements TurnView {
  readonly #outputs: Outputs;
  readonly #render: (text: string) => string;

  constructor(outputs: Outputs, render: (text: string) => string = escapeControls) {
    this.#outputs = outputs;
    this.#render = render;
  }

  show(event: AgentEvent): void {
    if (event.type === "warning") this.say(`warning: ${event.data.message}`);
  }

  say(text: string): void {
    this.#outputs.aside(`${escapeControls(text)}\n`);
  }

  end({ status, error, text }: ViewEnd): void {
    if (text !== "") this.#outputs.answer(`${this.#render(text).replace(/\n+$/, "")}\n`);
    if (status === "failed") this.say(`The turn failed: ${error ?? "the agent gave no reason"}`);
    else if (status !== "completed") this.say(`The turn was ${status}.`);
  }

  close(): void {}
}

function asObject(params: unknown): object {
  return typeof params === "object" && params !== null ? params : { params };
}
