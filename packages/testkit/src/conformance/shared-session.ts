import type { DriverSession, TurnContext, TurnOutcome } from "@flint/core/ports";
import { onTestFailed } from "vitest";
import { ProcessGuard } from "../processes.ts";
import { type MakeDriver, open } from "./driver-trial.ts";
import type { CleanUp, DriverUnderTest } from "./driver-under-test.ts";

/**
 * One driver with one session for several checks, because real agents take long to start. A session that a check closed,
 * in which a turn was rejected, or whose check failed is replaced by the next check.
 */
export class SharedSession {
  readonly #make: MakeDriver;
  readonly #cleanUps: CleanUp[] = [];
  #guard: ProcessGuard | undefined;
  #under: DriverUnderTest | undefined;
  #session: DriverSession | undefined;

  constructor(make: MakeDriver) {
    this.#make = make;
  }

  /** Makes the driver; before the first check. */
  async start(): Promise<void> {
    this.#guard = new ProcessGuard();
    this.#under = await this.#make((cleanUp) => this.#cleanUps.push(cleanUp));
  }

  /** The driver for one check, with nothing left of what the last one did to its workspace. */
  async arrange(): Promise<DriverUnderTest> {
    const under = this.#under;
    if (under?.undo === undefined) throw new Error("Checks that share a session need `undo` of the driver.");
    onTestFailed(() => this.#drop());
    await under.undo();
    return { ...under, openSession: () => this.#open(under) };
  }

  /** Closes everything; rejects if a process is left. */
  async close(): Promise<void> {
    await this.#drop();
    for (const cleanUp of this.#cleanUps.reverse()) await cleanUp();
    await this.#guard?.release();
  }

  async #open(under: DriverUnderTest): Promise<DriverSession> {
    this.#session ??= await open(under, { closesWithTest: false });
    const session = this.#session;
    return {
      run: (turn) => this.#run(session, turn),
      close: () => this.#drop(),
      ...(session.steer === undefined ? {} : { steer: session.steer.bind(session) }),
    };
  }

  /** As in the core, a rejection costs the session. */
  async #run(session: DriverSession, turn: TurnContext): Promise<TurnOutcome> {
    try {
      return await session.run(turn);
    } catch (thrown) {
      await this.#drop();
      throw thrown;
    }
  }

  async #drop(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    await session?.close();
  }
}
