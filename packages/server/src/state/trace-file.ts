import { closeSync, constants, fchmodSync, fstatSync, openSync, writeSync } from "node:fs";
import { Redactor } from "@flint/core";
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
/** Nothing is followed to another place, and nothing waits for somebody who reads. */
const FLAGS = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK;
const PRIVATE = 0o600;
/** So much is held back at most until it is written. */
const HELD_CHARACTERS = 64 * 1024;

/** What a trace file needs to know. */
export interface TraceFileOptions {
  /** Texts that must not be in it, beside everything that looks like a key. */
  readonly secrets: readonly string[];
  readonly caps?: TraceCaps;
  readonly now?: () => number;
  /** Writes bytes from a place on and says how many; Node's own unless a test wants it to fail. */
  readonly write?: (file: number, bytes: Buffer, at: number) => number;
}

/**
 * Keeps what is said to and by agents, one JSON object a line, for a report of a problem. Only its owner can read it;
 * keys are redacted wherever they stand in one piece. Whatever goes wrong with the file, no turn fails by it.
 */
export class TraceFile {
  readonly #file: number;
  readonly #redactor: Redactor;
  readonly #capped: Trace;
  readonly #now: () => number;
  readonly #writeSome: NonNullable<TraceFileOptions["write"]>;
  #agent: string | undefined;
  #held = "";
  #flushing: NodeJS.Immediate | undefined;
  #isOpen = true;

  private constructor(file: number, options: TraceFileOptions) {
    const { secrets, caps = TRACE_CAPS, now = Date.now, write = writeSync } = options;
    this.#file = file;
    this.#writeSome = write;
    // Inside of JSON a secret may be written with escapes.
    const escaped = secrets.map((secret) => JSON.stringify(secret).slice(1, -1));
    this.#redactor = new Redactor([...secrets, ...escaped]);
    this.#now = now;
    const maxTotal = Math.max(0, caps.maxTotal - fstatSync(file).size);
    this.#capped = cappedTrace((...line) => this.#write(...line), { ...caps, maxTotal });
  }

  /** Opens a file to append to. Throws a ConfigError that says why if it cannot be written or is no plain file. */
  static open(path: string, options: TraceFileOptions): TraceFile {
    return new TraceFile(openPrivately(path), options);
  }

  /** A trace for the lines of one agent. */
  of(agent: string): Trace {
    return (direction, stage, payload) => {
      this.#agent = agent;
      // First of all: half of a key that was cut off could no longer be known as one.
      this.#capped(direction, stage, this.#redactor.text(payload));
    };
  }

  /** Writes what is held back. Nothing is kept from here on. May be called twice. */
  close(): void {
    if (!this.#isOpen) return;
    this.#flush();
    this.#end();
  }

  #write(direction: "in" | "out", stage: TraceRecord["stage"], payload: string): void {
    if (!this.#isOpen) return;
    const agent = this.#agent === undefined ? {} : { agent: this.#agent };
    const record: TraceRecord = { at: this.#now(), ...agent, direction, stage, payload };
    this.#held += `${JSON.stringify(record)}\n`;
    if (this.#held.length >= HELD_CHARACTERS) this.#flush();
    else this.#flushing ??= setImmediate(() => this.#flush());
  }

  #flush(): void {
    clearImmediate(this.#flushing);
    this.#flushing = undefined;
    const bytes = Buffer.from(this.#held);
    this.#held = "";
    // Expected: a full disk, or a file that is gone. The agents do not wait for their trace.
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

function openPrivately(path: string): number {
  let file: number | undefined;
  // Expected: every way in which a path that a user gave cannot be written.
  try {
    file = openSync(path, FLAGS, PRIVATE);
    if (!fstatSync(file).isFile()) throw new Error("it is no plain file");
    fchmodSync(file, PRIVATE);
    return file;
  } catch (error) {
    if (file !== undefined) closeSync(file);
    const why = error instanceof Error ? error.message : String(error);
    const message = `The trace cannot be written to ${path}: ${why}. Name a file in a folder of your own.`;
    throw new ConfigError(message, { cause: error });
  }
}
