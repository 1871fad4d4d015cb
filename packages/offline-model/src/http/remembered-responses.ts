import { Given, GivenError } from "../intents/given.ts";
import type { ModelCall } from "./shape.ts";

type Item = Readonly<Record<string, unknown>>;

/** More of them would only be kept for callers that are long gone. */
const KEPT_RESPONSES = 200;

/** What was asked and answered before, for callers that refer to it instead of sending it again. */
export class RememberedResponses {
  /** By the id of the response: everything that was in front of it, and what it said. */
  readonly #conversations = new Map<string, readonly Item[]>();
  readonly #inputs = new WeakMap<ModelCall, readonly Item[]>();

  /** The whole conversation that a call means, with everything it refers to in its place. */
  resolve(input: readonly Given[], previous: Given): Given[] {
    const id = previous.optionalText();
    const before = id === undefined ? [] : this.#conversations.get(id);
    if (before === undefined) {
      throw new GivenError(
        `previous_response_id ${JSON.stringify(id)} is not known here. Send the conversation.`,
      );
    }
    const earlier = before.map((item) => new Given(item, "previous_response_id"));
    return [...earlier, ...input.map((item) => this.#referred(item))];
  }

  /** Ties what a call was asked to the call, until its answer is there. */
  begin(call: ModelCall, input: readonly Given[]): void {
    this.#inputs.set(
      call,
      input.map((item) => item.fields()),
    );
  }

  keep(id: string, call: ModelCall, output: readonly Item[]): void {
    this.#conversations.set(id, [...(this.#inputs.get(call) ?? []), ...output]);
    const [oldest] = this.#conversations.keys();
    if (this.#conversations.size > KEPT_RESPONSES && oldest !== undefined) this.#conversations.delete(oldest);
  }

  #referred(item: Given): Given {
    if (item.at("type").value !== "item_reference") return item;
    const id = item.at("id").text();
    for (const conversation of this.#conversations.values()) {
      const found = conversation.find((each) => each.id === id);
      if (found !== undefined) return new Given(found, item.place);
    }
    throw new GivenError(`${item.place} refers to ${JSON.stringify(id)}, which is not known here.`);
  }
}
