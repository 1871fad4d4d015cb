import {
  agentOfModel,
  type ClientTool,
  type QueuedInput,
  type ThreadState,
  type Turn,
  type UserInput,
} from "@flint/protocol";
import { OpenRequests } from "../approval/open-requests.ts";
import { SerialQueue } from "../async/serial-queue.ts";
import { waitAtMost } from "../async/waiting.ts";
import { extendedBudget, type Limits } from "../budget/limits.ts";
import type {
  AgentInitiatedWork,
  Checkpoints,
  Clock,
  McpServerConfig,
  PolicyRules,
  Rules,
  Sandbox,
} from "../ports/index.ts";
import type { Catalogue } from "../settings/catalogue.ts";
import { AgentSession, type OpenSession } from "../turn/agent-session.ts";
import { decideBackgroundEnd } from "../turn/decide/background-end.ts";
import {
  type DecidedTurn,
  decideQueuedTurn,
  decideTurn,
  type NewTurn,
  refuseIfActive,
  runningTurnId,
  type StartedTurn,
  settingsEvents,
} from "../turn/decide/turn.ts";
import { TurnRunner } from "../turn/runner.ts";
import { ShellTurn } from "../turn/shell-turn.ts";
import type { ThreadLog } from "./log.ts";

/** How long a thread that is put to rest waits for a method that is still under way in it. */
const QUEUE_GRACE_MS = 1_000;

/** What a thread needs of its server. */
export interface LiveThreadOptions {
  readonly id: string;
  readonly ephemeral: boolean;
  readonly log: ThreadLog;
  readonly clock: Clock;
  readonly rules: Rules;
  readonly policyRules?: PolicyRules | undefined;
  readonly checkpoints?: Checkpoints | undefined;
  readonly sandbox: Sandbox;
  readonly catalogue: Catalogue;
  readonly approvalTimeoutMs: number;
  realPath(path: string): string;
  mcpServers(cwd: string): Promise<readonly McpServerConfig[]>;
  /** The tools that a client offers now. */
  clientTools(): readonly ClientTool[];
  /** The turns so far, oldest first. */
  history(): Promise<readonly Turn[]>;
  /** The state of another thread; undefined if it is gone. */
  stateOf(threadId: string): Promise<ThreadState | undefined>;
}

/** A loaded thread: its log, its agent's session, its running turn and its open questions. */
export class LiveThread {
  readonly id: string;
  readonly ephemeral: boolean;
  readonly log: ThreadLog;
  readonly requests: OpenRequests;
  /** The order in which the methods of this thread run. */
  readonly queue = new SerialQueue();
  readonly #clock: Clock;
  readonly #checkpoints: Checkpoints | undefined;
  readonly #sandbox: Sandbox;
  readonly #agent: AgentSession;
  #runner: TurnRunner | undefined;
  #running: Promise<void> = Promise.resolve();
  /** A turn that was interrupted before it was started. */
  #interrupted: string | undefined;
  #closed = false;
  /** What the agent does by itself, until it has a turn. */
  #agentInitiated: { readonly agent: string; readonly work: AgentInitiatedWork } | undefined;
  /** Whether what waits in the queue may follow: not after a turn that did not complete, until a person asks for another. */
  #continuesQueue = false;
  /** When somebody last used it, in unix milliseconds. */
  lastUsedAt: number;

  constructor(options: LiveThreadOptions) {
    const { id, log, clock, rules, catalogue, sandbox, history, stateOf, mcpServers, clientTools } = options;
    this.id = id;
    this.ephemeral = options.ephemeral;
    this.log = log;
    this.#clock = clock;
    this.#checkpoints = options.checkpoints;
    this.#sandbox = sandbox;
    this.requests = new OpenRequests({
      threadId: id,
      log,
      clock,
      rules,
      policyRules: options.policyRules,
      timeoutMs: options.approvalTimeoutMs,
      realPath: options.realPath,
    });
    this.#agent = new AgentSession({
      threadId: id,
      log,
      catalogue,
      sandbox,
      clock,
      history,
      stateOf,
      mcpServers,
      clientTools,
      startTurn: (agent, work) => this.#requestTurn(agent, work),
    });
    this.lastUsedAt = clock.now();
  }

  /** Whether it may be put to rest: nobody follows it, and nothing is under way in it, not even in the background. */
  get isIdle(): boolean {
    return (
      this.#runner === undefined && this.log.subscriberCount === 0 && !this.queue.busy && !this.#agent.isBusy
    );
  }

  /** Whether anything is under way in it: a turn, or what its agent has in the background. */
  get isWorking(): boolean {
    return this.#hasTurn || this.#agent.isBusy;
  }

  /** Whether it was put to rest: whoever still holds it has to load it again. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Makes a turn that can be committed. Refuses while another one runs. */
  decideTurn(wanted: NewTurn): DecidedTurn {
    return decideTurn(this.log.state, wanted, this.#clock.now());
  }

  /** A turn made from an input that waits; it leaves the queue with it. */
  decideQueued(next: QueuedInput): DecidedTurn {
    return decideQueuedTurn(this.log.state, next, this.#clock.now());
  }

  /** Throws `turnInProgress` while a turn runs. */
  refuseIfActive(): void {
    refuseIfActive(this.log.state);
  }

  /** Runs a command of the user's own as a turn that was committed. */
  startShell(turn: StartedTurn, timeoutMs: number | undefined): void {
    const session = new ShellTurn(this.#sandbox, timeoutMs);
    const { lastAgent, settings } = this.log.state;
    const agent = lastAgent ?? agentOfModel(settings.model);
    this.start(turn, async () => ({
      ...{ agent, session, asksFirst: false, missedTurns: async () => [] },
      // Whoever types a command has said yes to it.
      asksToWrite: true,
    }));
  }

  /** Runs a turn that was committed, and after it what waits in the queue. */
  start(turn: StartedTurn, session: () => Promise<OpenSession> = () => this.#agent.get()): void {
    const runner = new TurnRunner({
      threadId: this.id,
      turn,
      log: this.log,
      requests: this.requests,
      clock: this.#clock,
      checkpoints: this.#checkpoints,
      ephemeral: this.ephemeral,
      session,
      closeSession: () => this.#agent.close(),
      extendBudget: (extended) => void this.queue.run(() => this.#extendBudget(extended)),
    });
    this.#runner = runner;
    if (this.#closed) runner.interrupt("serverStopped");
    if (this.#interrupted === turn.turnId) runner.interrupt("interrupt");
    this.#running = this.#runToEnd(runner, turn.agentInitiated !== undefined);
  }

  /** Stops the running turn, also one that is only about to start. Throws `notRunning` if there is none. */
  interrupt(expected?: string): void {
    const turnId = runningTurnId(this.log.state, expected);
    if (this.#runner?.turnId === turnId) this.#runner.interrupt("interrupt");
    else this.#interrupted = turnId;
  }

  /** Stops the turn that runs, if one does, and waits for its end. To be called by a method of this very thread. */
  async stopTurn(): Promise<void> {
    if (this.log.state.activeTurnId !== undefined) this.interrupt();
    await this.#running;
  }

  /**
   * Gives input to the running turn. Undefined if its agent cannot take it now. Otherwise the turn does not end
   * before the given function is called.
   */
  async steer(input: readonly UserInput[]): Promise<(() => void) | undefined> {
    return this.#runner?.steer(input);
  }

  /** The running turn's id, or an error that says there is none. */
  runningTurnId(expected?: string): string {
    return runningTurnId(this.log.state, expected);
  }

  /** Ends the agent's session; the next turn opens a new one. */
  dropSession(): Promise<void> {
    return this.#agent.close();
  }

  /** Lets go of an agent that nobody has used for long, if it can be taken up again where it was. */
  async stopIdleAgent(): Promise<void> {
    if (this.#runner === undefined && !this.queue.busy) await this.#agent.stopIfIdle();
  }

  /** Ends an agent whose work in the background goes on and on while nobody follows the thread, and says so in it. */
  stopBackgroundWork(): Promise<void> {
    return this.queue.run(async () => {
      if (this.#hasTurn || this.log.subscriberCount > 0 || !this.#agent.isBusy) return;
      await this.log.commit(decideBackgroundEnd(this.log.state, this.#clock.now()));
      await this.#agent.close();
    });
  }

  /**
   * Stops what runs, ends the agent, stores everything. `inQueue`: asked for by a method of this very thread. Followers
   * hear that it rests, unless there is another farewell for them.
   */
  async close(inQueue: boolean, isFollowedByFarewell = false): Promise<void> {
    this.#closed = true;
    this.#runner?.interrupt("serverStopped");
    // A method under way may be about to start a turn; it finds the thread closed and stops it at once.
    if (!inQueue)
      await waitAtMost(
        this.#clock,
        QUEUE_GRACE_MS,
        this.queue.run(async () => undefined),
      );
    await this.#running;
    await this.#agent.close();
    await this.log.close(isFollowedByFarewell);
  }

  /** Also one that is only about to start, or not quite over yet. */
  get #hasTurn(): boolean {
    return this.#runner !== undefined || this.log.state.activeTurnId !== undefined;
  }

  async #runToEnd(runner: TurnRunner, isUnasked: boolean): Promise<void> {
    const status = await runner.run();
    // The next turn may have begun as soon as the end of this one was told.
    if (this.#runner === runner) this.#runner = undefined;
    this.lastUsedAt = this.#clock.now();
    // After an interruption or a failure a person should look before the queue goes on.
    this.#continuesQueue = status === "completed" && (!isUnasked || this.#continuesQueue);
    if (this.#continuesQueue || this.#agentInitiated !== undefined)
      void this.queue.run(() => this.#startNext());
  }

  /** An agent that works by itself: that is a turn too, before what waits in the queue. */
  #requestTurn(agent: string, work: AgentInitiatedWork): void {
    this.#agentInitiated = { agent, work };
    void this.queue.run(() => this.#startNext());
  }

  async #startNext(): Promise<void> {
    if (this.log.state.activeTurnId !== undefined || this.#closed) return;
    const work = this.#takeAgentInitiated();
    try {
      const decided = work === undefined ? this.#decideNext() : this.#decideAgentInitiated(work);
      if (decided === undefined) return;
      await this.log.commit(decided.events);
      this.start(decided.started);
    } catch {
      // The log cannot be written, or the budget is used up: the input stays in the queue, and the next request says
      // what is wrong.
      work?.refuse();
    }
  }

  #decideNext(): DecidedTurn | undefined {
    const [next] = this.#continuesQueue ? this.log.state.queue : [];
    return next === undefined ? undefined : this.decideQueued(next);
  }

  #decideAgentInitiated({ reason }: AgentInitiatedWork): DecidedTurn {
    return this.decideTurn({ kind: "prompt", input: [], agentInitiated: reason });
  }

  /** What still waits for a turn, if its agent is still that of the thread. */
  #takeAgentInitiated(): AgentInitiatedWork | undefined {
    const { agent, work } = this.#agentInitiated ?? {};
    this.#agentInitiated = undefined;
    if (work?.isWaiting() !== true) return undefined;
    if (agent === agentOfModel(this.log.state.settings.model)) return work;
    work.refuse();
    return undefined;
  }

  /** In the queue, because a setting that is worked out from older ones would undo what came in between. */
  async #extendBudget(extended: Limits): Promise<void> {
    const { state } = this.log;
    const budget = extendedBudget(state.settings.budget, extended);
    try {
      await this.log.commit(settingsEvents(state, { ...state.settings, budget }));
    } catch {
      // It cannot be stored: it holds for the running turn, and the user is asked again in the next one.
    }
  }
}
