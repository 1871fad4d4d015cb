import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import type { RunningProcess } from "@flint/core/ports";
import { displayText } from "@flint/core/text";
import { isRecord, LIMITS, STANDARD_CODES } from "@flint/protocol";
import { decode, type Incoming, LineReader, StderrTail } from "@flint/rpc";
import type { JSONRPCMessage, RequestId, Transport } from "@modelcontextprotocol/client";
import type { Redaction } from "../redaction.ts";
import { MessageInbox, type ServerTransport, TransportClosed } from "./server-transport.ts";

/** Talks to a server over the standard streams of its process, one JSON message a line. */
export class StdioTransport implements ServerTransport {
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: Transport["onmessage"];
  /** How many lines were no message. They are left alone: many programs greet on their standard output. */
  ignoredLines = 0;
  readonly #process: RunningProcess;
  readonly #redaction: Redaction;
  readonly #stderrTail: StderrTail;
  readonly #inbox = new MessageInbox((message) => this.onmessage?.(message));
  readonly #lines = new LineReader({
    limit: LIMITS.line,
    line: (text) => this.#take(decode(text)),
    fault: ({ kind, bytes }) => {
      if (kind === "oversize") this.#unreadable(bytes);
      else this.ignoredLines += 1;
    },
  });
  #ending = "";
  #closing: Promise<void> | undefined;

  constructor(process: RunningProcess, redaction: Redaction) {
    this.#process = process;
    this.#redaction = redaction;
    this.#stderrTail = new StderrTail(process.stderr, { keptCharacters: STDERR_CHARACTERS });
    // A server that ends while it is written to; its end is noticed on its output.
    for (const stream of [process.stdin, process.stdout]) stream.on("error", () => undefined);
  }

  get closeReason(): string {
    return this.#ending;
  }

  get diagnostics(): string {
    const { ignoredLines } = this;
    const words = stderrExcerpt(this.#stderrTail.text, this.#redaction);
    const lines =
      ignoredLines === 1
        ? "1 line of its output was no message."
        : `${ignoredLines} lines of its output were no messages.`;
    const ignored = ignoredLines === 0 ? [] : [lines];
    return [...ignored, ...(words === "" ? [] : [`It said: ${words}`])].join(" ");
  }

  async start(): Promise<void> {
    const { stdout, exited } = this.#process;
    stdout.on("data", (bytes: Buffer) => this.#lines.push(bytes));
    // A server that closed its output cannot answer any more, even if it still runs.
    void this.#read(stdout).then(() => this.close());
    void exited.then(() => this.close());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#process;
    if (this.#closing !== undefined || !stdin.writable) throw new TransportClosed("The server has ended.");
    if (stdin.writableLength > LIMITS.line) throw new Error("The server does not read what it is sent.");
    this.#inbox.trackRequest(message);
    stdin.write(`${JSON.stringify(message)}\n`);
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const { stdout, stderr, exited } = this.#process;
    stdout.resume();
    // Expected: a stop that is not clean. Whatever is left is named by the one that starts processes.
    await this.#process.stop().catch(() => undefined);
    // What was said before the end still counts.
    const [{ exitCode }] = await Promise.all([exited, this.#read(stdout), this.#read(stderr)]);
    this.#lines.end();
    await this.#inbox.delivered;
    this.#ending = `It ended with exit code ${exitCode}. ${this.diagnostics}`.trim();
    this.onclose?.();
  }

  /** Resolves at the end of a stream, however it ended. */
  async #read(stream: Readable): Promise<void> {
    await finished(stream, { writable: false }).catch(() => undefined);
  }

  #take(incoming: Incoming): void {
    const message = messageOf(incoming);
    if (message === undefined) this.ignoredLines += 1;
    else this.#inbox.deliver(message);
  }

  /** What the line was is not known, but it may well have been the answer that is waited for. */
  #unreadable(bytes: number): void {
    this.#inbox.failPending(`It sent a message of ${bytes} bytes; at most ${LIMITS.line} are read.`);
  }
}

function messageOf(incoming: Incoming): JSONRPCMessage | undefined {
  const jsonrpc = "2.0";
  switch (incoming.kind) {
    case "notification": {
      const { method, params } = incoming;
      return { jsonrpc, method, ...paramsOf(params) };
    }
    case "request": {
      const { id, method, params } = incoming;
      return isRequestId(id) ? { jsonrpc, id, method, ...paramsOf(params) } : undefined;
    }
    case "response": {
      const { id, result } = incoming;
      return isRequestId(id) && isRecord(result) ? { jsonrpc, id, result } : undefined;
    }
    case "failure": {
      const { id, error } = incoming;
      return isRequestId(id) ? { jsonrpc, id, error } : undefined;
    }
    case "bad": {
      const { id, message, answer } = incoming;
      if (answer !== true || !isRequestId(id)) return undefined;
      return {
        jsonrpc,
        id,
        error: { code: STANDARD_CODES.invalidRequest, message: `Its answer cannot be read: ${message}.` },
      };
    }
  }
}

function paramsOf(params: unknown): { readonly params?: Record<string, unknown> } {
  return isRecord(params) ? { params } : {};
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === "string" || Number.isSafeInteger(id);
}

/** Much more is kept than is shown, so that a secret which the keeping cut in two is not in what is shown. */
export const STDERR_CHARACTERS = 64 * 1024;
const SHOWN_LINES = 8;
const SHOWN_CHARACTERS = 1000;

/** The last lines of what a server wrote to its error output, for people, without secrets. */
export function stderrExcerpt(text: string, redaction: Redaction): string {
  const lines = redaction.apply(text).split("\n");
  const shown = lines.filter((line) => line.trim() !== "").slice(-SHOWN_LINES);
  return displayText(shown.join("\n").slice(-SHOWN_CHARACTERS), SHOWN_CHARACTERS);
}
