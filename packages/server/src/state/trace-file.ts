import { closeSync, constants, fchmodSync, fstatSync, openSync, writeSync } from "node:fs";
import { Redactor } from "@flint/core";
import { errorMessage } from "@flint/protocol";
import { cappedTrace, type Trace, type TraceCaps } from "@flint/rpc";
import * as z from "zod/mini";
import { ConfigError } from "../config/parse.ts";

/** One line of a trace file. */
export const TraceRecord = z.object({
  /** Milliseconds since 1970. */
  at: z.number(),
  agent: z.optional(z.string()),
  /** As seen from Flint: `out` goes to the agent. */
  direction: z.enum(["in", "out"]),
  stage: z.enum(["raw", "decoded", "failed"]),
  payload: z.string(),
});
export type TraceRecord = z.output<typeof TraceRecord>;

/** The most characters of a line and of a file. */
export const TRACE_CAPS: TraceCaps = { maxLine: 64 * 1024, maxTotal: 64 * 1024 * 1024 };

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
/** Links are not followed, and opening a pipe does not wait for a reader. */
const FLAGS = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK;
const PRIVATE = 0o600;
/** The size at which buffered lines are written. */
const BUFFER_CHARACTERS = 64 * 1024;

/** Options of a trace file. */
export interface TraceFileOptions {
  /** Strings to redact, besides everything that looks like a key. */
  readonly secrets: readonly string[];
  readonly caps?: TraceCaps;
  readonly now?: () => number;
  /** Writes bytes from an offset and returns how many; `writeSync` unless a test makes it fail. */
  readonly write?: (file: number, bytes: Buffer, at: number) => number;
}

/**
 * Records the messages to and from agents for bug reports, one JSON object per line. Only its owner can read it; keys are
 * redacted unless they are split across messages. No turn fails because of a problem with the file.
 */
export class TraceFile {
  readonly #file: number;
  readonly #redactor: Redactor;
  readonly #capped: Trace;
  readonly #now: () => number;
  readonly #writeSome: NonNullable<TraceFileOptions["write"]>;
  #agent: string | undefined;
  #buffer = "";
  #flushing: NodeJS.Immediate | undefined;
  #isOpen = true;

  private constructor(file: number, options: TraceFileOptions) {
    const { secrets, caps = TRACE_CAPS, now = Date.now, write = writeSync } = options;
    this.#file = file;
    this.#writeSome = write;
    // Inside JSON a secret may be escaped.
    const escaped = secrets.map((secret) => JSON.stringify(secret).slice(1, -1));
    this.#redactor = new Redactor([...secrets, ...escaped]);
    this.#now = now;
    const maxTotal = Math.max(0, caps.maxTotal - fstatSync(file).size);
    this.#capped = cappedTrace((...line) => this.#write(...line), { ...caps, maxTotal });
  }

  /** Opens a file to append to. Throws a ConfigError with the reason if it cannot be written or is not a regular file. */
  static open(path: string, options: TraceFileOptions): TraceFile {
    return new TraceFile(openPrivate(path), options);
  }

  /** The trace of one agent. */
  of(agent: string): Trace {
    return (direction, stage, payload) => {
      this.#agent = agent;
      // Before the line is truncated: half of a key would not be recognized.
      this.#capped(direction, stage, this.#redactor.text(payload));
    };
  }

  /** Writes what is buffered and stops recording. May be called twice. */
  close(): void {
    if (!this.#isOpen) return;
    this.#flush();
    this.#end();
  }

  #write(direction: "in" | "out", stage: TraceRecord["stage"], payload: string): void {
    if (!this.#isOpen) return;
    const agent = this.#agent === undefined ? {} : { agent: this.#agent };
    const record: TraceRecord = { at: this.#now(), ...agent, direction, stage, payload };
    this.#buffer += `${JSON.stringify(record)}\n`;
    if (this.#buffer.length >= BUFFER_CHARACTERS) this.#flush();
    else this.#flushing ??= setImmediate(() => this.#flush());
  }

  #flush(): void {
    clearImmediate(this.#flushing);
    this.#flushing = undefined;
    const bytes = Buffer.from(this.#buffer);
    this.#buffer = "";
    // Expected: a full disk, or a deleted file. Agents do not wait for their trace.
    try {
      for (let at = 0; at < bytes.length; ) at += this.#writeSome(this.#file, bytes, at);
    } catch {
      this.#end();
    }
  }

  #end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.#file);
  }
}

function openPrivate(path: string): number {
  let file: number | undefined;
  // Expected: any reason why a path given by the user cannot be written.
  try {
    file = openSync(path, FLAGS, PRIVATE);
    if (!fstatSync(file).isFile()) throw new Error("it is not a regular file");
    fchmodSync(file, PRIVATE);
    return file;
  } catch (error) {
    if (file !== undefined) closeSync(file);
    const why = errorMessage(error);
    const message = `Cannot write the trace to ${path}: ${why}. Choose a file you can write to.`;
    throw new ConfigError(message, { cause: error });
  }
}
