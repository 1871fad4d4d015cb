import type { StopCause } from "../../command-line/exit-codes.ts";
import type { OutputLoss } from "../../command-line/standard-streams.ts";

/** The signals that end a turn. */
export type StopSignal = Exclude<StopCause, "SIGPIPE" | "outputFailed">;

/** A terminal that closes sends SIGHUP as well; which of the two comes first makes no difference. */
const LOSSES: Readonly<Record<OutputLoss, StopCause>> = {
  terminalClosed: "SIGHUP",
  readerGone: "SIGPIPE",
  unwritable: "outputFailed",
};

const SIGNALS: readonly StopSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** What a process does with signals; `process` is one. */
export interface SignalSource {
  on(signal: StopSignal, listener: () => void): unknown;
  off(signal: StopSignal, listener: () => void): unknown;
}

/** What to do when the user wants it to end. */
export interface InterruptHandlers {
  /** The first time: the turn is being stopped. */
  readonly interrupting: (signal: StopSignal) => void;
  /** Again: leave now, whatever goes on. */
  readonly leave: (signal: StopSignal) => void;
}

/** Ctrl-C and its like: once stops the turn in order, twice leaves at once. */
export class Interruption {
  readonly #controller = new AbortController();
  readonly #handlers: InterruptHandlers;
  readonly #listeners = new Map<StopSignal, () => void>();
  #cause: StopCause | undefined;
  #wasPressed = false;

  constructor(handlers: InterruptHandlers) {
    this.#handlers = handlers;
  }

  /** Aborts when the turn shall stop. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What came first, if something did. */
  get cause(): StopCause | undefined {
    return this.#cause;
  }

  /** Listens until it is told to stop listening. */
  listen(source: SignalSource): () => void {
    for (const signal of SIGNALS) {
      const listener = (): void => this.press(signal);
      this.#listeners.set(signal, listener);
      source.on(signal, listener);
    }
    return () => {
      for (const [signal, listener] of this.#listeners) source.off(signal, listener);
    };
  }

  /** One press of Ctrl-C, or a signal like it. */
  press(signal: StopSignal): void {
    // The signal of a terminal that closes comes besides the loss of the output, and is no second wish to leave.
    if (this.#wasPressed) {
      this.#handlers.leave(signal);
      return;
    }
    this.#wasPressed = true;
    this.#cause ??= signal;
    this.#handlers.interrupting(signal);
    this.#controller.abort(new Error(`Interrupted by ${signal}.`));
  }

  /** Stops the turn without a word: nobody gets its output any more. */
  loseOutput(loss: OutputLoss): void {
    this.#cause ??= LOSSES[loss];
    this.#controller.abort(new Error("Nobody gets the output any more."));
  }
}
