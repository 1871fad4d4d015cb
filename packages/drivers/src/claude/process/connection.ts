import type { Clock, CommandBroker } from "@flint/core/ports";
import { FlintError, LIMITS, mintId } from "@flint/protocol";
import {
  type ClaudeFrame,
  type ClaudeFrameOf,
  type ClaudeInputBlock,
  type ClaudePermission,
  type ClaudeRequest,
  decodeClaudeFrame,
  errorResponseLine,
  requestLine,
  responseLine,
  userLine,
} from "@flint/protocol/claude";
import { LineReader, Outbox, type Trace } from "@flint/rpc";
import { AgentProcess, type AgentProcessSpec, type AgentSessions } from "../../shared/agent-process.ts";

/** Time within which Claude must answer a request that needs no model. */
const ANSWER_MS = 10_000;

/** Receives what Claude writes. */
export interface ConnectionHandlers {
  /** Called with every frame but the responses to requests, in order. */
  frame(frame: Exclude<ClaudeFrame, ClaudeFrameOf<"control_response">>): void;
  /** Called instead with a frame that ends a turn, but cannot be read. */
  unreadableResult(reason: string): void;
  /** Called once the process and everything it started is gone, also if only its output has ended. */
  died(error: FlintError): void;
}

/** Options of a connection besides its process. */
export interface ConnectionOptions {
  readonly handlers: ConnectionHandlers;
  readonly clock: Clock;
  readonly trace: Trace | undefined;
}

interface PendingRequest {
  resolve(response: unknown): void;
  reject(error: FlintError): void;
}

/** A process of Claude and the lines to and from it. Every request is answered in time or rejected. */
export class ClaudeConnection {
  readonly #process: AgentProcess;
  readonly #outbox: Outbox;
  readonly #options: ConnectionOptions;
  readonly #pending = new Map<string, PendingRequest>();
  #malformedLines = 0;
  #isClosed = false;

  private constructor(process: AgentProcess, options: ConnectionOptions) {
    const { transport } = process;
    this.#process = process;
    this.#options = options;
    this.#outbox = new Outbox(transport, { limit: LIMITS.clientQueue });
    // While Claude does not read what it is sent, it is not read either.
    this.#outbox.onFull(() => transport.pause());
    this.#outbox.onDrain(() => transport.resume());
    const reader = new LineReader({
      limit: LIMITS.line,
      line: (text) => this.#onLine(text),
      fault: () => this.#onMalformed(),
    });
    transport.start({
      chunk: (chunk) => reader.push(chunk),
      closed: () => {
        reader.end();
        void this.#onClosed();
      },
    });
  }

  /** Rejects with a FlintError if the process cannot be started, or not in the sandbox that it should be in. */
  static async start(spec: AgentProcessSpec, options: ConnectionOptions): Promise<ClaudeConnection> {
    return new ClaudeConnection(await AgentProcess.start(spec), options);
  }

  /** Runs single commands beyond Claude's sandbox, if that is possible. */
  get broker(): CommandBroker | undefined {
    return this.#process.broker;
  }

  /** The sessions that this process of Claude may use. */
  get sessions(): AgentSessions {
    return this.#process.sessions;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Returns the number of malformed lines since the last call. */
  takeMalformedLines(): number {
    const lines = this.#malformedLines;
    this.#malformedLines = 0;
    return lines;
  }

  /** Sends a user message, and returns the id with which it is replayed once Claude begins to work on it. */
  sendUserMessage(content: readonly ClaudeInputBlock[], meta?: Readonly<Record<string, unknown>>): string {
    const id = crypto.randomUUID();
    this.#send(userLine(content, id, meta));
    return id;
  }

  /** Sends a request and resolves with the response. Rejects with a FlintError if there is none, or Claude refuses. */
  request(request: ClaudeRequest, timeoutMs: number = ANSWER_MS): Promise<unknown> {
    const id = mintId();
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new FlintError("agentFailed", "Claude has ended."));
      const cancel = this.#options.clock.after(timeoutMs, () => {
        this.#pending.delete(id);
        reject(noResponse(request, timeoutMs));
      });
      this.#pending.set(id, {
        resolve: (response) => {
          cancel();
          resolve(response);
        },
        reject: (error) => {
          cancel();
          reject(error);
        },
      });
      this.#send(requestLine(id, request));
    });
  }

  /** Responds to a control request of Claude. */
  respond(requestId: string, response: ClaudePermission | Readonly<Record<string, unknown>>): void {
    if (!this.#isClosed) this.#send(responseLine(requestId, response));
  }

  /** Responds to a control request with an error. */
  respondError(requestId: string, reason: string): void {
    if (!this.#isClosed) this.#send(errorResponseLine(requestId, reason));
  }

  /** Reads nothing until `work` is done, so that Claude cannot run ahead of its readers. */
  async pausedFor(work: Promise<void>): Promise<void> {
    const { transport } = this.#process;
    transport.pause();
    await work;
    transport.resume();
  }

  /** Stops the process and everything it started, after `graceMs` by force. Resolves once every process is gone. */
  async stop(graceMs?: number): Promise<void> {
    this.#isClosed = true;
    await this.#process.stop(graceMs);
  }

  #send(line: string): void {
    this.#options.trace?.("out", "raw", line);
    this.#outbox.send(line);
  }

  #onLine(text: string): void {
    this.#options.trace?.("in", "raw", text);
    const delta = decodeTextDelta(text);
    if (delta === undefined) this.#onOtherLine(text);
    else this.#options.handlers.frame(delta);
  }

  #onOtherLine(text: string): void {
    if (text.trim() === "") return;
    const decoded = decodeClaudeFrame(text);
    if (!decoded.ok) this.#onUnreadable(text, decoded.reason);
    else if (decoded.frame.type === "control_response") this.#onResponse(decoded.frame.response);
    else this.#options.handlers.frame(decoded.frame);
  }

  #onUnreadable(text: string, reason: string): void {
    this.#onMalformed();
    if (RESULT_LINE.test(text.slice(0, RESULT_LINE_CHARACTERS)))
      this.#options.handlers.unreadableResult(reason);
  }

  #onMalformed(): void {
    this.#malformedLines += 1;
  }

  /** Claude also repeats the responses that it was sent; no request is pending for those. */
  #onResponse({ request_id, subtype, response, error }: ClaudeFrameOf<"control_response">["response"]): void {
    const pending = this.#pending.get(request_id);
    if (pending === undefined) return;
    this.#pending.delete(request_id);
    if (subtype === "success") pending.resolve(response);
    else pending.reject(new FlintError("agentFailed", `Claude refused: ${error ?? subtype}`));
  }

  async #onClosed(): Promise<void> {
    this.#isClosed = true;
    await this.#process.stop();
    const failure = await this.#process.failure();
    for (const pending of this.#pending.values()) pending.reject(failure);
    this.#pending.clear();
    this.#options.handlers.died(failure);
  }
}

function noResponse({ subtype }: ClaudeRequest, timeoutMs: number): FlintError {
  const message = `Claude did not answer ${subtype} within ${timeoutMs / 1000} seconds. Its version may be too old; update it with \`claude update\`.`;
  return new FlintError("agentFailed", message, { request: subtype });
}

/** The beginning of a frame that ends a turn, also if the rest of the line is damaged. */
const RESULT_LINE =
  /^\s*\{(?:"[a-z_]{1,40}":(?:"[^"\\]{0,200}"|true|false|null|\d{1,20}),){0,8}"type":"result"/;
const RESULT_LINE_CHARACTERS = 2_000;

/** Longer lines are decoded as all others: patterns are only safe on text of a known size. */
const DELTA_LINE_CHARACTERS = 16_384;

const PLAIN = '[^"\\\\\\u0000-\\u001f]*';
const ESCAPE = '\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4})';

/** A text delta of the agent itself, exactly as Claude writes it. */
const TEXT_DELTA = new RegExp(
  `^{"type":"stream_event","event":{"type":"content_block_delta","index":(\\d{1,6}),` +
    `"delta":{"type":"text_delta","text":("${PLAIN}(?:${ESCAPE}${PLAIN})*")}},` +
    `"session_id":"${PLAIN}","parent_tool_use_id":null,"uuid":"${PLAIN}"}$`,
);

/**
 * Decodes the line of a text delta, the most frequent one, without parsing the rest of it. Undefined for every other
 * line, also for a text delta that is written in another way.
 */
export function decodeTextDelta(line: string): ClaudeFrameOf<"stream_event"> | undefined {
  if (line.length > DELTA_LINE_CHARACTERS) return undefined;
  const found = TEXT_DELTA.exec(line);
  if (found === null) return undefined;
  const [, index, quoted = ""] = found;
  // The pattern matches only a JSON string.
  const text = quoted.includes("\\") ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
  return {
    type: "stream_event",
    event: { type: "content_block_delta", index: Number(index), delta: { type: "text_delta", text } },
    parent_tool_use_id: null,
  };
}
