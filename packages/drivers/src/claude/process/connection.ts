import type { Clock } from "@flint/core/ports";
import { FlintError, mintId } from "@flint/protocol";
import {
  answerLine,
  type ClaudeFrame,
  type ClaudeFrameOf,
  type ClaudeInputBlock,
  type ClaudePermission,
  type ClaudeRequest,
  decodeClaudeFrame,
  refusalLine,
  requestLine,
  userLine,
} from "@flint/protocol/claude";
import type { Trace } from "@flint/rpc";
import { AgentLines, AgentProcess, type AgentProcessSpec } from "../../shared/agent-process.ts";
import { streamedTextIn } from "./streamed-text.ts";

/** How long Claude may take to answer a request for which it needs no model. */
const ANSWER_MS = 10_000;

/** Who is told what Claude writes. */
export interface ConnectionHandlers {
  /** Every frame but the answers to requests, in order. */
  frame(frame: Exclude<ClaudeFrame, ClaudeFrameOf<"control_response">>): void;
  /** It ended, or nothing can be read from it any more. Nothing of it is left then. */
  died(error: FlintError): void;
}

/** What a connection needs beside its process. */
export interface ConnectionOptions {
  readonly handlers: ConnectionHandlers;
  readonly clock: Clock;
  readonly trace: Trace | undefined;
}

interface Pending {
  resolve(response: unknown): void;
  reject(error: FlintError): void;
}

/** One process of Claude and the lines to and from it. Requests are answered in time or rejected. */
export class ClaudeConnection {
  readonly #process: AgentProcess;
  readonly #lines: AgentLines;
  readonly #options: ConnectionOptions;
  readonly #pending = new Map<string, Pending>();
  #badLines = 0;
  #isOver = false;

  private constructor(process: AgentProcess, options: ConnectionOptions) {
    this.#process = process;
    this.#options = options;
    const handlers = {
      line: (text: string) => this.#line(text),
      fault: () => this.#bad(),
      closed: () => void this.#end(),
    };
    this.#lines = new AgentLines(process.transport, handlers, options.trace);
  }

  /** Rejects with a FlintError if the process cannot be started, or not be confined as asked. */
  static async start(spec: AgentProcessSpec, options: ConnectionOptions): Promise<ClaudeConnection> {
    return new ClaudeConnection(await AgentProcess.start(spec), options);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** How many lines were no frames since this was asked last. */
  takeBadLines(): number {
    const lines = this.#badLines;
    this.#badLines = 0;
    return lines;
  }

  /** Sends a request and gives its answer. Rejects with a FlintError if there is none, or Claude refuses. */
  request(request: ClaudeRequest, timeoutMs: number = ANSWER_MS): Promise<unknown> {
    const id = mintId();
    return new Promise((resolve, reject) => {
      if (this.#isOver) return reject(new FlintError("agentFailed", "Claude has ended."));
      const cancel = this.#options.clock.after(timeoutMs, () => {
        this.#pending.delete(id);
        reject(noAnswer(request, timeoutMs));
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
      this.#lines.send(requestLine(id, request));
    });
  }

  /** Says something as the user, and gives the id under which it comes back when it is taken up. */
  say(content: readonly ClaudeInputBlock[], meta?: Readonly<Record<string, unknown>>): string {
    const id = crypto.randomUUID();
    this.#lines.send(userLine(content, id, meta));
    return id;
  }

  /** Answers a question of Claude. */
  answer(requestId: string, response: ClaudePermission | Readonly<Record<string, unknown>>): void {
    if (!this.#isOver) this.#lines.send(answerLine(requestId, response));
  }

  /** Says that a question of Claude cannot be answered. */
  refuse(requestId: string, reason: string): void {
    if (!this.#isOver) this.#lines.send(refusalLine(requestId, reason));
  }

  /** Reads nothing until `work` is done, so that Claude cannot run ahead of whoever listens. */
  async pausedFor(work: Promise<void>): Promise<void> {
    const { transport } = this.#process;
    transport.pause();
    await work;
    transport.resume();
  }

  /** Ends it and all it started, in time or after a moment. Resolves when nothing of it is left. */
  async stop(graceMs?: number): Promise<void> {
    this.#isOver = true;
    await this.#process.stop(graceMs);
  }

  #line(text: string): void {
    const streamed = streamedTextIn(text);
    if (streamed === undefined) this.#otherLine(text);
    else this.#options.handlers.frame(streamed);
  }

  #otherLine(text: string): void {
    if (text.trim() === "") return;
    const decoded = decodeClaudeFrame(text);
    if (!decoded.ok) this.#bad();
    else if (decoded.frame.type === "control_response") this.#answered(decoded.frame.response);
    else this.#options.handlers.frame(decoded.frame);
  }

  #bad(): void {
    this.#badLines += 1;
  }

  /** Claude also tells the answers back that it got; nobody waits for those. */
  #answered({ request_id, subtype, response, error }: ClaudeFrameOf<"control_response">["response"]): void {
    const pending = this.#pending.get(request_id);
    if (pending === undefined) return;
    this.#pending.delete(request_id);
    if (subtype === "success") pending.resolve(response);
    else pending.reject(new FlintError("agentFailed", `Claude refused: ${error ?? subtype}`));
  }

  async #end(): Promise<void> {
    this.#isOver = true;
    await this.#process.stop();
    const failure = await this.#process.failure();
    for (const pending of this.#pending.values()) pending.reject(failure);
    this.#pending.clear();
    this.#options.handlers.died(failure);
  }
}

function noAnswer({ subtype }: ClaudeRequest, timeoutMs: number): FlintError {
  const message = `Claude did not answer ${subtype} within ${timeoutMs / 1000} seconds. Its version may be too old; update it with \`claude update\`.`;
  return new FlintError("agentFailed", message, { request: subtype });
}
