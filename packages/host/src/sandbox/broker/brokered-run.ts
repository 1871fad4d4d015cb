import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { BridgedProgram, BrokeredCommand, ProcessSpec, RunningProcess } from "@flint/core/ports";
import { errorMessage } from "@flint/protocol";
import { FRAME, REFUSED } from "./flint-run.ts";

/** Time within which a command must stop. */
const STOP_MS = 500;

/**
 * Runs a program only in the folder that was shown. Until a folder is entered, the agent could replace it, or one above it,
 * by a link to another.
 */
const IN_FOLDER = `[ "$(pwd -P)" = "$1" ] || { echo "flint-run: The folder $1 was replaced. Nothing was run." >&2; exit ${REFUSED}; }; shift; exec "$@"`;

/** A caller of a broker, and the command that runs for it. */
export class BrokeredRun {
  readonly #caller: Socket;
  #running: RunningProcess | undefined;
  #isStopped = false;

  constructor(caller: Socket) {
    this.#caller = caller;
    // If the client disconnects, the command is stopped.
    caller.once("close", () => void this.stop());
  }

  /** Ends the call without running anything. */
  refuse(reason: string): void {
    void this.#send(FRAME.stderr, Buffer.from(`flint-run: ${reason} Nothing was run.\n`));
    this.#exit(REFUSED);
  }

  /** Runs a command to its end, or until its signal or the caller stops it. Never rejects. */
  async run(command: BrokeredCommand, start: (spec: ProcessSpec) => Promise<RunningProcess>): Promise<void> {
    const { argv, cwd, policy, workspace, permission, signal } = command;
    const program = ["/bin/sh", "-c", IN_FOLDER, "sh", cwd, ...argv];
    const limits = { policy, workspace, permission };
    await this.#follow(
      () => start({ command: program, cwd, ...limits, environment: {} }),
      signal,
      (running) => running.stdin.end(),
    );
  }

  /** Runs a program with what the caller sends as its input, until one of them ends. Never rejects. */
  async connect({ start, signal }: BridgedProgram): Promise<void> {
    await this.#follow(start, signal, ({ stdin }) => {
      // A program that takes no more input may still answer; its caller has to be seen to end.
      stdin.once("error", () => this.#caller.resume());
      this.#caller.pipe(stdin);
    });
  }

  /** Passes on output and exit code of what is started. Nothing of it is left when this resolves. */
  async #follow(
    start: () => Promise<RunningProcess>,
    signal: AbortSignal | undefined,
    feed: (running: RunningProcess) => void,
  ): Promise<void> {
    const stop = () => void this.stop();
    signal?.addEventListener("abort", stop, { once: true });
    // Expected: the sandbox cannot be set up. Then nothing ran, and the caller gets the reason.
    try {
      const running = await start();
      this.#running = running;
      if (this.#isStopped || signal?.aborted === true) await running.stop(STOP_MS);
      else feed(running);
      const sent = [this.#pass(running.stdout, FRAME.stdout), this.#pass(running.stderr, FRAME.stderr)];
      const { exitCode } = await running.exited;
      await Promise.all(sent);
      if (!this.#isStopped) this.#exit(exitCode);
    } catch (thrown) {
      this.refuse(errorMessage(thrown));
    } finally {
      signal?.removeEventListener("abort", stop);
      this.#caller.end();
    }
  }

  /** Ends the command and everything it started. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running?.stop(STOP_MS);
  }

  /** Passes a stream on no faster than the caller reads. */
  async #pass(stream: Readable, kind: number): Promise<void> {
    // Expected: a pipe that is closed with its program.
    try {
      for await (const bytes of stream) {
        await this.#send(kind, Buffer.from(bytes));
      }
    } catch {
      await this.stop();
    }
  }

  #exit(code: number): void {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(code);
    void this.#send(FRAME.exit, bytes);
    this.#caller.end();
  }

  /** Resolves when it was sent, or the caller has gone. */
  #send(kind: number, content: Buffer): Promise<void> {
    if (this.#caller.destroyed || this.#caller.writableEnded) return Promise.resolve();
    const head = Buffer.alloc(5);
    head.writeUInt8(kind);
    head.writeUInt32BE(content.length, 1);
    return new Promise((resolve) => this.#caller.write(Buffer.concat([head, content]), () => resolve()));
  }
}
