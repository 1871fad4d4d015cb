import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import type { RunningProcess } from "@flint/core/ports";
import { displayText } from "@flint/core/text";
import { isRecord, LIMITS, STANDARD_CODES } from "@flint/protocol";
import { decode, type Incoming, LineReader } from "@flint/rpc";
import { StderrTail } from "@flint/rpc/node";
import type { JSONRPCMessage, RequestId, Transport } from "@modelcontextprotocol/client";
import type { Redaction } from "../failure.ts";
import { MessageInbox, type ServerTransport, TransportClosed } from "./server-transport.ts";

/** The transport to a server process over stdio, one JSON message per line. */
export class StdioTransport implements ServerTransport {
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: Transport["onmessage"];
  /** The number of lines that were not messages. They are ignored: many programs print a banner on stdout. */
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
    this.#stderrTail = new StderrTail(process.stderr, { maxCharacters: STDERR_CHARACTERS });
    // A server may exit while it is written to; its end is noticed on stdout.
    for (const stream of [process.stdin, process.stdout]) stream.on("error", () => undefined);
  }

  get closeReason(): string {
    return this.#ending;
  }

  get diagnostics(): string {
    const { ignoredLines } = this;
    const stderr = stderrExcerpt(this.#stderrTail.text, this.#redaction);
    const lines =
      ignoredLines === 1
        ? "1 line of its output was not a message."
        : `${ignoredLines} lines of its output were not messages.`;
    const ignored = ignoredLines === 0 ? [] : [lines];
    return [...ignored, ...(stderr === "" ? [] : [`Its stderr: ${stderr}`])].join(" ");
  }

  async start(): Promise<void> {
    const { stdout, exited } = this.#process;
    stdout.on("data", (bytes: Buffer) => this.#lines.push(bytes));
    // A server that closed stdout cannot answer any more, even if it still runs.
    void this.#read(stdout).then(() => this.close());
    void exited.then(() => this.close());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#process;
    if (this.#closing !== undefined || !stdin.writable) throw new TransportClosed("The server has exited.");
    if (stdin.writableLength > LIMITS.line) throw new Error("The server does not read its input.");
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
    // Expected: a stop that is not clean. The sandbox reports what is left.
    await this.#process.stop().catch(() => undefined);
    // Output from before the end is still read.
    const [{ exitCode }] = await Promise.all([exited, this.#read(stdout), this.#read(stderr)]);
    this.#lines.end();
    await this.#inbox.delivered;
    this.#ending = `It exited with code ${exitCode}. ${this.diagnostics}`.trim();
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

  /** The line may have been the response to a pending request. */
  #unreadable(bytes: number): void {
    this.#inbox.failPending(`It sent a message of ${bytes} bytes; the limit is ${LIMITS.line}.`);
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
        error: { code: STANDARD_CODES.invalidRequest, message: `Its response is malformed: ${message}.` },
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

/** Much more is kept than is shown, so that a secret that was cut in two is not in what is shown. */
export const STDERR_CHARACTERS = 64 * 1024;
const EXCERPT_LINES = 8;
const EXCERPT_CHARACTERS = 1000;

/** The last lines of a server's stderr, without secrets. */
export function stderrExcerpt(text: string, redaction: Redaction): string {
  const lines = redaction.apply(text).split("\n");
  const shown = lines.filter((line) => line.trim() !== "").slice(-EXCERPT_LINES);
  return displayText(shown.join("\n").slice(-EXCERPT_CHARACTERS), EXCERPT_CHARACTERS);
}
