import {
  type Action,
  asFlintError,
  type Decision,
  type FlintError,
  mintId,
  type NativeEnd,
  type TurnError,
  type UserInput,
} from "@flint/protocol";
import { TurnLimits } from "../account/turn-limits.ts";
import type { UsageLimits } from "../account/usage-limits.ts";
import type { DecidedConnection } from "../approval/network-gate.ts";
import type { OpenRequests } from "../approval/open-requests.ts";
import type { RepeatOffers } from "../approval/repeat-offers.ts";
import { KeepAlive, Latch } from "../async.ts";
import { BudgetGuard } from "../budget/budget-guard.ts";
import type { Limits } from "../budget/limits.ts";
import type {
  Checkpoints,
  Clock,
  CommitOffer,
  DriverEvent,
  DriverSession,
  TurnContext,
  TurnOutcome,
} from "../ports/index.ts";
import type { ThreadLog } from "../thread/log.ts";
import { effectiveSettings, type OpenSession } from "./agent-session.ts";
import {
  agentFailed,
  closeTurn,
  type Ending,
  failedStorage,
  SERVER_STOPPED,
  turnErrorOf,
} from "./closing.ts";
import { takeOverCommits } from "./commits.ts";
import type { StartedTurn } from "./decisions.ts";
import { TurnFiles } from "./files.ts";
import { TurnReporter } from "./reporter.ts";
import { TurnRequests } from "./requests.ts";
import { SilenceGuard } from "./silence-guard.ts";

/** How long a driver may take to stop before its session is closed. */
const STOP_GRACE_MS = 3_000;

/** What a turn runs with. */
export interface TurnRunnerOptions {
  readonly threadId: string;
  readonly turn: StartedTurn;
  readonly log: ThreadLog;
  readonly requests: OpenRequests;
  /** What was offered before in this thread to run again. */
  readonly offers: RepeatOffers;
  readonly clock: Clock;
  readonly usageLimits: UsageLimits;
  /** Saves files before the turn changes them. */
  readonly checkpoints?: Checkpoints | undefined;
  readonly ephemeral?: boolean;
  /** How long the agent may report nothing; absent: as long as it likes. */
  readonly silenceMs?: number | undefined;
  /** Host rules that no command may connect to. */
  readonly deniedHosts: readonly string[];
  /** What the agent committed in its sandbox. */
  commits(): Promise<CommitOffer | undefined>;
  /** Shows a running agent what the user has committed since its last turn. Never rejects. */
  refreshScope(): Promise<void>;
  /** The connections that were decided about while the command of an item ran. */
  connectionsOf(itemId: string): readonly DecidedConnection[];
  /** The agent's session, opened if necessary. */
  session(): Promise<OpenSession>;
  /** Closes the agent's session; the next turn opens a new one. */
  closeSession(): Promise<void>;
  /** Stores how far the user extended the thread's budget. */
  extendBudget(extended: Limits): void;
}

/**
 * Runs one turn of a driver. Whatever the agent, the disk or the user does, the turn ends here with exactly one
 * `turn/completed`.
 */
export class TurnRunner {
  readonly #options: TurnRunnerOptions;
  readonly #abort = new AbortController();
  /** Opens when the driver starts the turn. */
  readonly #begun = new Latch();
  readonly #stopped = new Latch();
  /** Opens when the driver has not stopped in time. */
  readonly #overdue = new Latch();
  /** Opens when the driver has finished, one way or another. */
  readonly #finished = new Latch();
  readonly #steers = new KeepAlive();
  readonly #reporter: TurnReporter;
  readonly #limits: TurnLimits;
  readonly #files: TurnFiles | undefined;
  readonly #guard: BudgetGuard;
  readonly #silence: SilenceGuard;
  readonly #userRequests: TurnRequests;
  #cancelGrace: (() => void) | undefined;
  #session: DriverSession | undefined;
  #agent = "";
  /** The latest position of the agent's own session. */
  #position: string | undefined;
  #interruptedBy: "interrupt" | "serverStopped" | undefined;
  #storageFailure: FlintError | undefined;
  /** Why the turn was stopped, if not by the user: its budget is used up, or its agent is silent. */
  #stoppedFor: TurnError | undefined;

  constructor(options: TurnRunnerOptions) {
    const { threadId, log, requests, clock } = options;
    const { turnId } = options.turn;
    this.#options = options;
    const failed = (error: unknown) => this.#failStorage(asFlintError(error));
    const connectionsOf = options.connectionsOf.bind(options);
    this.#reporter = new TurnReporter({ threadId, turnId, log, connectionsOf, onError: failed });
    this.#limits = new TurnLimits(threadId, log, options.usageLimits);
    const { checkpoints, ephemeral = false } = options;
    const { signal } = this.#abort;
    if (checkpoints !== undefined)
      this.#files = new TurnFiles({ threadId, turnId, log, clock, checkpoints, ephemeral, signal });
    this.#guard = new BudgetGuard({
      ...{ threadId, turnId, log, requests, clock, onError: failed },
      exceeded: (error) => this.#stopFor(error),
      extendThread: (extended) => options.extendBudget(extended),
    });
    const { silenceMs: limitMs } = options;
    this.#silence = new SilenceGuard({ clock, limitMs, silent: (error) => this.#stopFor(error) });
    this.#userRequests = new TurnRequests({
      ...{
        turnId,
        requests,
        onError: failed,
        guard: this.#guard,
        files: this.#files,
        offers: options.offers,
      },
      isOver: () => this.#isOver,
      cancelTurn: () => this.interrupt("interrupt"),
    });
  }

  get turnId(): string {
    return this.#options.turn.turnId;
  }

  /** Stops the turn. It ends soon after, when none of its processes is left; open requests are cancelled. */
  interrupt(by: "interrupt" | "serverStopped"): void {
    this.#interruptedBy ??= by;
    this.#stop();
  }

  /**
   * Sends input to the agent, as soon as it has started. Undefined if it accepts none. Otherwise the turn does not end
   * until the returned function is called, so that the input can be stored as a part of it.
   */
  async steer(input: readonly UserInput[]): Promise<(() => void) | undefined> {
    await Promise.race([this.#begun.opened, this.#stopped.opened, this.#finished.opened]);
    const session = this.#session;
    if (session?.steer === undefined || this.#isOver) return undefined;
    const release = this.#steers.acquire();
    const tooLate = this.#finished.opened.then(() => false);
    try {
      if (await Promise.race([session.steer(input), tooLate])) return release;
    } catch (error) {
      release();
      throw agentFailed(error);
    }
    release();
    return undefined;
  }

  /** Requests approval of what is done in this turn. Never rejects. */
  approve(action: Action): Promise<Decision> {
    return this.#userRequests.approve(this.#agent, action);
  }

  /** Runs the turn to its end and returns how it ended. Never rejects. */
  async run(): Promise<Ending["status"]> {
    const { log, requests } = this.#options;
    log.onFailure((error) => this.#failStorage(error));
    const outcome = await this.#outcome();
    if (outcome.status === "completed" && !this.#isOver) await this.#takeOverCommits();
    if (!this.#isOver) this.#guard.reportOverrun();
    this.#finished.open();
    this.#guard.close();
    this.#silence.close();
    this.#cancelGrace?.();
    requests.cancelTurn(this.turnId);
    await this.#steers.released();
    if (this.#files !== undefined) await this.#files.end();
    log.onFailure(undefined);
    return this.#close(this.#ending(outcome));
  }

  #takeOverCommits(): Promise<void> {
    const { log } = this.#options;
    return takeOverCommits({
      mode: log.state.settings.git ?? "ask",
      commits: () => this.#options.commits(),
      approve: (action) => this.approve(action),
      emit: (event) => this.#emit(event),
    });
  }

  get #isOver(): boolean {
    return this.#finished.isOpen || this.#abort.signal.aborted;
  }

  async #outcome(): Promise<TurnOutcome> {
    try {
      const outcome = await Promise.race([this.#attempt(), this.#overdue.opened]);
      if (outcome !== true) return outcome;
      await this.#options.closeSession();
      return { status: "interrupted" };
    } catch (error) {
      // A driver that rejects has failed the turn, and its session is not used again.
      await this.#options.closeSession();
      return { status: "failed", error: turnErrorOf(error) };
    }
  }

  async #attempt(): Promise<TurnOutcome> {
    // A turn that is stopped while its agent starts does not wait for it; the next turn will use it.
    const opened = await Promise.race([this.#options.session(), this.#stopped.opened]);
    if (opened === true || this.#isOver) return { status: "interrupted" };
    this.#agent = opened.agent;
    this.#guard.begin(await opened.checkLimits?.());
    if (this.#files !== undefined) {
      await Promise.race([this.#files.begin(opened.asksFirst), this.#stopped.opened]);
      if (this.#isOver) return { status: "interrupted" };
    }
    await this.#markHandoff(opened);
    await Promise.race([this.#options.refreshScope(), this.#stopped.opened]);
    if (this.#isOver) return { status: "interrupted" };
    this.#session = opened.session;
    this.#silence.begin(opened.agent);
    const running = opened.session.run(this.#context(opened.asksToWrite));
    this.#begun.open();
    return running;
  }

  /** Adds an item where another agent than that of the last turn takes over. */
  async #markHandoff({ agent, missedTurns }: OpenSession): Promise<void> {
    const { lastAgent } = this.#options.log.state;
    if (lastAgent === undefined || lastAgent === agent) return;
    const item = {
      type: "agentHandoff",
      id: mintId(),
      fromAgent: lastAgent,
      toAgent: agent,
      missedTurns: (await missedTurns()).length,
    } as const;
    this.#emit({ type: "item/started", item });
    this.#emit({ type: "item/completed", item });
  }

  #stop(): void {
    this.#abort.abort();
    this.#stopped.open();
    this.#cancelGrace ??= this.#options.clock.after(STOP_GRACE_MS, () => this.#overdue.open());
    this.#options.requests.cancelTurn(this.turnId);
  }

  /** Stops the turn so that it fails with this error, unless it is ending already. */
  #stopFor(error: TurnError): void {
    if (this.#isOver) return;
    this.#stoppedFor = error;
    this.#stop();
  }

  #ending(outcome: TurnOutcome): Ending {
    if (this.#storageFailure !== undefined) return failedStorage(this.#storageFailure);
    if (this.#interruptedBy !== undefined && outcome.status !== "completed") {
      const error = this.#interruptedBy === "serverStopped" ? SERVER_STOPPED : undefined;
      return { status: "interrupted", error, by: this.#interruptedBy };
    }
    if (this.#stoppedFor !== undefined && outcome.status !== "completed") {
      return { status: "failed", error: this.#stoppedFor, by: "turnEnded" };
    }
    const error =
      outcome.status === "failed" ? this.#limits.explained(this.#agent, outcome.error) : undefined;
    return { status: outcome.status, error, by: "turnEnded" };
  }

  async #close(end: Ending): Promise<Ending["status"]> {
    const { log, clock, requests } = this.#options;
    const { waitedMs } = this.#guard;
    const declined = requests.takeDeclined(this.turnId);
    const ending = { ...end, waitedMs, declined, nativeEnd: this.#nativeEnd };
    log.endText();
    try {
      await log.commit(closeTurn(log.current(), this.turnId, ending, clock.now()));
      return ending.status;
    } catch (error) {
      // Even the end of the turn cannot be stored: it is sent now, and stored when there is space again.
      const unsaved = { ...failedStorage(asFlintError(error)), waitedMs };
      await log.commitUnwritten((state) => closeTurn(state, this.turnId, unsaved, clock.now()));
      return unsaved.status;
    }
  }

  #context(asksToWrite: boolean): TurnContext {
    const { turn, log } = this.#options;
    const { turnId, kind, input, review, outputSchema, agentInitiated } = turn;
    return {
      ...{ turnId, kind, input, review, outputSchema, agentInitiated },
      settings: effectiveSettings(log.state.settings, asksToWrite, this.#options.deniedHosts),
      signal: this.#abort.signal,
      emit: (event) => this.#emit(event),
      ready: () => this.#ready(),
      approve: (action, guarantees) =>
        this.#silence.during(() => this.#userRequests.approve(this.#agent, action, guarantees)),
      ask: (itemId, questions) => this.#silence.during(() => this.#userRequests.ask(itemId, questions)),
      callTool: (call) => this.#silence.during(() => this.#userRequests.callTool(call)),
    };
  }

  async #ready(): Promise<void> {
    await this.#options.log.drained();
    // Yields to other work even if the log never makes it wait.
    await new Promise((resolve) => setImmediate(resolve));
    await this.#silence.during(async () => this.#guard.held());
  }

  #failStorage(error: FlintError): void {
    this.#storageFailure ??= error;
    this.#stop();
  }

  get #nativeEnd(): NativeEnd | undefined {
    const position = this.#position;
    const sessionId = this.#options.log.state.nativeIds[this.#agent];
    if (position === undefined || !sessionId) return undefined;
    return { agent: this.#agent, sessionId, position };
  }

  #emit(reported: DriverEvent): void {
    const isOver = this.#finished.isOpen || this.#storageFailure !== undefined;
    if (isOver) return;
    this.#silence.observe(reported);
    if (reported.type === "position") {
      this.#position = reported.position;
      return;
    }
    if (reported.type === "costSoFar") {
      this.#guard.costSoFar(reported.cost);
      return;
    }
    if (reported.type === "limits") {
      this.#limits.report(this.#agent, reported.limits);
      return;
    }
    const report = reported.type === "usage" ? this.#guard.possible(reported) : reported;
    this.#files?.onReport(report);
    this.#reporter.report(report, this.#agent);
    if (report.type === "usage") this.#guard.used(report);
  }
}
