import type { UserInput } from "@flint/protocol";
import { KeepAlive, Latch } from "../async.ts";
import type { DriverSession } from "../ports/index.ts";
import { agentFailed } from "./closing.ts";
import type { TurnStop } from "./stop.ts";

/** Sends further input to the agent of a running turn, and keeps the turn from ending meanwhile. */
export class TurnSteering {
  readonly #stop: TurnStop;
  /** Opens when the driver starts the turn. */
  readonly #begun = new Latch();
  readonly #steers = new KeepAlive();
  #session: DriverSession | undefined;

  constructor(stop: TurnStop) {
    this.#stop = stop;
  }

  /** The driver has started the turn. */
  begin(session: DriverSession): void {
    this.#session = session;
    this.#begun.open();
  }

  /**
   * Sends input to the agent, as soon as it has started. Undefined if it accepts none. Otherwise the turn does not end
   * until the returned function is called, so that the input can be stored as a part of it.
   */
  async steer(input: readonly UserInput[]): Promise<(() => void) | undefined> {
    await Promise.race([this.#begun.opened, this.#stop.stopped, this.#stop.finished]);
    const session = this.#session;
    if (session?.steer === undefined || this.#stop.hasEnded) return undefined;
    const release = this.#steers.acquire();
    const tooLate = this.#stop.finished.then(() => false);
    try {
      if (await Promise.race([session.steer(input), tooLate])) return release;
    } catch (error) {
      release();
      throw agentFailed(error);
    }
    release();
    return undefined;
  }

  /** Reports whether the running agent accepted a text. Never rejects. */
  async steerText(text: string): Promise<boolean> {
    // Expected: the agent has just ended.
    const release = await this.steer([{ type: "text", text }]).catch(() => undefined);
    release?.();
    return release !== undefined;
  }

  /** Resolves once no input is being stored any more. */
  released(): Promise<void> {
    return this.#steers.released();
  }
}
