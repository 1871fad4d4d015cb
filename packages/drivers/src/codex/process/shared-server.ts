import type { Clock, Sandbox } from "@flint/core/ports";
import { CodexServer, type CodexServerSpec } from "./server.ts";

/** How a server is started when there is none. */
export type StartServer = (sandbox: Sandbox) => Promise<CodexServerSpec>;

/** Gives up the use of the shared process. More than once does no harm. */
export type LetGo = () => void;

/**
 * The one process of Codex that all threads share: started when it is first needed, started anew after its death, and
 * ended a while after the last one let go of it.
 */
export class SharedServer {
  readonly #start: StartServer;
  readonly #clock: Clock;
  readonly #lingerMs: number;
  #current: Promise<CodexServer> | undefined;
  #users = 0;
  #stopLingering: () => void = () => {};

  constructor(start: StartServer, clock: Clock, lingerMs: number) {
    this.#start = start;
    this.#clock = clock;
    this.#lingerMs = lingerMs;
  }

  /** Keeps the process, once there is one, from being ended. */
  hold(): LetGo {
    this.#users += 1;
    this.#stopLingering();
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#users -= 1;
      if (this.#users === 0) this.#stopLingering = this.#clock.after(this.#lingerMs, () => void this.close());
    };
  }

  /** The process, started if need be. Whoever calls this holds it. */
  server(sandbox: Sandbox): Promise<CodexServer> {
    this.#current ??= this.#begin(sandbox);
    return this.#current;
  }

  /** The process that runs now, if any. */
  async running(): Promise<CodexServer | undefined> {
    const server = await this.#current?.catch(() => undefined);
    return server?.isRunning === true ? server : undefined;
  }

  /** Ends the process. The next one who needs it starts another. */
  async close(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    const server = await current?.catch(() => undefined);
    await server?.close();
  }

  #begin(sandbox: Sandbox): Promise<CodexServer> {
    const starting = this.#start(sandbox).then((spec) => CodexServer.start(spec));
    const forget = () => {
      if (this.#current === starting) this.#current = undefined;
    };
    starting.then((server) => server.ended.then(forget), forget);
    return starting;
  }
}
