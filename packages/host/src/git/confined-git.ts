import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { type GitResult, killGroup, type RunOptions, TIMEOUT_MS } from "../sandbox/processes/run-to-end.ts";

/** Runs commands in the sandbox of an agent, with its private git directory in place and without any network. */
export interface ConfinedGit {
  run(command: readonly string[], input?: string): Promise<GitResult>;
  /** Starts a command that is sent its input later. It has to be closed. */
  start(command: readonly string[]): Promise<ConfinedProcess>;
}

/** Maximum size of the text that a program may print before the expected line. */
const MAX_TEXT = 16 * 1024 * 1024;
const MAX_ERRORS = 10_000;

/** A running program whose output is read piece by piece. Ends when it is closed, or after a time. */
export class ConfinedProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #closed: Promise<void>;
  #timeout: NodeJS.Timeout;
  #errors = "";

  constructor(
    [program = "", ...args]: readonly string[],
    { cwd, env, timeoutMs }: Omit<RunOptions, "input">,
  ) {
    // A group of its own, because git leaves the programs behind that it has started.
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
    this.#child = child;
    this.#timeout = setTimeout(() => killGroup(child), timeoutMs);
    // It may end without reading its input, or may not have started; its output has ended then.
    child.stdin.on("error", () => undefined);
    child.on("error", () => child.stdout.destroy());
    this.#closed = new Promise((resolve) => child.once("close", () => resolve()));
    child.once("close", () => clearTimeout(this.#timeout));
    child.stderr.on("data", (chunk: Buffer) => {
      this.#errors = (this.#errors + chunk.toString("utf8")).slice(0, MAX_ERRORS);
    });
  }

  /** The text that it has written to its standard error so far. */
  get errors(): string {
    return this.#errors;
  }

  /** All that it has written to its standard error. For one whose output has ended; its time limit ends the wait. */
  async allErrors(): Promise<string> {
    await this.#closed;
    return this.#errors;
  }

  /** Discards all output before a line; undefined if the program ends without that line, or prints too much. */
  async readUntil(line: string): Promise<string | undefined> {
    const { stdout } = this.#child;
    const mark = Buffer.from(`${line}\n`);
    let read = Buffer.alloc(0);
    for (let searched = 0; read.length < MAX_TEXT; searched = Math.max(0, read.length - mark.length)) {
      const chunk = await nextChunk(stdout);
      if (chunk === undefined) return undefined;
      read = Buffer.concat([read, chunk]);
      const at = read.indexOf(mark, searched);
      if (at < 0) continue;
      if (at + mark.length < read.length) stdout.unshift(read.subarray(at + mark.length));
      return read.subarray(0, at).toString("utf8");
    }
    this.close();
    return undefined;
  }

  /** The next bytes of its output, at least so many unless it ends before; they are still part of the output. */
  async peek(count: number): Promise<Buffer> {
    const { stdout } = this.#child;
    let read = Buffer.alloc(0);
    for (let chunk = await nextChunk(stdout); chunk !== undefined; chunk = await nextChunk(stdout)) {
      read = Buffer.concat([read, chunk]);
      if (read.length >= count) break;
    }
    if (read.length > 0 && !stdout.readableEnded) stdout.unshift(read);
    return read;
  }

  /** Sends it all of its input, and lets it take the time of a whole command from now on. */
  send(input: string): void {
    clearTimeout(this.#timeout);
    if (this.#child.exitCode === null) this.#timeout = setTimeout(() => killGroup(this.#child), TIMEOUT_MS);
    this.#child.stdin.end(input);
  }

  /** The output that was not read yet. */
  get output(): Readable {
    return this.#child.stdout;
  }

  /** Ends it, if it has not ended. */
  close(): void {
    clearTimeout(this.#timeout);
    this.#child.stdin.destroy();
    this.#child.stdout.destroy();
    if (this.#child.exitCode === null && this.#child.signalCode === null) killGroup(this.#child);
  }
}

/** Undefined at the end of the stream. */
async function nextChunk(stream: Readable): Promise<Buffer | undefined> {
  for (;;) {
    const chunk: Buffer | null = stream.read();
    if (chunk !== null) return chunk;
    if (stream.readableEnded || stream.destroyed) return undefined;
    await new Promise<void>((resolve) => {
      const settle = () => {
        for (const name of ["readable", "end", "close", "error"]) stream.off(name, settle);
        resolve();
      };
      for (const name of ["readable", "end", "close", "error"]) stream.on(name, settle);
    });
  }
}
