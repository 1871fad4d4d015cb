import type { Clock, Sandbox } from "@flint/core/ports";
import { NO_WALL, type Wall, wallKey } from "./sandbox.ts";
import type { CodexServer, CodexServerSpec } from "./server.ts";
import { SharedServer } from "./shared-server.ts";

/** How a process is started where there is none. */
export type StartBehind = (sandbox: Sandbox, wall: Wall) => Promise<CodexServerSpec>;

/**
 * The processes of Codex: one for all threads that may write the same places. Each is confined as a whole, so that a
 * command which Codex runs outside of its own sandbox gets no further than the thread's policy.
 */
export class CodexServers {
  readonly #start: StartBehind;
  readonly #clock: Clock;
  readonly #lingerMs: number;
  readonly #servers = new Map<string, SharedServer>();
  #latest: Wall = NO_WALL;

  constructor(start: StartBehind, clock: Clock, lingerMs: number) {
    this.#start = start;
    this.#clock = clock;
    this.#lingerMs = lingerMs;
  }

  /** The one for threads behind this wall; not started by this. */
  behind(wall: Wall): SharedServer {
    const key = wallKey(wall);
    const known = this.#servers.get(key);
    this.#latest = wall;
    if (known !== undefined) return known;
    const made = new SharedServer((sandbox) => this.#start(sandbox, wall), this.#clock, this.#lingerMs);
    this.#servers.set(key, made);
    return made;
  }

  /** One that can be asked what is no thread's matter: one that runs, else the one that is needed next. */
  async forQuestions(): Promise<SharedServer> {
    for (const shared of this.#servers.values()) if ((await shared.running()) !== undefined) return shared;
    return this.behind(this.#latest);
  }

  /** A process that runs now, if any. */
  async running(): Promise<CodexServer | undefined> {
    return (await this.forQuestions()).running();
  }

  /** Ends all of them. Whoever needs one starts another. */
  async close(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((shared) => shared.close()));
  }
}
