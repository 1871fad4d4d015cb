import {
  type Action,
  asFlintError,
  type Decision,
  mintId,
  type NativeEnd,
  type ThreadSettings,
  type TurnError,
  type UserInput,
} from "@flint/protocol";
import { TurnLimits } from "../account/turn-limits.ts";
import type { UsageLimits } from "../account/usage-limits.ts";
import type { DecidedConnection } from "../approval/network-gate.ts";
import type { OpenRequests } from "../approval/open-requests.ts";
import { waitAtMost } from "../async.ts";
import { BudgetGuard } from "../budget/budget-guard.ts";
import type { Limits } from "../budget/limits.ts";
import { ReportQueue } from "../denials/report-queue.ts";
import type { RerunOffers } from "../denials/rerun.ts";
import type { DeferredTexts } from "../denials/turn-denials.ts";
import { TurnDenials } from "../denials/turn-denials.ts";
import { UnprotectedFiles } from "../denials/unprotected-files.ts";
import type {
  Checkpoints,
  ClientHost,
  Clock,
  CommitOffer,
  DriverEvent,
  DriverSession,
  RefusedConnection,
  Sandbox,
  TurnContext,
  TurnOutcome,
} from "../ports/index.ts";
import type { SettingsLocks } from "../settings/settings-locks.ts";
import type { ThreadLog } from "../thread/log.ts";
import { effectiveSettings, type OpenSession } from "./agent-session.ts";
import { closeTurn, type Ending, failedStorage, turnErrorOf } from "./closing.ts";
import { takeOverCommits } from "./commits.ts";
import type { StartedTurn } from "./decisions.ts";
import { TurnFiles } from "./files.ts";
import { handoffItem } from "./handoff.ts";
import { TurnReporter } from "./reporter.ts";
import { TurnRequests } from "./requests.ts";
import { SilenceGuard } from "./silence-guard.ts";
import { TurnSteering } from "./steering.ts";
import { type Interrupter, TurnStop } from "./stop.ts";

/** Time for which the end of a turn waits for the search for files that it made. */
const UNPROTECTED_MS = 2_000;

/** Dependencies of a turn. */
export interface TurnRunnerOptions {
  readonly threadId: string;
  readonly turn: StartedTurn;
  readonly log: ThreadLog;
  readonly requests: OpenRequests;
  /** Offers to run a command again that were made before in this thread. */
  readonly offers: RerunOffers;
  readonly clock: Clock;
  readonly usageLimits: UsageLimits;
  /** Saves files before the turn changes them. */
  readonly checkpoints?: Checkpoints | undefined;
  readonly ephemeral?: boolean;
  /** Time for which the agent may report nothing; absent: unlimited. */
  readonly silenceMs?: number | undefined;
  /** Host rules that no command may connect to. */
  readonly deniedHosts: readonly string[];
  /** Settings that an administrator has locked. */
  readonly locks?: SettingsLocks | undefined;
  /** The client that has the files now; absent or undefined: they are on the disk. */
  clientHost?(): ClientHost | undefined;
  /** Returns the commits that the agent made in its sandbox. */
  commits(): Promise<CommitOffer | undefined>;
  /** Shows a running agent what the user has committed since its last turn. Never rejects. */
  refreshScope(): Promise<void>;
  /** The connections that were decided about while the command of an item ran. */
  connectionsOf(itemId: string): readonly DecidedConnection[];
  /** Returns the connections that were refused to the command of an item so far. */
  refused(itemId: string): readonly RefusedConnection[];
  /** Returns the last connections of the agent itself that were refused or failed. */
  refusedToAgent(): readonly RefusedConnection[];
  /** Finds out what the sandbox kept a command from. */
  readonly denials?: Sandbox["denials"];
  /** Finds files that the sandbox cannot keep commands from creating. */
  readonly unprotectedFiles?: Sandbox["unprotectedFiles"];
  /** Texts that could not be sent to the agent in an earlier turn. */
  readonly deferred: DeferredTexts;
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
  readonly #stop: TurnStop;
  readonly #steering: TurnSteering;
  readonly #reporter: TurnReporter;
  readonly #limits: TurnLimits;
  readonly #files: TurnFiles | undefined;
  readonly #guard: BudgetGuard;
  readonly #silence: SilenceGuard;
  readonly #userRequests: TurnRequests;
  readonly #denials: TurnDenials;
  readonly #reports: ReportQueue<DriverEvent>;
  readonly #unprotected: UnprotectedFiles;
  #asksToWrite = false;
  #noteReported: NonNullable<OpenSession["noteReported"]> = () => {};
  #agent = "";
  /** The latest position of the agent's own session. */
  #position: string | undefined;

  constructor(options: TurnRunnerOptions) {
    const { threadId, log, requests, clock } = options;
    const { turnId } = options.turn;
    this.#options = options;
    this.#stop = new TurnStop(clock, () => requests.cancelTurn(turnId));
    this.#steering = new TurnSteering(this.#stop);
    const failed = (error: unknown) => this.#stop.failStorage(asFlintError(error));
    const stopFor = (error: TurnError) => this.#stop.failWith(error);
    const connectionsOf = options.connectionsOf.bind(options);
    this.#reporter = new TurnReporter({
      ...{ threadId, turnId, log, connectionsOf, onError: failed },
      allowanceOf: (itemId) => requests.decided.allowanceOf(turnId, itemId),
      costOfTurn: () => this.#guard.cost,
    });
    this.#limits = new TurnLimits(threadId, log, options.usageLimits);
    const { checkpoints, ephemeral = false } = options;
    const { signal } = this.#stop;
    if (checkpoints !== undefined)
      this.#files = new TurnFiles({ threadId, turnId, log, clock, checkpoints, ephemeral, signal });
    this.#guard = new BudgetGuard({
      ...{ threadId, turnId, log, requests, clock, onError: failed },
      locks: options.locks,
      exceeded: stopFor,
      extendThread: (extended) => options.extendBudget(extended),
    });
    const { silenceMs: limitMs } = options;
    const refused = options.refusedToAgent.bind(options);
    this.#silence = new SilenceGuard({ clock, limitMs, refused, silent: stopFor });
    this.#userRequests = new TurnRequests({
      ...{ turnId, requests, offers: options.offers, onError: failed },
      ...{ guard: this.#guard, files: this.#files },
      hasEnded: () => this.#stop.hasEnded,
      cancelTurn: () => this.interrupt("interrupt"),
      onOpened: (action, folders) => this.#denials.allowChange(action, folders),
    });
    this.#denials = new TurnDenials({
      ...{ clock, denials: options.denials, deferred: options.deferred },
      settings: () => this.#settings,
      refused: (itemId) => options.refused(itemId),
      itemOf: (itemId) =>
        log
          .current()
          .turns.findLast(({ id }) => id === turnId)
          ?.items.find(({ id }) => id === itemId),
      approve: (action) => this.approve(action),
      grantOnce: (action) => requests.grantOnce(this.#agent, action).catch(failed),
      steer: (text) => this.#steering.steerText(text),
    });
    this.#unprotected = new UnprotectedFiles({
      settings: () => this.#settings,
      list: options.unprotectedFiles,
      emit: (event) => this.#emit(event),
    });
    this.#reports = new ReportQueue(
      (report) => this.#denials.prepare(report),
      (report) => this.#report(report),
    );
  }

  get turnId(): string {
    return this.#options.turn.turnId;
  }

  /** Stops the turn. It ends soon after, when none of its processes is left; open requests are cancelled. */
  interrupt(by: Interrupter, client?: string): void {
    this.#stop.interrupt(by, client);
  }

  /** Sends input to the agent, as `TurnSteering.steer` does. */
  steer(input: readonly UserInput[]): Promise<(() => void) | undefined> {
    return this.#steering.steer(input);
  }

  /** Requests approval of what is done in this turn. Never rejects. */
  approve(action: Action): Promise<Decision> {
    return this.#userRequests.approve(this.#agent, action);
  }

  /** Runs the turn to its end and returns how it ended. Never rejects. */
  async run(): Promise<Ending["status"]> {
    const { log, requests } = this.#options;
    log.onFailure((error) => this.#stop.failStorage(error));
    const outcome = await this.#outcome();
    await waitAtMost(this.#options.clock, UNPROTECTED_MS, this.#unprotected.end());
    if (outcome.status === "completed" && !this.#stop.hasEnded) await this.#takeOverCommits();
    if (!this.#stop.hasEnded) this.#guard.reportOverrun();
    const kept = this.#withinKnownLimits(outcome);
    this.#stop.finish();
    this.#denials.end();
    this.#guard.close();
    this.#silence.close();
    requests.cancelTurn(this.turnId);
    await this.#steering.released();
    if (this.#files !== undefined) await this.#files.end();
    log.onFailure(undefined);
    return this.#close(this.#stop.ending(kept, (error) => this.#limits.explained(this.#agent, error)));
  }

  /** A completed turn fails if its agent did not report what a limit of the budget counts: it may have gone beyond it. */
  #withinKnownLimits(outcome: TurnOutcome): TurnOutcome {
    if (outcome.status !== "completed" || this.#stop.hasEnded) return outcome;
    for (const [unit, isReported] of this.#guard.reportedUnits()) this.#noteReported(unit, isReported);
    const error = this.#guard.unkept();
    return error === undefined ? outcome : { status: "failed", error };
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

  async #outcome(): Promise<TurnOutcome> {
    try {
      // True: the driver did not stop in time.
      const outcome = await Promise.race([this.#attempt(), this.#stop.overdue]);
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
    // A turn that is stopped while its agent starts (true) does not wait for it; the next turn will use it.
    const opened = await Promise.race([this.#options.session(), this.#stop.stopped]);
    if (opened === true || this.#stop.hasEnded) return { status: "interrupted" };
    this.#agent = opened.agent;
    this.#guard.begin(await opened.checkLimits?.());
    this.#noteReported = (unit, isReported) => opened.noteReported?.(unit, isReported);
    if (this.#files !== undefined) {
      await Promise.race([this.#files.begin(opened.asksFirst), this.#stop.stopped]);
      if (this.#stop.hasEnded) return { status: "interrupted" };
    }
    await this.#markHandoff(opened);
    await Promise.race([this.#options.refreshScope(), this.#stop.stopped]);
    if (this.#stop.hasEnded) return { status: "interrupted" };
    this.#asksToWrite = opened.asksToWrite;
    this.#denials.begin(opened.explainsDenials === true ? undefined : opened.session);
    const looked = this.#unprotected.begin();
    if (looked !== undefined) await Promise.race([looked, this.#stop.stopped]);
    if (this.#stop.hasEnded) return { status: "interrupted" };
    this.#silence.begin(opened.agent);
    const { kind, input } = this.#options.turn;
    const first = kind === "prompt" ? [...this.#options.deferred.take(), ...input] : input;
    const running = opened.session.run(this.#context(first));
    this.#steering.begin(opened.session);
    return this.#withFollowUps(opened.session, await running);
  }

  /** Lets an agent that has ended its work run the commands again that the user has allowed since. */
  async #withFollowUps(session: DriverSession, first: TurnOutcome): Promise<TurnOutcome> {
    let outcome = first;
    for (;;) {
      await this.#reports.drained();
      if (outcome.status !== "completed" || this.#stop.hasEnded) return outcome;
      const input = await this.#silence.during(() => this.#denials.followUp());
      if (input.length === 0 || this.#stop.hasEnded) return outcome;
      // Drivers make the ids of items from it, and count from one again.
      outcome = await session.run(this.#context(input, mintId(this.#options.clock.now())));
    }
  }

  /** Adds an item where another agent than that of the last turn takes over. */
  async #markHandoff({ agent, missedTurns }: OpenSession): Promise<void> {
    const { lastAgent } = this.#options.log.state;
    if (lastAgent === undefined || lastAgent === agent) return;
    const item = handoffItem(lastAgent, agent, await missedTurns());
    this.#emit({ type: "item/started", item });
    this.#emit({ type: "item/completed", item });
  }

  async #close(end: Ending): Promise<Ending["status"]> {
    const { log, clock, requests } = this.#options;
    const { waitedMs } = this.#guard;
    const declined = requests.decided.endTurn(this.turnId);
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

  get #settings(): ThreadSettings {
    const { log, deniedHosts } = this.#options;
    return effectiveSettings(log.state.settings, this.#asksToWrite, deniedHosts);
  }

  #context(input: readonly UserInput[], turnId = this.turnId): TurnContext {
    const { turn, clientHost } = this.#options;
    const { kind, review, outputSchema, agentInitiated } = turn;
    const requests = this.#userRequests;
    // The subject of a question was reported before, so reports that are held back come first.
    const asking = <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
      const drained = this.#reports.drained();
      return drained === undefined
        ? this.#silence.during(ask)
        : drained.then(() => this.#silence.during(ask));
    };
    return {
      ...{ turnId, kind, input, review, outputSchema, agentInitiated },
      settings: this.#settings,
      signal: this.#stop.signal,
      clientFiles: () => clientHost?.()?.files,
      emit: (event) => this.#emit(event),
      ready: () => this.#ready(),
      approve: (action, guarantees) => asking(() => requests.approve(this.#agent, action, guarantees)),
      ask: (itemId, questions) => asking(() => requests.ask(itemId, questions)),
      callTool: (call) => asking(() => requests.callTool(call)),
      explainCommand: (...command) => asking(() => this.#denials.explain(...command)),
    };
  }

  async #ready(): Promise<void> {
    await this.#options.log.drained();
    // Yields to other work even if the log never makes it wait.
    await new Promise((resolve) => setImmediate(resolve));
    await this.#silence.during(async () => this.#guard.budgetAvailable());
  }

  get #nativeEnd(): NativeEnd | undefined {
    const position = this.#position;
    const sessionId = this.#options.log.state.nativeIds[this.#agent];
    if (position === undefined || !sessionId) return undefined;
    return { agent: this.#agent, sessionId, position };
  }

  #emit(reported: DriverEvent): void {
    if (!this.#stop.acceptsReports) return;
    this.#silence.observe(reported);
    this.#reports.push(reported);
  }

  #report(reported: DriverEvent): void {
    if (!this.#stop.acceptsReports) return;
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
    // Counted first: the log has the cost of the turn with this call.
    if (report.type === "usage") this.#guard.used(report);
    this.#reporter.report(report, this.#agent);
  }
}
