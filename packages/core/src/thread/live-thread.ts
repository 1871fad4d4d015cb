import {
  type Action,
  agentOfModel,
  type BackgroundCommand,
  type ClientTool,
  type Decision,
  type Endpoint,
  type EventBody,
  formatEndpoint,
  type QueuedInput,
  type ThreadState,
  type Turn,
  taskVariables,
  type UserInput,
} from "@flint/protocol";
import type { UsageLimits } from "../account/usage-limits.ts";
import { NetworkGate } from "../approval/network-gate.ts";
import { OpenRequests } from "../approval/open-requests.ts";
import { RepeatOffers } from "../approval/repeat-offers.ts";
import { SerialQueue, waitAtMost } from "../async.ts";
import { extendedBudget, type Limits } from "../budget/limits.ts";
import { DeferredTexts } from "../denials/turn-denials.ts";
import type {
  AgentInitiatedWork,
  Checkpoints,
  ClientHost,
  Clock,
  McpServerConfig,
  PolicyRules,
  Rules,
  Sandbox,
  SandboxScope,
  Workspaces,
} from "../ports/index.ts";
import type { Catalogue } from "../settings/catalogue.ts";
import { AgentSession, type OpenSession } from "../turn/agent-session.ts";
import { ClientIds } from "../turn/client-ids.ts";
import { decideBackgroundEnd } from "../turn/closing.ts";
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
import { GoalPursuit } from "./goal-pursuit.ts";
import type { ThreadLog } from "./log.ts";
import { NextTurn } from "./next-turn.ts";
import { ThreadSandbox } from "./thread-sandbox.ts";

/** How long closing a thread waits for a method that is still running in it. */
const QUEUE_GRACE_MS = 1_000;

/** What a thread is made of. */
export interface LiveThreadOptions {
  readonly id: string;
  readonly ephemeral: boolean;
  readonly log: ThreadLog;
  readonly clock: Clock;
  readonly usageLimits: UsageLimits;
  readonly rules: Rules;
  readonly policyRules?: PolicyRules | undefined;
  readonly checkpoints?: Checkpoints | undefined;
  readonly sandbox: Sandbox;
  readonly catalogue: Catalogue;
  readonly approvalTimeoutMs: number;
  /** How long an agent may report nothing while its model is expected to speak. */
  readonly silenceMs?: number | undefined;
  realPath(path: string): string;
  folderIdentity?: ((path: string) => string | undefined) | undefined;
  mcpServers(cwd: string): Promise<readonly McpServerConfig[]>;
  readonly workspaces: Workspaces;
  /** The tools that a client provides now. */
  clientTools(): readonly ClientTool[];
  /** The client that runs commands and has the files now, in place of this machine. */
  clientHost(): ClientHost | undefined;
  /** The turns so far, oldest first. */
  history(): Promise<readonly Turn[]>;
  /** The state of another thread; undefined if it was deleted. */
  stateOf(threadId: string): Promise<ThreadState | undefined>;
}

/** A loaded thread: its log, its agent's session, its running turn and its open requests. */
export class LiveThread {
  readonly id: string;
  readonly ephemeral: boolean;
  readonly log: ThreadLog;
  readonly requests: OpenRequests;
  readonly clientIds: ClientIds;
  /** Runs the methods of this thread one after the other. */
  readonly queue = new SerialQueue();
  readonly #clock: Clock;
  readonly #usageLimits: UsageLimits;
  readonly #checkpoints: Checkpoints | undefined;
  readonly #silenceMs: number | undefined;
  readonly #clientHost: () => ClientHost | undefined;
  readonly #sandbox: ThreadSandbox;
  readonly #network: NetworkGate;
  readonly #offers = new RepeatOffers();
  readonly #deferred = new DeferredTexts();
  readonly #deniedHosts: readonly string[];
  readonly #agent: AgentSession;
  #runner: TurnRunner | undefined;
  #running: Promise<void> = Promise.resolve();
  /** A turn that was interrupted before it was started. */
  #interrupted: string | undefined;
  #closed = false;
  readonly #next: NextTurn;
  readonly #goal: GoalPursuit;
  /** When a client last used it, in unix milliseconds. */
  lastUsedAt: number;

  constructor(options: LiveThreadOptions) {
    const { id, log, clock, rules, catalogue, history, stateOf, mcpServers, clientTools } = options;
    this.id = id;
    this.ephemeral = options.ephemeral;
    this.log = log;
    this.clientIds = new ClientIds(() => log.state, history);
    this.#next = new NextTurn(log, clock);
    this.#goal = new GoalPursuit(log, clock);
    this.#clock = clock;
    this.#usageLimits = options.usageLimits;
    this.#checkpoints = options.checkpoints;
    this.#silenceMs = options.silenceMs;
    this.#clientHost = () => options.clientHost();
    const { deniedHosts = [], source: deniedBy = "" } = options.policyRules ?? {};
    this.#deniedHosts = deniedHosts;
    this.#network = new NetworkGate({
      ...{ deniedHosts, deniedBy },
      state: () => log.current(),
      approve: (action) => this.#approve(action),
      onLateAnswer: (command, connection) => void this.#reportLateAnswer(command, connection),
      noteDeclined: (action, reason) => this.#noteDeclined(action, reason),
    });
    this.#sandbox = this.#openSandbox(options);
    this.requests = new OpenRequests({
      threadId: id,
      log,
      clock,
      rules,
      policyRules: options.policyRules,
      timeoutMs: options.approvalTimeoutMs,
      realPath: options.realPath,
      folderIdentity: options.folderIdentity,
    });
    this.#agent = new AgentSession({
      threadId: id,
      log,
      catalogue,
      sandbox: this.#sandbox,
      clock,
      history,
      stateOf,
      mcpServers,
      workspaces: options.workspaces,
      clientTools,
      deniedHosts,
      startTurn: (agent, work) => this.#requestTurn(agent, work),
    });
    this.lastUsedAt = clock.now();
  }

  /** Its commands ask this thread about the network and git; the settings may change between them. */
  #openSandbox(options: LiveThreadOptions): ThreadSandbox {
    const { id, log, sandbox, workspaces } = options;
    const scope = (): SandboxScope => ({
      id,
      decide: (connection) => this.#network.decide(connection),
      onFailedConnection: (connection) => this.#network.onFailed(connection),
      privateGit: (log.state.settings.git ?? "ask") !== "off",
    });
    return new ThreadSandbox(sandbox, scope, {
      deniedHosts: this.#deniedHosts,
      gitVariables: (cwd) => workspaces.gitVariables(cwd),
      variables: () => taskVariables(log.state.settings.task),
      terminal: () => options.clientHost()?.terminal,
    });
  }

  /** Whether it may be unloaded: no subscribers, and nothing running in it, not even in the background. */
  get isIdle(): boolean {
    return (
      this.#runner === undefined && this.log.subscriberCount === 0 && !this.queue.busy && !this.#agent.isBusy
    );
  }

  /** Whether a turn or its agent's background work is running. */
  get isWorking(): boolean {
    return this.#hasTurn || this.#agent.isBusy;
  }

  /** Whether it was unloaded, and has to be loaded again to be used. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Decides on a new turn, to be committed. Throws while another one is running. */
  decideTurn(request: NewTurn): DecidedTurn {
    return decideTurn(this.log.state, request, this.#clock.now());
  }

  /** Decides on a turn that only adds messages to the history, to be committed. Throws while another one is running. */
  decideInjected(messages: readonly InjectedMessage[]): {
    readonly turn: Turn;
    readonly events: EventBody[];
  } {
    return decideInjected(this.log.state, messages, this.#clock.now());
  }

  /** Decides on a turn for a queued input, which leaves the queue with it. */
  decideQueued(next: QueuedInput): DecidedTurn {
    return decideQueuedTurn(this.log.state, next, this.#clock.now());
  }

  /** Throws `turnInProgress` while a turn is running. */
  rejectIfActive(): void {
    rejectIfActive(this.log.state);
  }

  /** Runs a committed turn that is a shell command of the user. */
  startShell(turn: StartedTurn, timeoutMs: number | undefined): void {
    const session = new ShellTurn(this.#sandbox, timeoutMs);
    const { lastAgent, settings } = this.log.state;
    const agent = lastAgent ?? agentOfModel(settings.model);
    this.start(turn, async () => ({
      ...{ agent, session, asksFirst: false, missedTurns: async () => [] },
      // Typing the command approves it.
      asksToWrite: true,
    }));
  }

  /** Runs a committed turn, and then the queued input. */
  start(turn: StartedTurn, session: () => Promise<OpenSession> = () => this.#agent.get()): void {
    const runner = new TurnRunner({
      threadId: this.id,
      turn,
      log: this.log,
      requests: this.requests,
      offers: this.#offers,
      commits: () => this.#sandbox.commits(),
      refreshScope: () => this.#sandbox.refreshScope(),
      connectionsOf: (itemId) => this.#network.take(itemId),
      refused: (itemId) => this.#network.refused(itemId),
      ...this.#sandbox.looks,
      deferred: this.#deferred,
      clock: this.#clock,
      usageLimits: this.#usageLimits,
      checkpoints: this.#checkpoints,
      ephemeral: this.ephemeral,
      silenceMs: this.#silenceMs,
      deniedHosts: this.#deniedHosts,
      clientHost: this.#clientHost,
      session,
      closeSession: () => this.#agent.close(),
      extendBudget: (extended) => void this.queue.run(() => this.#extendBudget(extended)),
    });
    this.#runner = runner;
    if (this.#closed) runner.interrupt("serverStopped");
    if (this.#interrupted === turn.turnId) runner.interrupt("interrupt");
    this.#running = this.#runToEnd(runner, turn.agentInitiated !== undefined);
  }

  /** Interrupts the running turn, also one that is about to start. Throws `notRunning` if there is none. */
  interrupt(expected?: string): void {
    const turnId = runningTurnId(this.log.state, expected);
    if (this.#runner?.turnId === turnId) this.#runner.interrupt("interrupt");
    else this.#interrupted = turnId;
  }

  /** Interrupts the running turn, if any, and waits for its end. To be called from this thread's queue. */
  async stopTurn(): Promise<void> {
    if (this.log.state.activeTurnId !== undefined) this.interrupt();
    await this.#running;
  }

  /**
   * Sends input to the running turn. Undefined if its agent cannot take it now. Otherwise the turn does not end before
   * the returned function is called.
   */
  async steer(input: readonly UserInput[]): Promise<(() => void) | undefined> {
    return this.#runner?.steer(input);
  }

  /** The id of the running turn. Throws `notRunning` if there is none, or another than expected. */
  runningTurnId(expected?: string): string {
    return runningTurnId(this.log.state, expected);
  }

  /** Closes the agent's session; the next turn opens a new one. */
  closeSession(): Promise<void> {
    return this.#agent.close();
  }

  /** Stops an idle agent if it can be resumed. */
  async stopIdleAgent(): Promise<void> {
    if (this.#runner === undefined && !this.queue.busy) await this.#agent.stopIfIdle();
  }

  /** The commands that the agent left running. */
  backgroundCommands(): Promise<readonly BackgroundCommand[]> {
    return this.#agent.backgroundCommands();
  }

  /** Stops a background command. False if it was not running. */
  stopBackgroundCommand(processId: string): Promise<boolean> {
    return this.#agent.stopBackgroundCommand(processId);
  }

  /** Stops an agent whose background work goes on without subscribers, and records that as a turn. */
  stopBackgroundWork(): Promise<void> {
    return this.queue.run(async () => {
      if (this.#hasTurn || this.log.subscriberCount > 0 || !this.#agent.isBusy) return;
      await this.log.commit(decideBackgroundEnd(this.log.state, this.#clock.now()));
      await this.#agent.close();
    });
  }

  /**
   * Stops what runs, ends the agent and stores everything. `inQueue`: called from this thread's queue. Subscribers get
   * `thread/closed`, unless another final event follows.
   */
  async close(inQueue: boolean, hasFinalEvent = false): Promise<void> {
    this.#closed = true;
    this.#runner?.interrupt("serverStopped");
    // A running method may be about to start a turn, which is then stopped at once because the thread is closed.
    if (!inQueue)
      await waitAtMost(
        this.#clock,
        QUEUE_GRACE_MS,
        this.queue.run(async () => undefined),
      );
    await this.#running;
    await this.#agent.close();
    await this.#sandbox.closeScope();
    await this.log.close(hasFinalEvent);
  }

  /** Tells the agent of the running turn, which alone can run the command again. */
  async #reportLateAnswer(command: string, connection: Endpoint): Promise<void> {
    const text = `The user has now allowed \`${command}\` to connect to ${formatEndpoint(connection)}. Run it again if you still need it.`;
    // Expected: the agent takes no input now, or has just ended. Then the next run of the command is allowed anyway.
    const release = await this.#runner?.steer([{ type: "text", text }]).catch(() => undefined);
    release?.();
  }

  async #approve(action: Action): Promise<Decision> {
    return (
      this.#runner?.approve(action) ?? { outcome: "deny", scope: "once", message: "No turn is running." }
    );
  }

  #noteDeclined(action: Action, reason: string): void {
    if (this.#runner !== undefined) this.requests.decided.noteDeclined(this.#runner.turnId, action, reason);
  }

  /** Also true for a turn that is about to start or to end. */
  get #hasTurn(): boolean {
    return this.#runner !== undefined || this.log.state.activeTurnId !== undefined;
  }

  async #runToEnd(runner: TurnRunner, isAgentInitiated: boolean): Promise<void> {
    const status = await runner.run();
    // The next turn may have started as soon as the end of this one was sent.
    if (this.#runner === runner) this.#runner = undefined;
    this.lastUsedAt = this.#clock.now();
    const mayFollow = this.#next.after(status, isAgentInitiated) || this.#goal.isActive;
    if (mayFollow) void this.queue.run(() => this.#startNext());
  }

  /** Work that an agent initiated gets a turn too, ahead of the queued input. */
  #requestTurn(agent: string, work: AgentInitiatedWork): void {
    this.#next.add(agent, work);
    void this.queue.run(() => this.#startNext());
  }

  async #startNext(): Promise<void> {
    if (this.log.state.activeTurnId !== undefined || this.#closed) return;
    await this.#next.start((turn) => this.start(turn));
    await this.#goal.step({
      prompt: (turn) => this.start(turn),
      shell: (turn) => this.startShell(turn, undefined),
    });
  }

  /** Runs in the queue, because settings derived from older ones would undo changes made in between. */
  async #extendBudget(extended: Limits): Promise<void> {
    const { state } = this.log;
    const budget = extendedBudget(state.settings.budget, extended);
    try {
      await this.log.commit(settingsEvents(state, { ...state.settings, budget }));
    } catch {
      // It cannot be stored: it applies to the running turn only, and the user is asked again in the next one.
    }
  }
}
