import type { DriverSession, SessionSpec, TurnContext, TurnOutcome } from "@flint/core/ports";
import { type CleanUp, ProcessGuard } from "@flint/testkit";
import { afterAll, beforeAll, onTestFailed } from "vitest";
import {
  type ClaudeFixture,
  type FixtureFolders,
  type FixtureOptions,
  makeRealClaude,
} from "./claude-fixture.ts";

/** Start options of the process that tests share. */
export interface SharedOptions {
  /** Called once, before any process is started. */
  prepare?(folders: FixtureFolders): Promise<void>;
  /** Called once as well. */
  spec?(): Promise<Partial<SessionSpec>>;
}

/**
 * One session of the real Claude for the tests of a `describe`, because it takes long to start; closed with that
 * `describe`. A session that a test closed, in which a turn was rejected, or whose test failed is replaced by the next test.
 */
export class SharedClaude {
  readonly #options: SharedOptions;
  readonly #cleanUps: CleanUp[] = [];
  #guard: ProcessGuard | undefined;
  #made: ClaudeFixture | undefined;
  #spec: Partial<SessionSpec> = {};
  #session: DriverSession | undefined;

  constructor(options: SharedOptions = {}) {
    this.#options = options;
    // Not in the first test, with which its folders would go.
    beforeAll(() => this.#make());
    afterAll(() => this.#close());
  }

  /** The fixture for the running test. Sessions that it opens with a spec are its own. */
  async fixture(options: Pick<FixtureOptions, "script" | "settings"> = {}): Promise<ClaudeFixture> {
    onTestFailed(() => this.#drop());
    const made = this.#made;
    if (made === undefined)
      throw new Error("SharedClaude has to be made in a `describe`, outside of its tests.");
    const fixture: ClaudeFixture = await made.forTest(options, () => this.#open(fixture));
    return fixture;
  }

  async #make(): Promise<void> {
    this.#guard = new ProcessGuard();
    const made = await makeRealClaude((cleanUp) => this.#cleanUps.push(cleanUp));
    this.#made = made;
    await this.#options.prepare?.(made);
    this.#spec = (await this.#options.spec?.()) ?? {};
  }

  async #open(fixture: ClaudeFixture): Promise<DriverSession> {
    this.#session ??= await fixture.openKept(this.#spec);
    const session = this.#session;
    return {
      run: (turn) => this.#run(session, turn),
      steer: async (input) => (await session.steer?.(input)) ?? false,
      close: async () => {
        if (this.#session === session) this.#session = undefined;
        await session.close();
      },
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

  /** Rejects if a process is left. */
  async #close(): Promise<void> {
    await this.#drop();
    for (const cleanUp of this.#cleanUps.toReversed()) await cleanUp();
    await this.#guard?.release();
  }
}
