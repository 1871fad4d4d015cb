import { constants } from "node:os";
import {
  type ClientTerminal,
  type Clock,
  type LaunchResult,
  pause,
  type TerminalCommand,
} from "@flint/core/ports";
import { errorMessage } from "@flint/protocol";
import { CreateTerminalResponse, TerminalOutputResponse, WaitForExitResponse } from "../vocabulary.ts";
import type { EditorRequests } from "./requests.ts";

/** Maximum output that an editor is asked to keep of a command. */
const OUTPUT_BYTE_LIMIT = 1024 * 1024;
/**
 * Interval at which the output of a running command is read, for other clients and for commands in the
 * background.
 */
const READ_EVERY_MS = 1_000;
/** Time within which a command must end after it was killed. */
const KILL_MS = 5_000;
/** The exit code where there is none: the terminal was not opened, or was lost. */
const NO_EXIT_CODE = 1;

type Ended = LaunchResult["ended"];

/** Dependencies for using the terminals of an editor. */
export interface EditorTerminalOptions {
  readonly requests: EditorRequests;
  readonly clock: Clock;
  /** Shows a terminal in the tool call of a command. */
  show(itemId: string, terminalId: string): void;
}

/** Runs commands in terminals of the editor, one for each. */
export class EditorTerminal implements ClientTerminal {
  readonly #options: EditorTerminalOptions;

  constructor(options: EditorTerminalOptions) {
    this.#options = options;
  }

  async run(command: TerminalCommand): Promise<LaunchResult> {
    const { clock } = this.#options;
    const startedAt = clock.monotonic();
    const result = (exitCode: number, ended: Ended): LaunchResult => ({
      ...{ exitCode, ended },
      durationMs: Math.round(clock.monotonic() - startedAt),
    });
    // Expected: an editor that refuses, does not answer or is gone. The user and the model see why.
    try {
      const terminalId = await this.#create(command);
      if (terminalId === undefined) return result(130, "aborted");
      this.#options.show(command.itemId, terminalId);
      return await new RunningCommand(command, terminalId, this.#options).result(result);
    } catch (thrown) {
      command.onOutput(`The editor's terminal failed: ${errorMessage(thrown)}\n`, "stderr");
      return result(NO_EXIT_CODE, command.signal?.aborted === true ? "aborted" : "exited");
    }
  }

  /** Opens a terminal; undefined if that was interrupted. One that opens too late is closed again. */
  async #create({ command, cwd, environment = {}, signal }: TerminalCommand): Promise<string | undefined> {
    const { requests } = this.#options;
    const [program = "", ...args] = command;
    const env = Object.entries(environment).map(([name, value]) => ({ name, value }));
    const asked = requests.unbounded("terminal/create", {
      ...{ command: program, args, cwd, outputByteLimit: OUTPUT_BYTE_LIMIT },
      ...(env.length === 0 ? {} : { env }),
    });
    const created = asked.then((response) => CreateTerminalResponse.parse(response).terminalId);
    const opened = await requests.inTime("terminal/create", created, signal).catch((thrown: unknown) => {
      created.then((late) => this.#close(late)).catch(() => undefined);
      if (signal?.aborted === true) return undefined;
      throw thrown;
    });
    return opened;
  }

  #close(terminalId: string): Promise<unknown> {
    // Expected: an editor that is gone.
    return this.#options.requests.answer("terminal/release", { terminalId }).catch(() => undefined);
  }
}

/** A command in a terminal that is open. */
class RunningCommand {
  readonly #command: TerminalCommand;
  readonly #terminalId: string;
  readonly #options: EditorTerminalOptions;
  readonly #text = new TerminalText();
  /** Aborted when the command has ended or is not waited for any longer. */
  readonly #over = new AbortController();

  constructor(command: TerminalCommand, terminalId: string, options: EditorTerminalOptions) {
    this.#command = command;
    this.#terminalId = terminalId;
    this.#options = options;
  }

  async result(result: (exitCode: number, ended: Ended) => LaunchResult): Promise<LaunchResult> {
    const { requests } = this.#options;
    const params = { terminalId: this.#terminalId };
    const { signal } = this.#over;
    const exit = requests
      .unbounded("terminal/wait_for_exit", params, signal)
      .then((response) => WaitForExitResponse.parse(response));
    // Awaited below, and not needed if the command is given up.
    exit.catch(() => undefined);
    try {
      void this.#readRegularly();
      const ended = await this.#end(exit);
      const status = ended === "exited" ? await exit : await this.#kill(exit);
      this.#read(await requests.answer("terminal/output", params), true);
      return result(exitCodeOf(status, ended), ended);
    } finally {
      this.#over.abort(new Error("the command has ended"));
      // Expected: an editor that is gone. It keeps showing what was printed.
      await requests.answer("terminal/release", params).catch(() => undefined);
    }
  }

  /** Resolves to the end of the command, or the reason why it has to end. */
  async #end(exit: Promise<unknown>): Promise<Ended> {
    const { timeoutMs, signal: stop } = this.#command;
    const { clock } = this.#options;
    const { signal: over } = this.#over;
    const wait = new AbortController();
    const done = () => wait.abort();
    stop?.addEventListener("abort", done, { once: true });
    over.addEventListener("abort", done, { once: true });
    try {
      const exited = exit.then((): Ended => "exited");
      const waited = pause(clock, timeoutMs ?? NO_LIMIT, wait.signal).then(
        (): Ended => (stop?.aborted === true ? "aborted" : "timedOut"),
      );
      return await (stop?.aborted === true ? "aborted" : Promise.race([exited, waited]));
    } finally {
      done();
      stop?.removeEventListener("abort", done);
      over.removeEventListener("abort", done);
    }
  }

  /** Kills it, and waits a moment for its end. */
  async #kill(exit: Promise<WaitForExitResponse>): Promise<WaitForExitResponse> {
    const { requests, clock } = this.#options;
    await requests.answer("terminal/kill", { terminalId: this.#terminalId });
    const late = new AbortController();
    const given = pause(clock, KILL_MS, late.signal).then(() => undefined);
    const status = await Promise.race([exit, given]).finally(() => late.abort());
    if (status !== undefined) return status;
    this.#command.onOutput("(The editor has not confirmed that the command has ended.)\n", "stderr");
    return {};
  }

  async #readRegularly(): Promise<void> {
    const { requests, clock } = this.#options;
    const { signal } = this.#over;
    // Expected: an editor that refuses or is gone. What waits for the command gets that too.
    try {
      for (;;) {
        await pause(clock, READ_EVERY_MS, signal);
        if (signal.aborted) return;
        const response = await requests.answer("terminal/output", { terminalId: this.#terminalId });
        if (!signal.aborted) this.#read(response, false);
      }
    } catch {
      return;
    }
  }

  #read(response: unknown, isLast: boolean): void {
    const { output, truncated } = TerminalOutputResponse.parse(response);
    const added = isLast ? this.#text.last(output) : this.#text.next(output, truncated);
    if (added !== "") this.#command.onOutput(added, "stdout");
  }
}

/** Longer than any command is left running; a longer timer would be due at once. */
const NO_LIMIT = 2 ** 31 - 1;

function exitCodeOf({ exitCode, signal }: WaitForExitResponse, ended: Ended): number {
  if (typeof exitCode === "number") return exitCode;
  // Names of signals come from the editor; one that this machine does not have counts as none.
  const number = new Map(Object.entries(constants.signals)).get(signal ?? "");
  if (number !== undefined) return 128 + number;
  return ended === "exited" ? NO_EXIT_CODE : 137;
}

/** Length of the known text that is searched for in an output whose start is cut off. */
const MARK = 512;

/** The new output of a terminal, of which each answer has everything or, when that is too much, the end. */
export class TerminalText {
  #taken = 0;
  #mark = "";
  #isCut = false;

  /**
   * Returns the output since the last call; none once the start is cut off, because that is compared only at
   * the end.
   */
  next(output: string, truncated: boolean): string {
    this.#isCut ||= truncated;
    return this.#isCut ? "" : this.#take(output);
  }

  /** Returns the rest of the final output. */
  last(output: string): string {
    if (!this.#isCut && output.length >= this.#taken && this.#continues(output)) return this.#take(output);
    const at = this.#mark === "" ? -1 : output.lastIndexOf(this.#mark);
    if (at >= 0) return output.slice(at + this.#mark.length);
    return this.#taken === 0 ? output : `\n(The editor kept only the end of the output.)\n${output}`;
  }

  #continues(output: string): boolean {
    return output.slice(0, this.#taken).endsWith(this.#mark);
  }

  #take(output: string): string {
    const added = output.slice(this.#taken);
    this.#taken = Math.max(this.#taken, output.length);
    this.#mark = output.slice(-MARK);
    return added;
  }
}
