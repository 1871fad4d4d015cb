import type { Receiver, Transport } from "@flint/rpc";

const TURN_END = '"method":"turn/completed"';

/** A client inside the process of the server that takes what it is sent at no cost: only answers are looked into. */
export class DrainingClient implements Transport {
  /** Resolves when the first turn has ended. */
  readonly turnEnded: Promise<void>;
  #onTurnEnd: () => void = () => {};
  #receiver: Receiver | undefined;
  #onAnswer: (line: string) => void = () => {};

  constructor() {
    this.turnEnded = new Promise((resolve) => {
      this.#onTurnEnd = resolve;
    });
  }

  /** Sends a request and resolves with its result. One at a time. */
  call(method: string, params: object): Promise<unknown> {
    const answered = new Promise<unknown>((resolve) => {
      this.#onAnswer = (line) => resolve(JSON.parse(line).result);
    });
    this.#receiver?.chunk(`${JSON.stringify({ id: 1, method, params })}\n`);
    return answered;
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  write(text: string): boolean {
    if (text.startsWith('{"id":1')) this.#onAnswer(text.slice(0, text.indexOf("\n")));
    if (text.includes(TURN_END)) this.#onTurnEnd();
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
}
