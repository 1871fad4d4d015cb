import type { LaunchResult } from "@flint/core/ports";
import { integer, optional, string } from "../input.ts";
import { defineTool, done, failed, runAsItem, type Tool } from "../tool.ts";

/** The number of commands that may run in the background of one thread. */
export const MAX_COMMANDS = 8;

/** Maximum number of ended commands that are kept, so that their output can still be read. */
const MAX_ENDED = 16;

/** Maximum amount of unread output that is kept. */
const MAX_UNREAD = 262_144;

/** Starts a command, with the signal that stops it and the receiver of its output. */
export type Launch = (signal: AbortSignal, output: (text: string) => void) => Promise<LaunchResult>;

/** Start options of a background command. */
export type NewBackgroundCommand = Pick<BackgroundCommand, "command" | "turnId" | "itemId" | "cwd">;

/** A command that runs while the agent does other things. */
export class BackgroundCommand {
  readonly id: string;
  readonly command: string;
  readonly turnId: string;
  /** The item that shows it. */
  readonly itemId: string;
  readonly cwd: string;
  /** Resolves when no process of it is left, with an Error if it could not be started. */
  readonly ended: Promise<LaunchResult | Error>;
  readonly #stopping = new AbortController();
  readonly #waiting = new Set<() => void>();
  #unread = "";
  #omitted = 0;
  #ending: LaunchResult | Error | undefined;

  constructor(id: string, { command, turnId, itemId, cwd }: NewBackgroundCommand, launch: Launch) {
    this.id = id;
    this.command = command;
    this.turnId = turnId;
    this.itemId = itemId;
    this.cwd = cwd;
    const launched = launch(this.#stopping.signal, (text) => this.#take(text));
    this.ended = launched.catch(asError).then((ending) => this.#end(ending));
  }

  /** The end of the command; undefined while it runs. */
  get ending(): LaunchResult | Error | undefined {
    return this.#ending;
  }

  /** The output since the last call. What was too much is counted. */
  takeOutput(): string {
    const gap = this.#omitted === 0 ? "" : `… ${this.#omitted} characters left out …\n`;
    const text = gap + this.#unread;
    this.#unread = "";
    this.#omitted = 0;
    return text;
  }

  /** Waits until there is output or it ends, but no longer than this. */
  async waitForOutput(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (this.#unread === "") await this.#wait(milliseconds, signal, true);
  }

  /** Waits until it ends, but no longer than this. */
  async waitForEnd(milliseconds: number, signal: AbortSignal): Promise<void> {
    await this.#wait(milliseconds, signal, false);
  }

  /** Stops it and everything it started. Resolves when no process is left. */
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
    this.#unread += text;
    const excess = this.#unread.length - MAX_UNREAD;
    if (excess > 0) {
      this.#unread = this.#unread.slice(excess);
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

/** The background commands of a session. */
export class BackgroundCommands {
  readonly #commands = new Map<string, BackgroundCommand>();
  #count = 0;

  /** Starts one; undefined if too many are running. */
  start(command: NewBackgroundCommand, launch: Launch): BackgroundCommand | undefined {
    if (this.running.length >= MAX_COMMANDS) return undefined;
    this.#count += 1;
    const started = new BackgroundCommand(`${this.#count}`, command, launch);
    this.#commands.set(started.id, started);
    this.#dropOldest();
    return started;
  }

  /** The command with this id, running or ended not long ago. */
  get(id: string): BackgroundCommand | undefined {
    return this.#commands.get(id);
  }

  /** Those that run now. */
  get running(): readonly BackgroundCommand[] {
    return [...this.#commands.values()].filter(({ ending }) => ending === undefined);
  }

  /** Describes the running commands. */
  describe(): string {
    const running = this.running.map(({ id, command }) => `${id} (${command.slice(0, 80)})`);
    return running.length === 0 ? "No background command is running." : `Running: ${running.join(", ")}.`;
  }

  /** Stops all of them. Resolves when no process is left. */
  async stopAll(): Promise<void> {
    await Promise.all(this.running.map((command) => command.stop()));
  }

  /** Stops those that were started in a turn. */
  async stopStartedIn(turnId: string): Promise<void> {
    const started = this.running.filter((command) => command.turnId === turnId);
    await Promise.all(started.map((command) => command.stop()));
  }

  #dropOldest(): void {
    const ended = [...this.#commands.values()].filter(({ ending }) => ending !== undefined);
    for (const { id } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) this.#commands.delete(id);
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

const processId = string("The process number from shell.", { maxLength: 20 });

/** Returns what a background command printed since the last call. */
export function shellOutputTool(background: BackgroundCommands): Tool {
  return defineTool({
    name: "shell_output",
    description: "Returns the new output of a background command, and whether it is still running.",
    readOnly: true,
    input: {
      process_id: processId,
      wait_ms: optional(integer("How long to wait for new output; not at all by default.", 0, 60_000)),
    },
    run: (input, context) =>
      runAsItem(
        { tool: "shell_output", title: `Reads the output of process ${input.process_id}`, input },
        context,
        async () => {
          const found = background.get(input.process_id);
          if (found === undefined) return failed(noProcess(input.process_id, background));
          await found.waitForOutput(input.wait_ms ?? 0, context.signal);
          return done(report(found));
        },
      ),
  });
}

/** Stops a background command and everything that it started. */
export function shellStopTool(background: BackgroundCommands): Tool {
  return defineTool({
    name: "shell_stop",
    description: "Stops a background command and returns the rest of its output.",
    readOnly: false,
    input: { process_id: processId },
    run: (input, context) =>
      runAsItem(
        { tool: "shell_stop", title: `Stops process ${input.process_id}`, input },
        context,
        async () => {
          const found = background.get(input.process_id);
          if (found === undefined) return failed(noProcess(input.process_id, background));
          await found.stop();
          return done(report(found));
        },
      ),
  });
}

function noProcess(id: string, background: BackgroundCommands): string {
  return `There is no process ${id}. ${background.describe()}`;
}

function report(command: BackgroundCommand): string {
  const output = command.takeOutput();
  const line = `(${stateOf(command.ending)})`;
  return output === "" || output.endsWith("\n") ? output + line : `${output}\n${line}`;
}

function stateOf(ending: LaunchResult | Error | undefined): string {
  if (ending === undefined) return "It is still running.";
  if (ending instanceof Error) return `It could not be started: ${ending.message}`;
  switch (ending.ended) {
    case "exited":
      return `It ended with exit code ${ending.exitCode}.`;
    case "timedOut":
      return "It was killed at its time limit.";
    case "aborted":
      return "It was stopped.";
  }
}
