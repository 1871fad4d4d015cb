import type { AgentEvent } from "@flint/sdk";
import { escapeControls } from "@flint/view";
import type { TurnView, ViewEnd } from "./turn-view.ts";

/** Where a view writes: what is asked for, and what is about it. */
export interface Outputs {
  readonly answer: (text: string) => void;
  readonly aside: (text: string) => void;
}

/** Every event as one line of JSON, in the order in which they came; nothing else is on the answer's stream. */
export class JsonView implements TurnView {
  readonly #outputs: Outputs;
  readonly #threadId: () => string | undefined;

  constructor(outputs: Outputs, threadId: () => string | undefined) {
    this.#outputs = outputs;
    this.#threadId = threadId;
  }

  show(event: AgentEvent): void {
    this.#outputs.answer(`${JSON.stringify(this.#told(event))}\n`);
  }

  say(text: string): void {
    this.#outputs.aside(`${escapeControls(text)}\n`);
  }

  end(): void {}

  close(): void {}

  #told(event: AgentEvent): object {
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

/** Only the last thing that the agent says, or what it was asked to answer as JSON. */
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
    if (status === "failed") this.say(`The turn failed: ${error ?? "the agent did not say why"}`);
    else if (status !== "completed") this.say(`The turn was ${status}.`);
  }

  close(): void {}
}

function asObject(params: unknown): object {
  return typeof params === "object" && params !== null ? params : { params };
}
