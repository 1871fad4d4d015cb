import type { LaunchResult } from "@flint/core/ports";

/** How many commands may run in the background of one thread. */
export const MAX_COMMANDS = 8;

/** How many that ended are remembered, so that their output can still be asked for. */
const MOST_ENDED = 16;

/** What is kept of the output that nobody has asked for yet. */
const KEPT_CHARACTERS = 262_144;

/** Starts a command; given the signal that ends it and where its output goes. */
export type Launch = (signal: AbortSignal, output: (text: string) => void) => Promise<LaunchResult>;

/** A command that goes on while the agent does other things. */
export class BackgroundCommand {
  readonly id: string;
  readonly command: string;
  readonly turnId: string;
  /** Settles when nothing of it is left; gives why it could not be started, if so. */
  readonly ended: Promise<LaunchResult | Error>;
  readonly #stopping = new AbortController();
  readonly #waiting = new Set<() => void>();
  #unseen = "";
  #omitted = 0;
  #ending: LaunchResult | Error | undefined;

  constructor(id: string, command: string, turnId: string, launch: Launch) {
    this.id = id;
    this.command = command;
    this.turnId = turnId;
    const launched = launch(this.#stopping.signal, (text) => this.#take(text));
    this.ended = launched.catch(asError).then((ending) => this.#end(ending));
  }

  /** How it ended; undefined while it runs. */
  get ending(): LaunchResult | Error | undefined {
    return this.#ending;
  }

  /** The output since the last time it was asked for. What was too much is counted. */
  takeOutput(): string {
    const missing = this.#omitted === 0 ? "" : `… ${this.#omitted} characters left out …\n`;
    const text = missing + this.#unseen;
    this.#unseen = "";
    this.#omitted = 0;
    return text;
  }

  /** Waits until there is output or an end, but no longer than this. */
  async waitForOutput(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (this.#unseen === "") await this.#wait(milliseconds, signal, true);
  }

  /** Waits for the end, but no longer than this. */
  async waitForEnd(milliseconds: number, signal: AbortSignal): Promise<void> {
    await this.#wait(milliseconds, signal, false);
  }

  /** Ends it and all it started. Resolves when nothing of it is left. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.ended;
  }

  #wait(milliseconds: number, signal: AbortSignal, forOutput: boolean): Promise<void> {
    if (this.#ending !== undefined || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      const timer = setTimeout(wake, milliseconds);
      signal.addEventListener("abort", wake, { once: true });
      if (forOutput) this.#waiting.add(wake);
      else void this.ended.then(wake);
    });
  }

  #take(text: string): void {
    this.#unseen += text;
    const excess = this.#unseen.length - KEPT_CHARACTERS;
    if (excess > 0) {
      this.#unseen = this.#unseen.slice(excess);
      this.#omitted += excess;
    }
    for (const wake of this.#waiting) wake();
  }

  #end(ending: LaunchResult | Error): LaunchResult | Error {
    this.#ending = ending;
    for (const wake of this.#waiting) wake();
    return ending;
  }
}

/** The commands that an agent left running, for as long as its session lives. */
export class BackgroundCommands {
  readonly #commands = new Map<string, BackgroundCommand>();
  #count = 0;

  /** Starts one; undefined if too many run already. */
  start(command: string, turnId: string, launch: Launch): BackgroundCommand | undefined {
    if (this.#running().length >= MAX_COMMANDS) return undefined;
    this.#count += 1;
    const started = new BackgroundCommand(`${this.#count}`, command, turnId, launch);
    this.#commands.set(started.id, started);
    this.#forgetOldest();
    return started;
  }

  /** The one with this id, whether it still runs or ended not long ago. */
  get(id: string): BackgroundCommand | undefined {
    return this.#commands.get(id);
  }

  /** Those that run, in words. */
  describe(): string {
    const running = this.#running().map(({ id, command }) => `${id} (${command.slice(0, 80)})`);
    return running.length === 0 ? "No command runs in the background." : `Running: ${running.join(", ")}.`;
  }

  /** Ends all of them. Resolves when nothing of them is left. */
  async stopAll(): Promise<void> {
    await Promise.all(this.#running().map((command) => command.stop()));
  }

  /** Ends those that were started in a turn. */
  async stopStartedIn(turnId: string): Promise<void> {
    const started = this.#running().filter((command) => command.turnId === turnId);
    await Promise.all(started.map((command) => command.stop()));
  }

  #running(): BackgroundCommand[] {
    return [...this.#commands.values()].filter(({ ending }) => ending === undefined);
  }

  #forgetOldest(): void {
    const ended = [...this.#commands.values()].filter(({ ending }) => ending !== undefined);
    for (const { id } of ended.slice(0, Math.max(0, ended.length - MOST_ENDED))) this.#commands.delete(id);
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
