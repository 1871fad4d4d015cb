import {
  type Action,
  agentOfModel,
  type Decision,
  type Endpoint,
  type EventBody,
  formatEndpoint,
  type QueuedInput,
  type Turn,
  type UserInput,
} from "@flint/protocol";
import type { UsageLimits } from "../account/usage-limits.ts";
import type { NetworkGate } from "../approval/network-gate.ts";
import type { OpenRequests } from "../approval/open-requests.ts";
import type { SerialQueue } from "../async.ts";
import { extendedBudget, type Limits } from "../budget/limits.ts";
import { RerunOffers } from "../denials/rerun.ts";
import { DeferredTexts } from "../denials/turn-denials.ts";
import { GoalPursuit } from "../goal/goal-pursuit.ts";
import type { AgentInitiatedWork, Checkpoints, ClientHost, Clock } from "../ports/index.ts";
import type { SettingsLocks } from "../settings/settings-locks.ts";
import type { AgentSession, OpenSession } from "../turn/agent-session.ts";
import {
  type DecidedTurn,
  decideInjected,
  decideQueuedTurn,
  decideTurn,
  type InjectedMessage,
  type NewTurn,
  rejectIfActive,
  runningTurnId,
  type StartedTurn,
  settingsEvents,
} from "../turn/decisions.ts";
import { TurnRunner } from "../turn/runner.ts";
import { ShellTurn } from "../turn/shell-turn.ts";
import type { ThreadLog } from "./log.ts";
import { NextTurn } from "./next-turn.ts";
import { PendingInputs } from "./pending-inputs.ts";
import type { ThreadSandbox } from "./thread-sandbox.ts";

/** Dependencies of the turns of a thread. */
export interface ThreadTurnsOptions {
  readonly threadId: string;
  readonly ephemeral: boolean;
  readonly log: ThreadLog;
  readonly clock: Clock;
  readonly usageLimits: UsageLimits;
  readonly checkpoints: Checkpoints | undefined;
  /** Time for which an agent may report nothing while its model is expected to respond. */
  readonly silenceMs: number | undefined;
  /** Host rules that no command may connect to. */
  readonly deniedHosts: readonly string[];
  /** Settings that an administrator has locked: no turn runs with settings beyond them. */
  readonly locks: SettingsLocks | undefined;
  /** The client that runs commands and has the files now, in place of this machine. */
  clientHost(): ClientHost | undefined;
  /** Runs the methods of the thread one after the other. */
  readonly queue: SerialQueue;
  readonly requests: OpenRequests;
  readonly agent: AgentSession;
  readonly sandbox: ThreadSandbox;
  readonly network: NetworkGate;
  /** Called when a turn has ended. */
  onEnd(): void;
}

/** The turns of a loaded thread: decides on them, runs one at a time, and starts what follows it. */
export class ThreadTurns {
  /** The inputs that the agent has not answered. */
  readonly pending = new PendingInputs();
  readonly #options: ThreadTurnsOptions;
  readonly #log: ThreadLog;
  readonly #clock: Clock;
  readonly #offers = new RerunOffers();
  readonly #deferred = new DeferredTexts();
  readonly #next: NextTurn;
  readonly #goal: GoalPursuit;
  #runner: TurnRunner | undefined;
  #running: Promise<void> = Promise.resolve();
  /** A turn that was interrupted before it was started. */
  #interrupted: { readonly turnId: string; readonly client: string | undefined } | undefined;
  #closed = false;

  constructor(options: ThreadTurnsOptions) {
    const { log, clock, locks } = options;
    this.#options = options;
    this.#log = log;
    this.#clock = clock;
    this.#next = new NextTurn(log, clock, locks, this.pending);
    this.#goal = new GoalPursuit(log, clock, locks);
  }

  /** Reports whether a turn is running. */
  get isRunning(): boolean {
    return this.#runner !== undefined;
  }

  /** Also true for a turn that is about to start or to end. */
  get hasTurn(): boolean {
    return this.isRunning || this.#log.state.activeTurnId !== undefined;
  }

  /** Reports whether no further turn can run. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Decides on a new turn, to be committed. Throws while another one is running. */
  decide(request: NewTurn): DecidedTurn {
    return decideTurn(this.#log.state, request, this.#clock.now(), this.#options.locks);
  }

  /** Decides on a turn that only adds messages to the history, to be committed. Throws while another one is running. */
  decideInjected(messages: readonly InjectedMessage[]): {
    readonly turn: Turn;
    readonly events: EventBody[];
  } {
    return decideInjected(this.#log.state, messages, this.#clock.now());
  }

  /** Decides on a turn for a queued input, which leaves the queue with it. */
  decideQueued(next: QueuedInput): DecidedTurn {
    return decideQueuedTurn(this.#log.state, next, this.#clock.now(), this.#options.locks);
  }

  /** Throws `turnInProgress` while a turn is running. */
  rejectIfActive(): void {
    rejectIfActive(this.#log.state);
  }

  /** The id of the running turn. Throws `notRunning` if there is none, or another than expected. */
  runningId(expected?: string): string {
    return runningTurnId(this.#log.state, expected);
  }

  /** Runs a committed turn that is a shell command of the user. */
  startShell(turn: StartedTurn, timeoutMs: number | undefined): void {
    const session = new ShellTurn(this.#options.sandbox, timeoutMs);
    const { lastAgent, settings } = this.#log.state;
    const agent = lastAgent ?? agentOfModel(settings.model);
    this.start(turn, async () => ({
      ...{ agent, session, asksFirst: false, missedTurns: async () => [] },
      // Typing the command approves it.
      asksToWrite: true,
    }));
  }

  /** Runs a committed turn, and then the queued input. */
  start(turn: StartedTurn, session: () => Promise<OpenSession> = () => this.#options.agent.get()): void {
    const { network, sandbox, agent, queue, ...options } = this.#options;
    const runner = new TurnRunner({
      ...options,
      turn,
      offers: this.#offers,
      commits: () => sandbox.commits(),
      refreshScope: () => sandbox.refreshScope(),
      connectionsOf: (itemId) => network.take(itemId),
      refused: (itemId) => network.refused(itemId),
      refusedToAgent: () => network.refusedToAgent,
      ...sandbox.inspections,
      deferred: this.#deferred,
      session,
      closeSession: () => agent.close(),
      extendBudget: (extended) => void queue.run(() => this.#extendBudget(extended)),
    });
    this.#runner = runner;
    if (this.#closed) runner.interrupt("serverStopped");
    if (this.#interrupted?.turnId === turn.turnId) runner.interrupt("interrupt", this.#interrupted.client);
    this.#running = this.#runToEnd(runner, turn.agentInitiated !== undefined);
  }

  /**
   * Interrupts the running turn, also one that is about to start, for the client with this name. Throws `notRunning` if
   * there is none.
   */
  interrupt(expected?: string, client?: string): void {
    const turnId = runningTurnId(this.#log.state, expected);
    if (this.#runner?.turnId === turnId) this.#runner.interrupt("interrupt", client);
    else this.#interrupted = { turnId, client };
  }

  /** Interrupts the running turn, if any, and waits for its end. To be called from this thread's queue. */
  async stop(): Promise<void> {
    if (this.#log.state.activeTurnId !== undefined) this.interrupt();
    await this.#running;
  }

  /**
   * Sends input to the running turn. Undefined if its agent cannot take it now. Otherwise the turn does not end before
   * the returned function is called.
   */
  async steer(input: readonly UserInput[]): Promise<(() => void) | undefined> {
    return this.#runner?.steer(input);
  }

  /** Interrupts the running turn, and any that a running method still starts. */
  close(): void {
    this.#closed = true;
    this.#runner?.interrupt("serverStopped");
  }

  /** Resolves when no turn is running. */
  ended(): Promise<void> {
    return this.#running;
  }

  /** Sends a late answer to the agent of the running turn, which alone can run the command again. */
  async reportLateAnswer(command: string, connection: Endpoint): Promise<void> {
    const text = `The user has now allowed \`${command}\` to connect to ${formatEndpoint(connection)}. Run it again if you still need it.`;
    // Expected: the agent takes no input now, or has just ended. Then the next run of the command is allowed anyway.
    const release = await this.#runner?.steer([{ type: "text", text }]).catch(() => undefined);
    release?.();
  }

  /** Requests approval of what a command of the running turn does. Without one it is denied. */
  async approve(action: Action): Promise<Decision> {
    return (
      this.#runner?.approve(action) ?? { outcome: "deny", scope: "once", message: "No turn is running." }
    );
  }

  /** Lists an action that was refused in the running turn. */
  noteDeclined(action: Action, reason: string): void {
    if (this.#runner !== undefined)
      this.#options.requests.decided.noteDeclined(this.#runner.turnId, action, reason);
  }

  async #runToEnd(runner: TurnRunner, isAgentInitiated: boolean): Promise<void> {
    const status = await runner.run();
    // The next turn may have started as soon as the end of this one was sent.
    if (this.#runner === runner) this.#runner = undefined;
    this.#options.onEnd();
    const mayFollow = this.#next.after(status, isAgentInitiated) || this.#goal.isActive;
    if (mayFollow) void this.#options.queue.run(() => this.#startNext());
  }

  /** Work that an agent initiated gets a turn too, ahead of the queued input. */
  request(agent: string, work: AgentInitiatedWork): void {
    this.#next.add(agent, work);
    void this.#options.queue.run(() => this.#startNext());
  }

  async #startNext(): Promise<void> {
    if (this.#log.state.activeTurnId !== undefined || this.#closed) return;
    await this.#next.start((turn) => this.start(turn));
    await this.#goal.step({
      prompt: (turn) => this.start(turn),
      shell: (turn) => this.startShell(turn, undefined),
    });
  }

  /** Runs in the queue, because settings derived from older ones would undo changes made in between. */
  async #extendBudget(extended: Limits): Promise<void> {
    const { state } = this.#log;
    const budget = extendedBudget(state.settings.budget, extended);
    try {
      await this.#log.commit(settingsEvents(state, { ...state.settings, budget }));
    } catch {
      // It cannot be stored: it applies to the running turn only, and the user is asked again in the next one.
    }
  }
}
