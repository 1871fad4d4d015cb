import type { FlintError, TurnError } from "@flint/protocol";
import { Latch } from "../async.ts";
import type { Clock, TurnOutcome } from "../ports/index.ts";
import { type Ending, failedStorage, SERVER_STOPPED } from "./closing.ts";

/** Time for which a driver may take to stop before its session is closed. */
const STOP_GRACE_MS = 3_000;

/** The party that can interrupt a turn: a client, or the server that stops. */
export type Interrupter = "interrupt" | "serverStopped";

/** Stops a turn before its driver is done. Remembers why, because that decides how the turn ends. */
export class TurnStop {
  readonly #abort = new AbortController();
  readonly #clock: Clock;
  readonly #onStop: () => void;
  readonly #stopped = new Latch();
  readonly #overdue = new Latch();
  readonly #finished = new Latch();
  #cancelGrace: (() => void) | undefined;
  #interruptedBy: Interrupter | undefined;
  #client: string | undefined;
  #storageFailure: FlintError | undefined;
  #reason: TurnError | undefined;

  /** `onStop` is called each time something stops the turn. */
  constructor(clock: Clock, onStop: () => void) {
    this.#clock = clock;
    this.#onStop = onStop;
  }

  /** Aborted when the turn is stopped. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Resolves when the turn is stopped. */
  get stopped(): Promise<true> {
    return this.#stopped.opened;
  }

  /** Resolves when the driver has not stopped in time. */
  get overdue(): Promise<true> {
    return this.#overdue.opened;
  }

  /** Resolves when the driver has finished, one way or another. */
  get finished(): Promise<true> {
    return this.#finished.opened;
  }

  /** Reports whether the turn is stopped or its driver has finished. */
  get hasEnded(): boolean {
    return this.#finished.isOpen || this.signal.aborted;
  }

  /** Reports whether reports of the driver still count: while a turn is being stopped, they do. */
  get acceptsReports(): boolean {
    return !this.#finished.isOpen && this.#storageFailure === undefined;
  }

  /** Stops the turn so that it ends as interrupted. The first one to interrupt it counts, with its name if it has one. */
  interrupt(by: Interrupter, client?: string): void {
    if (this.#interruptedBy === undefined) this.#client = client;
    this.#interruptedBy ??= by;
    this.#stop();
  }

  /** Stops the turn so that it fails with this error, unless it is ending already. */
  failWith(error: TurnError): void {
    if (this.hasEnded) return;
    this.#reason = error;
    this.#stop();
  }

  /** Stops the turn because its events cannot be stored. */
  failStorage(error: FlintError): void {
    this.#storageFailure ??= error;
    this.#stop();
  }

  /** Notes that the driver has finished. */
  finish(): void {
    this.#finished.open();
    this.#cancelGrace?.();
  }

  /**
   * Returns the ending of a turn with this outcome. If its driver reports a failure, `explained` completes
   * the error.
   */
  ending(outcome: TurnOutcome, explained: (error: TurnError) => TurnError): Ending {
    if (this.#storageFailure !== undefined) return failedStorage(this.#storageFailure);
    if (this.#interruptedBy !== undefined && outcome.status !== "completed") {
      const error = this.#interruptedBy === "serverStopped" ? SERVER_STOPPED : undefined;
      return { status: "interrupted", error, by: this.#interruptedBy, client: this.#client };
    }
    if (this.#reason !== undefined && outcome.status !== "completed")
      return { status: "failed", error: this.#reason, by: "turnEnded" };
    const error = outcome.status === "failed" ? explained(outcome.error) : undefined;
    return { status: outcome.status, error, by: "turnEnded" };
  }

  #stop(): void {
    this.#abort.abort();
    this.#stopped.open();
    this.#cancelGrace ??= this.#clock.after(STOP_GRACE_MS, () => this.#overdue.open());
    this.#onStop();
  }
}
