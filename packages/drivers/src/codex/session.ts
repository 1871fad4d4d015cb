import {
  type DriverSession,
  type McpServerStatus,
  orAborted,
  type SessionSpec,
  type TurnContext,
  type TurnOutcome,
} from "@flint/core/ports";
import type { UserInput } from "@flint/protocol";
import type { CodexNotification, CodexReviewTarget } from "@flint/protocol/codex";
import { Account } from "./handoff.ts";
import { COLLABORATION_MODE } from "./models.ts";
import { inputOf, workingOf } from "./settings.ts";
import { type LoadedThread, NativeThread, type NativeThreadParts } from "./thread.ts";
import { mcpServerStatus } from "./translate/mcp-status.ts";
import { RunningTurn } from "./turn.ts";

/** What a session needs beside what every session is told. */
export interface CodexSessionParts extends NativeThreadParts {
  /** Told when a session is closed. */
  closed(session: CodexSession): void;
}

/** How many remarks made between turns are kept for the next one. */
const MOST_REMARKS = 20;

const INTERRUPTED: TurnOutcome = { status: "interrupted" };

/** One thread of Codex. It lives in whatever process runs now; after a death it is taken up in the next one. */
export class CodexSession implements DriverSession {
  readonly #parts: CodexSessionParts;
  readonly #closing = new AbortController();
  readonly #account: Account;
  readonly #thread: NativeThread;
  #active: RunningTurn | undefined;
  /** The turn that was asked for last, once Codex can be told of it; undefined if it ended before. */
  #begun: Promise<RunningTurn | undefined> = Promise.resolve(undefined);
  /** What Codex remarked since the last turn. */
  #remarks: readonly CodexNotification[] = [];
  #totalTokens = 0;
  readonly #mcpServers = new Map<string, McpServerStatus>();
  #running: Promise<unknown> = Promise.resolve();

  constructor(spec: SessionSpec, parts: CodexSessionParts) {
    this.#parts = parts;
    this.#account = new Account(spec);
    this.#thread = new NativeThread(spec, parts, this.#account, {
      notification: (notification) => this.#onNotification(notification),
      call: (call) => this.#active?.call(call) ?? Promise.reject(new Error("No turn runs in this thread.")),
      isWorking: () => this.#active !== undefined,
    });
  }

  /** How the MCP servers of this thread are, as far as Codex told. */
  get mcpServers(): readonly McpServerStatus[] {
    return [...this.#mcpServers.values()];
  }

  run(turn: TurnContext): Promise<TurnOutcome> {
    const signal = AbortSignal.any([turn.signal, this.#closing.signal]);
    const begun = this.#prepare(turn, signal);
    this.#begun = begun.catch(() => undefined);
    const running = this.#run(turn, begun);
    this.#running = running.catch(() => undefined);
    return running;
  }

  async steer(input: readonly UserInput[]): Promise<boolean> {
    const begun = await this.#begun;
    return (await begun?.steer(input)) ?? false;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#parts.closed(this);
    await this.#running;
    await this.#thread.close();
  }

  /** The turn in a thread that is ready for it; undefined if it is stopped before. */
  async #prepare(turn: TurnContext, signal: AbortSignal): Promise<RunningTurn | undefined> {
    if (signal.aborted) return undefined;
    const thread = await orAborted(this.#thread.load(turn), signal, undefined);
    if (thread === undefined) return undefined;
    const { clock, timing } = this.#parts;
    const { server, id: threadId } = thread;
    const place = { server, threadId, clock, timing, totalTokens: this.#totalTokens };
    const active = new RunningTurn(turn, place, signal);
    this.#active = active;
    for (const remark of this.#remarks) active.notification(remark);
    this.#remarks = [];
    void active.begin(() => this.#begin(turn, thread));
    return active;
  }

  async #run(turn: TurnContext, begun: Promise<RunningTurn | undefined>): Promise<TurnOutcome> {
    const active = await begun;
    if (active === undefined) return INTERRUPTED;
    try {
      const outcome = await active.outcome;
      if (outcome.status !== "completed" || turn.signal.aborted) await this.#thread.cleanUp();
      if (outcome.status === "completed") tellPosition(turn, active);
      return outcome;
    } finally {
      this.#active = undefined;
      this.#totalTokens = active.totalTokens;
    }
  }

  /** Asks for the turn. A compaction tells its id only when it begins. */
  async #begin(turn: TurnContext, thread: LoadedThread): Promise<string | undefined> {
    const { server, id: threadId } = thread;
    const working = workingOf(turn.settings, await this.#thread.folder(turn.settings), thread.model);
    const target = reviewTargetOf(turn);
    if (target === undefined && turn.kind !== "compact") {
      const input = [...(await this.#account.input(turn.turnId)), ...inputOf(turn.input, turn.settings.cwd)];
      const { outputSchema } = turn;
      const wish = outputSchema === undefined ? {} : { outputSchema };
      const started = await server.request("turn/start", { threadId, input, ...working, ...wish });
      this.#account.told();
      return started.turn.id;
    }
    await server.request("thread/settings/update", { threadId, ...working });
    if (target === undefined) await server.request("thread/compact/start", { threadId });
    else return (await server.request("review/start", { threadId, target, delivery: "inline" })).turn.id;
    return undefined;
  }

  /** Between turns only remarks count, and what was used in all, which Codex tells when a thread is taken up. */
  #onNotification(notification: CodexNotification): void {
    if (notification.method === "mcpServer/startupStatus/updated") {
      const { name, status, error } = notification.params;
      this.#mcpServers.set(name, mcpServerStatus(name, status, error));
    }
    if (this.#active !== undefined) {
      this.#active.notification(notification);
      return;
    }
    if (notification.method === "thread/tokenUsage/updated") {
      this.#totalTokens = notification.params.tokenUsage.total.totalTokens;
    }
    if (isRemark(notification) && this.#remarks.length < MOST_REMARKS)
      this.#remarks = [...this.#remarks, notification];
  }
}

/** What is worth telling in the turn that follows. */
function isRemark({ method }: CodexNotification): boolean {
  return method === "warning" || method === "configWarning" || method === "deprecationNotice";
}

/** What a turn is to review: as asked for, or in the mode in which every prompt is a review. */
function reviewTargetOf({ kind, review, settings, input }: TurnContext): CodexReviewTarget | undefined {
  if (review !== undefined)
    return review.type === "commit" ? { ...review, title: review.title ?? null } : review;
  if (kind !== "prompt" || settings.config[COLLABORATION_MODE] !== "review") return undefined;
  const instructions = input.flatMap((piece) => (piece.type === "text" ? [piece.text] : [])).join("\n");
  return { type: "custom", instructions };
}

/** A review has another name than the one by which it is told (0.166.0); what was said and answered is sure to be found. */
function tellPosition(turn: TurnContext, { nativeId: position }: RunningTurn): void {
  const isKept = turn.kind === "prompt" && reviewTargetOf(turn) === undefined;
  if (isKept && position !== undefined) turn.emit({ type: "position", position });
}
