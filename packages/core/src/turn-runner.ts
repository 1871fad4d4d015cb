import {
  addUsage,
  asFlintError,
  type DeltaType,
  type EventBody,
  type FlintError,
  isKnownItem,
  mintId,
  type ReviewTarget,
  type ThreadItem,
  type TurnError,
  type TurnKind,
  type UserInput,
} from "@flint/protocol";
import { closeTurn, type Ending } from "./decide/closing.ts";
import { aggregateDiff } from "./decide/diff.ts";
import type { OpenRequests } from "./open-requests.ts";
import type { Clock, DriverEvent, DriverSession, TurnContext, TurnOutcome } from "./ports/index.ts";
import type { ThreadLog } from "./thread-log.ts";
import { TurnCaps } from "./turn-caps.ts";

/** How long a driver may take to stop before its session is ended for it. */
const STOP_GRACE_MS = 3_000;

/** A turn that was decided and is in the log. */
export interface StartedTurn {
  readonly turnId: string;
  readonly kind: TurnKind;
  readonly input: readonly UserInput[];
  readonly review: ReviewTarget | undefined;
  readonly outputSchema: Readonly<Record<string, unknown>> | undefined;
}

/** What a runner needs of its thread. */
export interface TurnRunnerOptions {
  readonly threadId: string;
  readonly agent: string;
  readonly turn: StartedTurn;
  readonly log: ThreadLog;
  readonly requests: OpenRequests;
  readonly clock: Clock;
  /** The agent's session, opened if need be. */
  session(): Promise<DriverSession>;
  /** Ends the agent's session; the next turn opens a new one. */
  dropSession(): Promise<void>;
}

/**
 * Drives one turn of a driver. Whatever happens to the agent, the disk or the user's patience, the turn ends here,
 * in exactly one `turn/completed`.
 */
export class TurnRunner {
  readonly #options: TurnRunnerOptions;
  readonly #abort = new AbortController();
  readonly #caps = new TurnCaps();
  #by: "interrupt" | "serverStopped" | undefined;
  #storageFailure: FlintError | undefined;
  #ended = false;
  #driverDiffs = false;
  #lastText = "";

  constructor(options: TurnRunnerOptions) {
    this.#options = options;
  }

  get turnId(): string {
    return this.#options.turn.turnId;
  }

  /** Asks the turn to stop. It ends soon after, with its processes gone. */
  interrupt(by: "interrupt" | "serverStopped"): void {
    this.#by ??= by;
    this.#abort.abort();
  }

  /** Runs to the end. Never rejects. Gives how the turn ended. */
  async run(): Promise<Ending["status"]> {
    const { log, requests } = this.#options;
    log.onFailure((error) => this.#failStorage(error));
    const outcome = await this.#outcome();
    this.#ended = true;
    requests.dropTurn(this.turnId);
    log.onFailure(undefined);
    const ending = this.#ending(outcome);
    await this.#close(ending);
    return ending.status;
  }

  async #outcome(): Promise<TurnOutcome> {
    try {
      const session = await this.#options.session();
      if (this.#abort.signal.aborted) return { status: "interrupted" };
      return await this.#bounded(session.run(this.#context()));
    } catch (error) {
      // Any rejection of a driver is a failed turn; a driver that failed this way is not trusted with the next one.
      await this.#options.dropSession();
      return { status: "failed", error: turnErrorOf(error) };
    }
  }

  /** The outcome, or `interrupted` when the driver does not stop in time after it was told to. */
  async #bounded(running: Promise<TurnOutcome>): Promise<TurnOutcome> {
    const { clock } = this.#options;
    let cancelGrace: (() => void) | undefined;
    const overdue = new Promise<"overdue">((resolve) => {
      const arm = () => {
        cancelGrace = clock.after(STOP_GRACE_MS, () => resolve("overdue"));
      };
      if (this.#abort.signal.aborted) arm();
      else this.#abort.signal.addEventListener("abort", arm, { once: true });
    });
    const first = await Promise.race([running, overdue]).finally(() => cancelGrace?.());
    if (first !== "overdue") return first;
    running.catch(() => undefined);
    await this.#options.dropSession();
    return { status: "interrupted" };
  }

  #ending(outcome: TurnOutcome): Ending {
    if (this.#storageFailure !== undefined) {
      const error = { message: this.#storageFailure.message, errorInfo: "StorageFailed" };
      return { status: "failed", error, by: "turnEnded" };
    }
    if (this.#by !== undefined && outcome.status !== "completed") {
      const error = this.#by === "serverStopped" ? SERVER_STOPPED : undefined;
      return { status: "interrupted", error, by: this.#by };
    }
    const error = outcome.status === "failed" ? outcome.error : undefined;
    return { status: outcome.status, error, by: "turnEnded" };
  }

  async #close(ending: Ending): Promise<void> {
    const { log, clock } = this.#options;
    const state = log.current();
    const events = [
      ...(ending.status === "completed" ? this.#reviewEvents() : []),
      ...closeTurn(state, this.turnId, ending, clock.now()),
    ];
    try {
      await log.commit(events);
    } catch (error) {
      // The disk refuses even the end of the turn: it is told now and stored when there is room again.
      const failed = { message: asFlintError(error).message, errorInfo: "StorageFailed" };
      const storageEnding: Ending = { status: "failed", error: failed, by: "turnEnded" };
      await log.commitUnsaved(closeTurn(log.state, this.turnId, storageEnding, clock.now()));
    }
  }

  #reviewEvents(): EventBody[] {
    const { turn, threadId } = this.#options;
    if (turn.kind !== "review") return [];
    const item: ThreadItem = { type: "exitedReviewMode", id: mintId(), review: this.#lastText };
    const data = { threadId, turnId: turn.turnId, item };
    return [
      { type: "item/started", data },
      { type: "item/completed", data },
    ];
  }

  #context(): TurnContext {
    const { turn, log, requests, agent } = this.#options;
    return {
      turnId: turn.turnId,
      kind: turn.kind,
      input: turn.input,
      settings: log.state.settings,
      review: turn.review,
      outputSchema: turn.outputSchema,
      signal: this.#abort.signal,
      emit: (event) => this.#emit(event),
      ready: () => new Promise((resolve) => setImmediate(resolve)),
      approve: async (action) => {
        if (this.#ended) return { outcome: "cancel", scope: "once", message: "The turn has ended." };
        return this.#guarded(() => requests.approve(turn.turnId, agent, action), {
          outcome: "cancel",
          scope: "once",
        });
      },
      ask: async (itemId, questions) => {
        if (this.#ended) return {};
        return this.#guarded(() => requests.question(turn.turnId, itemId, questions), {});
      },
    };
  }

  /** A question that cannot be stored is not asked; the turn fails by its storage instead. */
  async #guarded<Answer>(ask: () => Promise<Answer>, otherwise: Answer): Promise<Answer> {
    if (this.#abort.signal.aborted) return otherwise;
    try {
      const aborted = new Promise<Answer>((resolve) => {
        this.#abort.signal.addEventListener("abort", () => resolve(otherwise), { once: true });
      });
      return await Promise.race([ask(), aborted]);
    } catch (error) {
      this.#failStorage(asFlintError(error));
      return otherwise;
    }
  }

  #failStorage(error: FlintError): void {
    this.#storageFailure ??= error;
    this.#abort.abort();
  }

  #emit(event: DriverEvent): void {
    if (this.#ended) return;
    if ("delta" in event) {
      this.#delta(event.type, event.itemId, event.delta);
      return;
    }
    try {
      const body = this.#bodyOf(event);
      if (body.type === "item/mcpToolCall/progress" || body.type === "extension/notified") {
        this.#options.log.announce(body);
        return;
      }
      void this.#options.log.commit([body]);
      this.#afterEvent(event);
    } catch (error) {
      this.#failStorage(asFlintError(error));
    }
  }

  #delta(type: DeltaType, itemId: string, piece: string): void {
    const admitted = this.#caps.admit(type, itemId, piece);
    if (admitted === "") return;
    const { threadId, turn, log } = this.#options;
    log.delta({ type, threadId, turnId: turn.turnId, itemId }, admitted);
  }

  #bodyOf(event: Exclude<DriverEvent, { delta: string }>): EventBody {
    const { threadId, turn, agent, log } = this.#options;
    const place = { threadId, turnId: turn.turnId };
    switch (event.type) {
      case "item/started":
        return { type: event.type, data: { ...place, item: event.item } };
      case "item/completed":
        return { type: event.type, data: { ...place, item: this.#caps.finish(event.item) } };
      case "turn/plan/updated":
        return { type: event.type, data: { ...place, explanation: event.explanation, plan: [...event.plan] } };
      case "turn/diff/updated":
        return { type: event.type, data: { ...place, diff: event.diff } };
      case "item/mcpToolCall/progress":
        return { type: event.type, data: { ...place, itemId: event.itemId, message: event.message } };
      case "usage": {
        const { type: _type, last, ...rest } = event;
        const usage = addUsage(log.state.usage, last);
        return { type: "thread/tokenUsage/updated", data: { ...place, usage, last, ...rest } };
      }
      case "error":
        return { type: "error", data: { ...place, error: event.error, willRetry: event.willRetry } };
      case "model/rerouted": {
        const { type, ...rest } = event;
        return { type, data: { ...place, ...rest } };
      }
      case "session":
        return { type: "thread/session/updated", data: { threadId, agent, nativeId: event.nativeId } };
      case "extension":
        return { type: "extension/notified", data: { threadId, method: event.method, params: { ...event.params } } };
    }
  }

  #afterEvent(event: DriverEvent): void {
    if (event.type === "turn/diff/updated") this.#driverDiffs = true;
    if (event.type !== "item/completed" || !isKnownItem(event.item)) return;
    if (event.item.type === "agentMessage") this.#lastText = event.item.text;
    if (event.item.type === "fileChange" && event.item.status === "completed" && !this.#driverDiffs) this.#tellDiff();
  }

  #tellDiff(): void {
    const { threadId, turn, log } = this.#options;
    const running = log.state.turns.findLast((known) => known.id === turn.turnId);
    if (running === undefined) return;
    const data = { threadId, turnId: turn.turnId, diff: aggregateDiff(running) };
    void log.commit([{ type: "turn/diff/updated", data }]);
  }
}

/** Why a turn that was cut off by the end of its server has not completed. */
export const SERVER_STOPPED: TurnError = {
  message: "The server stopped while the turn was running. Nothing of it will be run again.",
  errorInfo: "ServerStopped",
};

function turnErrorOf(thrown: unknown): TurnError {
  const error = asFlintError(thrown);
  if (error.kind === "sandboxUnavailable") return { message: error.message, errorInfo: "SandboxError" };
  const message = error.kind === "internalError" && error.cause instanceof Error ? error.cause.message : error.message;
  return { message: `The agent failed: ${message}`, errorInfo: "AgentFailed" };
}
