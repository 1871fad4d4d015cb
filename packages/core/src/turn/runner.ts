import {
  asFlintError,
  type FlintError,
  mintId,
  type NativeEnd,
  type TurnError,
  type UserInput,
} from "@flint/protocol";
import type { OpenRequests } from "../approval/open-requests.ts";
import { KeepAlive, Latch } from "../async/waiting.ts";
import { BudgetGuard } from "../budget/budget-guard.ts";
import type { Limits } from "../budget/limits.ts";
import type {
  Checkpoints,
  Clock,
  DriverEvent,
  DriverSession,
  TurnContext,
  TurnOutcome,
} from "../ports/index.ts";
import type { ThreadLog } from "../thread/log.ts";
import type { OpenSession } from "./agent-session.ts";
import { TurnRequests } from "./asking.ts";
import { closeTurn, type Ending } from "./decide/closing.ts";
import type { StartedTurn } from "./decide/turn.ts";
import { agentFailed, failedStorage, SERVER_STOPPED, turnErrorOf } from "./errors.ts";
import { TurnFiles } from "./files.ts";
import { TurnReporter } from "./reporter.ts";
import { workingSettings } from "./working-settings.ts";

/** How long a driver may take to stop before its session is ended for it. */
const STOP_GRACE_MS = 3_000;

/** What a runner needs of its thread. */
export interface TurnRunnerOptions {
  readonly threadId: string;
  readonly turn: StartedTurn;
  readonly log: ThreadLog;
  readonly requests: OpenRequests;
  readonly clock: Clock;
  /** Keeps the files of the turn as they were before it. */
  readonly checkpoints?: Checkpoints | undefined;
  readonly ephemeral?: boolean;
  /** The agent's session, opened if need be. */
  session(): Promise<OpenSession>;
  /** Ends the agent's session; the next turn opens a new one. */
  closeSession(): Promise<void>;
  /** Keeps how far the user lets the thread go on beyond its budget. */
  extendBudget(extended: Limits): void;
}

/**
 * Drives one turn of a driver. Whatever happens to the agent, the disk or the user's patience, the turn ends here,
 * in exactly one `turn/completed`.
 */
export class TurnRunner {
  readonly #options: TurnRunnerOptions;
  readonly #abort = new AbortController();
  /** The driver was told to do the turn. */
  readonly #begun = new Latch();
  readonly #stopped = new Latch();
  /** The driver was told to stop and has not in time. */
  readonly #overdue = new Latch();
  /** The driver is done, one way or another. */
  readonly #finished = new Latch();
  readonly #steers = new KeepAlive();
  readonly #reporter: TurnReporter;
  readonly #files: TurnFiles | undefined;
  readonly #guard: BudgetGuard;
  readonly #userRequests: TurnRequests;
  #cancelGrace: (() => void) | undefined;
  #session: DriverSession | undefined;
  #agent = "";
  /** Where the agent's own session stands, as it said last. */
  #position: string | undefined;
  #interruptedBy: "interrupt" | "serverStopped" | undefined;
  #storageFailure: FlintError | undefined;
  #overBudget: TurnError | undefined;

  constructor(options: TurnRunnerOptions) {
    const { threadId, log, requests, clock } = options;
    const { turnId } = options.turn;
    this.#options = options;
    const failed = (error: unknown) => this.#failStorage(asFlintError(error));
    this.#reporter = new TurnReporter({ threadId, turnId, log, onError: failed });
    const { checkpoints, ephemeral = false } = options;
    const { signal } = this.#abort;
    if (checkpoints !== undefined)
      this.#files = new TurnFiles({ threadId, turnId, log, clock, checkpoints, ephemeral, signal });
    this.#guard = new BudgetGuard({
      ...{ threadId, turnId, log, requests, clock, onError: failed },
      exceeded: (error) => this.#exceed(error),
      extendThread: (extended) => options.extendBudget(extended),
    });
    this.#userRequests = new TurnRequests({
      ...{ turnId, requests, onError: failed, guard: this.#guard, files: this.#files },
      isOver: () => this.#isOver,
      cancelTurn: () => this.interrupt("interrupt"),
    });
  }

  get turnId(): string {
    return this.#options.turn.turnId;
  }

  /** Asks the turn to stop. It ends soon after, with its processes gone; nothing that was asked is answered any more. */
  interrupt(by: "interrupt" | "serverStopped"): void {
    this.#interruptedBy ??= by;
    this.#stop();
  }

  /**
   * Gives input to the agent, as soon as it is there. Undefined if it takes none. Otherwise the turn goes on until the
   * given function is called, so that the input can be noted down as a part of it.
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

  /** Runs to the end. Never rejects. Gives how the turn ended. */
  async run(): Promise<Ending["status"]> {
    const { log, requests } = this.#options;
    log.onFailure((error) => this.#failStorage(error));
    const outcome = await this.#outcome();
    this.#finished.open();
    this.#guard.close();
    this.#cancelGrace?.();
    requests.cancelTurn(this.turnId);
    await this.#steers.released();
    if (this.#files !== undefined) await this.#files.end();
    log.onFailure(undefined);
    return this.#close(this.#ending(outcome));
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
      // Any rejection of a driver is a failed turn; a driver that failed this way is not trusted with the next one.
      await this.#options.closeSession();
      return { status: "failed", error: turnErrorOf(error) };
    }
  }

  async #attempt(): Promise<TurnOutcome> {
    // A turn that is stopped while its agent still starts need not wait for it; the next turn will find it ready.
    const opened = await Promise.race([this.#options.session(), this.#stopped.opened]);
    if (opened === true || this.#isOver) return { status: "interrupted" };
    this.#agent = opened.agent;
    if (this.#files !== undefined) {
      await Promise.race([this.#files.begin(opened.asksFirst), this.#stopped.opened]);
      if (this.#isOver) return { status: "interrupted" };
    }
    await this.#markHandoff(opened);
    if (this.#isOver) return { status: "interrupted" };
    this.#session = opened.session;
    const running = opened.session.run(this.#context(opened.asksToWrite));
    this.#begun.open();
    return running;
  }

  /** Another agent than that of the latest turn goes on: everybody should see where. */
  async #markHandoff({ agent, missedTurns }: OpenSession): Promise<void> {
    const { lastAgent } = this.#options.log.state;
    if (lastAgent === undefined || lastAgent === agent) return;
    const turnsTold = (await missedTurns()).length;
    const item = {
      type: "agentHandoff",
      id: mintId(),
      fromAgent: lastAgent,
      toAgent: agent,
      turnsTold,
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

  /** Ends the turn because its budget is used up, unless it is ending already. */
  #exceed(error: TurnError): void {
    if (this.#isOver) return;
    this.#overBudget = error;
    this.#stop();
  }

  #ending(outcome: TurnOutcome): Ending {
    if (this.#storageFailure !== undefined) return failedStorage(this.#storageFailure);
    if (this.#interruptedBy !== undefined && outcome.status !== "completed") {
      const error = this.#interruptedBy === "serverStopped" ? SERVER_STOPPED : undefined;
      return { status: "interrupted", error, by: this.#interruptedBy };
    }
    if (this.#overBudget !== undefined && outcome.status !== "completed") {
      return { status: "failed", error: this.#overBudget, by: "turnEnded" };
    }
    const error = outcome.status === "failed" ? outcome.error : undefined;
    return { status: outcome.status, error, by: "turnEnded" };
  }

  async #close(end: Ending): Promise<Ending["status"]> {
    const { log, clock } = this.#options;
    const { waitedMs } = this.#guard;
    const ending = { ...end, waitedMs, nativeEnd: this.#nativeEnd };
    log.endText();
    try {
      await log.commit(closeTurn(log.current(), this.turnId, ending, clock.now()));
      return ending.status;
    } catch (error) {
      // The disk refuses even the end of the turn: it is told now and stored when there is room again.
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
      settings: workingSettings(log.state.settings, asksToWrite),
      signal: this.#abort.signal,
      emit: (event) => this.#emit(event),
      ready: () => this.#ready(),
      approve: (action, promise) => this.#userRequests.approve(this.#agent, action, promise),
      ask: (itemId, questions) => this.#userRequests.ask(itemId, questions),
      callTool: (call) => this.#userRequests.callTool(call),
    };
  }

  async #ready(): Promise<void> {
    await this.#options.log.drained();
    // A log that is always ready must not keep everybody else from having a turn.
    await new Promise((resolve) => setImmediate(resolve));
    await this.#guard.held();
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
    if (reported.type === "position") {
      this.#position = reported.position;
      return;
    }
    this.#files?.onReport(reported);
    this.#reporter.report(reported, this.#agent);
    if (reported.type === "usage") this.#guard.used(reported);
  }
}
