import type { Receiver, Transport } from "@flint/rpc";
import type { Call, ClientScript, Fields } from "../../../packages/frontends/src/testing/client-scripts.ts";

/** A client inside the process of the server that takes what it is sent at no cost: only answers are looked into. */
export class DrainingClient implements Transport {
  /** Resolves when the first turn has ended, as far as this front end reports it. */
  readonly turnEnded: Promise<void>;
  /** The number of characters that it was sent. */
  taken = 0;
  readonly #turnEnd: string;
  #onTurnEnd: () => void = () => {};
  #receiver: Receiver | undefined;
  #onAnswer: ((answer: Fields) => void) | undefined;
  #id = 0;

  constructor({ turnEnd }: Pick<ClientScript, "turnEnd">) {
    this.#turnEnd = turnEnd;
    this.turnEnded = new Promise((resolve) => {
      this.#onTurnEnd = resolve;
    });
  }

  /** Sends a request and resolves with its result. One at a time. */
  call(call: Call): Promise<Fields> {
    const answered = new Promise<Fields>((resolve) => {
      this.#onAnswer = resolve;
    });
    this.send(call);
    return answered;
  }

  /** Sends a request whose answer is not looked into. */
  send([method, params]: Call): void {
    this.#id += 1;
    this.#receiver?.chunk(`${JSON.stringify({ jsonrpc: "2.0", id: this.#id, method, params })}\n`);
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  write(text: string): boolean {
    this.taken += text.length;
    if (this.#onAnswer !== undefined) this.#lookFor(this.#onAnswer, text);
    if (text.includes(this.#turnEnd)) this.#onTurnEnd();
    return true;
  }

  onDrain(): void {
    // It never refuses.
  }

  pause(): void {
    // It sends only requests, one at a time.
  }

  resume(): void {
    // As above.
  }

  close(): void {
    // The process ends with the measurement.
  }

  #lookFor(onAnswer: (answer: Fields) => void, text: string): void {
    for (const line of text.split("\n")) {
      if (!line.includes(`"id":${this.#id},`)) continue;
      const { id, method, result } = JSON.parse(line);
      if (id !== this.#id || method !== undefined) continue;
      this.#onAnswer = undefined;
      onAnswer(result);
    }
  }
}
