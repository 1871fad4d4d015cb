import type { PriceList } from "@flint/agent/prices";
import {
  type DriverSession,
  type McpServerStatus,
  orAborted,
  type SessionSpec,
  type TurnContext,
  type TurnOutcome,
} from "@flint/core/ports";
import type { BackgroundCommand, TurnError, UserInput } from "@flint/protocol";
import type { CodexNotification, CodexReviewTarget } from "@flint/protocol/codex";
import { COLLABORATION_MODE, codexPrice, modelName } from "./models.ts";
import { GrantedPermissions } from "./permissions.ts";
import { inputOf, turnParams } from "./settings.ts";
import { CodexThread, type CodexThreadOptions, Handoff, type LoadedThread } from "./thread.ts";
import { limitsIn } from "./translate/limits.ts";
import { CodexTurn } from "./turn.ts";

/** Options of a session besides its spec. */
export interface CodexSessionOptions extends CodexThreadOptions {
  /** Prices of models. */
  readonly prices?: PriceList | undefined;
  /** Called when a session is closed. */
  closed(session: CodexSession): void;
}

/** Maximum number of warnings between turns that are buffered for the next one. */
const MAX_WARNINGS = 20;

const INTERRUPTED: TurnOutcome = { status: "interrupted" };

/** The Codex of one thread. When a process has ended, the thread is resumed in the next one. */
export class CodexSession implements DriverSession {
  readonly #options: CodexSessionOptions;
  readonly #closing = new AbortController();
  readonly #handoff: Handoff;
  readonly #thread: CodexThread;
  readonly #granted = new GrantedPermissions();
  #turn: CodexTurn | undefined;
  /** The latest turn, once its thread is loaded; undefined if it ended before. */
  #begun: Promise<CodexTurn | undefined> = Promise.resolve(undefined);
  /** The warnings since the last turn. */
  #warnings: readonly CodexNotification[] = [];
  #totalTokens = 0;
  /** True if commands were left running, as far as is known. */
  #hasBackground = false;
  readonly #mcpServers = new Map<string, McpServerStatus>();
  #running: Promise<unknown> = Promise.resolve();

  constructor(spec: SessionSpec, options: CodexSessionOptions) {
    this.#options = options;
    this.#handoff = new Handoff(spec);
    this.#thread = new CodexThread(spec, options, this.#handoff, {
      notification: (notification) => this.#onNotification(notification),
      call: (call) =>
        this.#turn?.call(call) ?? Promise.reject(new Error("No turn is running in this thread.")),
      isWorking: () => this.#turn !== undefined,
      isBusy: () => this.#turn !== undefined || this.#hasBackground,
    });
  }

  /** The MCP servers of this thread, as far as Codex reported them. */
  get mcpServers(): readonly McpServerStatus[] {
    return [...this.#mcpServers.values()];
  }

  run(turn: TurnContext): Promise<TurnOutcome> {
    const signal = AbortSignal.any([turn.signal, this.#closing.signal]);
    const begun = this.#begin(turn, signal);
    this.#begun = begun.catch(() => undefined);
    const running = this.#finish(turn, begun);
    this.#running = running.catch(() => undefined);
    return running;
  }

  async steer(input: readonly UserInput[]): Promise<boolean> {
    const begun = await this.#begun;
    return (await begun?.steer(input)) ?? false;
  }

  canGrant(): boolean {
    return this.#turn?.canGrant === true;
  }

  /** As it was after the last turn or when it was asked last; asked again, so that the end of a command is noticed. */
  isBusy(): boolean {
    if (this.#hasBackground) void this.backgroundCommands();
    return this.#hasBackground;
  }

  async backgroundCommands(): Promise<readonly BackgroundCommand[]> {
    const commands = await this.#thread.backgroundCommands();
    this.#hasBackground = commands.length > 0;
    return commands;
  }

  async stopBackgroundCommand(processId: string): Promise<boolean> {
    const isStopped = await this.#thread.stopBackgroundCommand(processId);
    await this.backgroundCommands();
    return isStopped;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#options.closed(this);
    await this.#running;
    await this.#thread.close();
  }

  /** Loads the thread and begins the turn in it; undefined if it is stopped before. */
  async #begin(turn: TurnContext, signal: AbortSignal): Promise<CodexTurn | undefined> {
    if (signal.aborted) return undefined;
    const thread = await orAborted(this.#thread.load(turn), signal, undefined);
    if (thread === undefined) return undefined;
    const { clock, timing, prices } = this.#options;
    const { server, id: threadId } = thread;
    const name = modelName(turn.settings.model) ?? thread.model;
    const priceOf = (model = name) => (prices === undefined ? undefined : codexPrice(prices, model));
    const granted = this.#granted;
    const options = { server, threadId, clock, timing, totalTokens: this.#totalTokens, priceOf, granted };
    const running = new CodexTurn(turn, options, signal);
    this.#turn = running;
    for (const warning of this.#warnings) running.notification(warning);
    this.#warnings = [];
    void running.begin(() => this.#start(turn, thread));
    return running;
  }

  async #finish(turn: TurnContext, begun: Promise<CodexTurn | undefined>): Promise<TurnOutcome> {
    const running = await begun;
    if (running === undefined) return INTERRUPTED;
    try {
      const outcome = await running.outcome;
      if (outcome.status !== "completed" || turn.signal.aborted) await this.#thread.cleanUp();
      void this.backgroundCommands();
      if (outcome.status === "completed") emitPosition(turn, running);
      if (outcome.status === "failed") await reportLimits(turn, running, outcome.error);
      return outcome;
    } finally {
      this.#turn = undefined;
      this.#totalTokens = running.totalTokens;
      this.#thread.publish();
    }
  }

  /** Requests the turn and resolves with its id. A compaction has its id only in the notification that it began. */
  async #start(turn: TurnContext, thread: LoadedThread): Promise<string | undefined> {
    const { server, id: threadId } = thread;
    const { settings, outputSchema } = turn;
    const params = turnParams(settings, thread.model);
    const target = reviewTargetOf(turn);
    if (target === undefined && turn.kind !== "compact") {
      const input = [...(await this.#handoff.input(turn.turnId)), ...inputOf(turn.input, settings.cwd)];
      const schema = outputSchema === undefined ? {} : { outputSchema };
      const started = await server.request("turn/start", { threadId, input, ...params, ...schema });
      this.#handoff.sent();
      return started.turn.id;
    }
    await server.request("thread/settings/update", { threadId, ...params });
    if (target === undefined) await server.request("thread/compact/start", { threadId });
    else return (await server.request("review/start", { threadId, target, delivery: "inline" })).turn.id;
    return undefined;
  }

  /** Between turns only warnings matter, and the total usage, which Codex reports when a thread is resumed. */
  #onNotification(notification: CodexNotification): void {
    if (notification.method === "mcpServer/startupStatus/updated") {
      const { name, status, error } = notification.params;
      this.#mcpServers.set(name, mcpServerStatus(name, status, error));
    }
    if (this.#turn !== undefined) {
      this.#turn.notification(notification);
      return;
    }
    if (notification.method === "thread/tokenUsage/updated") {
      this.#totalTokens = notification.params.tokenUsage.total.totalTokens;
    }
    if (isWarning(notification) && this.#warnings.length < MAX_WARNINGS)
      this.#warnings = [...this.#warnings, notification];
  }
}

/** The error of a used-up limit does not say when it resets, but Codex can be asked. */
async function reportLimits(turn: TurnContext, running: CodexTurn, { errorInfo }: TurnError): Promise<void> {
  if (errorInfo !== "UsageLimitExceeded") return;
  const limits = limitsIn(await orAborted(running.rateLimits(), turn.signal, undefined));
  if (limits.length > 0) turn.emit({ type: "limits", limits });
}

/** Notifications that matter although no turn runs. */
const BETWEEN_TURNS: ReadonlySet<string> = new Set([
  ...["warning", "configWarning", "deprecationNotice", "account/rateLimits/updated"],
]);

const MCP_STATUS: Readonly<Record<string, McpServerStatus["status"]>> = {
  notStarted: "starting",
  starting: "starting",
  ready: "ready",
  connected: "ready",
};

/** The status of an MCP server. One that neither starts nor runs has failed. */
export function mcpServerStatus(
  name: string,
  status: string | null | undefined,
  error: string | null | undefined,
): McpServerStatus {
  const known = MCP_STATUS[status ?? "ready"];
  if (known !== undefined && typeof error !== "string") return { name, status: known };
  return { name, status: "failed", error: error ?? status ?? "unknown" };
}

function isWarning({ method }: CodexNotification): boolean {
  return BETWEEN_TURNS.has(method);
}

/** Returns the subject of a review: as requested, or every prompt in the collaboration mode review. */
function reviewTargetOf({ kind, review, settings, input }: TurnContext): CodexReviewTarget | undefined {
  if (review !== undefined)
    return review.type === "commit" ? { ...review, title: review.title ?? null } : review;
  if (kind !== "prompt" || settings.config[COLLABORATION_MODE] !== "review") return undefined;
  const instructions = input.flatMap((piece) => (piece.type === "text" ? [piece.text] : [])).join("\n");
  return { type: "custom", instructions };
}

/** Emits where the turn ended. A review is stored under another id than it has in notifications (0.166.0), so not for those. */
function emitPosition(turn: TurnContext, { nativeId: position }: CodexTurn): void {
  const isPrompt = turn.kind === "prompt" && reviewTargetOf(turn) === undefined;
  if (isPrompt && position !== undefined) turn.emit({ type: "position", position });
}
