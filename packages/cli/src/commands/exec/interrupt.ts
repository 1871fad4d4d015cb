import type { StopCause } from "../../command-line/exit-codes.ts";
import type { OutputFailure } from "../../command-line/output.ts";

/** The signals that end a turn. */
export type StopSignal = Exclude<StopCause, "SIGPIPE" | "outputFailed">;

/** A closing terminal also sends SIGHUP; which of the two comes first makes no difference. */
const LOSSES: Readonly<Record<OutputFailure, StopCause>> = {
  terminalClosed: "SIGHUP",
  readerGone: "SIGPIPE",
  unwritable: "outputFailed",
};

const SIGNALS: readonly StopSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** Emits signals, as `process` does. */
export interface SignalSource {
  on(signal: StopSignal, listener: () => void): unknown;
  off(signal: StopSignal, listener: () => void): unknown;
}

/** Handlers for interruptions by the user. */
export interface InterruptHandlers {
  /** The first time: the turn is being interrupted. */
  readonly interrupting: (signal: StopSignal) => void;
  /** The second time: exit at once. */
  readonly exitNow: (signal: StopSignal) => void;
}

/** Ctrl-C and termination signals: the first interrupts the turn, the second exits at once. */
export class Interruption {
  readonly #controller = new AbortController();
  readonly #handlers: InterruptHandlers;
  readonly #listeners = new Map<StopSignal, () => void>();
  #cause: StopCause | undefined;
  #wasPressed = false;

  constructor(handlers: InterruptHandlers) {
    this.#handlers = handlers;
  }

  /** Aborts when the turn must stop. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The first cause of the turn's end, if there was one. */
  get cause(): StopCause | undefined {
    return this.#cause;
  }

  /** Listens for signals. Returns a function that stops listening. */
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

  /** Handles Ctrl-C or a signal. */
  press(signal: StopSignal): void {
    // The SIGHUP of a closing terminal arrives besides the loss of output and is not a second interrupt.
    if (this.#wasPressed) {
      this.#handlers.exitNow(signal);
      return;
    }
    this.#wasPressed = true;
    this.#cause ??= signal;
    this.#handlers.interrupting(signal);
    this.#controller.abort(new Error(`Interrupted by ${signal}.`));
  }

  /** Stops the turn silently: its output can no longer be written. */
  loseOutput(loss: OutputFailure): void {
    this.#cause ??= LOSSES[loss];
    this.#controller.abort(new Error("The output can no longer be written."));
  }
}
