import {
  type BackgroundCommand,
  type ClientTool,
  type ThreadState,
  type Turn,
  taskVariables,
} from "@flint/protocol";
import type { UsageLimits } from "../account/usage-limits.ts";
import { NetworkGate } from "../approval/network-gate.ts";
import { OpenRequests } from "../approval/open-requests.ts";
import { ThreadFolders } from "../approval/thread-folders.ts";
import { SerialQueue, waitAtMost } from "../async.ts";
import type {
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
import type { SettingsLocks } from "../settings/settings-locks.ts";
import { AgentSession } from "../turn/agent-session.ts";
import { ClientIds } from "../turn/client-ids.ts";
import { decideBackgroundEnd } from "../turn/closing.ts";
import type { ThreadLog } from "./log.ts";
import { ThreadSandbox } from "./thread-sandbox.ts";
import { ThreadTurns } from "./thread-turns.ts";

/** Time for which closing a thread waits for a method that is still running in it. */
const QUEUE_GRACE_MS = 1_000;

/** Options of a thread. */
export interface LiveThreadOptions {
  readonly id: string;
  readonly ephemeral: boolean;
  readonly log: ThreadLog;
  readonly clock: Clock;
  readonly usageLimits: UsageLimits;
  readonly rules: Rules;
  readonly policyRules?: PolicyRules | undefined;
  readonly locks?: SettingsLocks | undefined;
  readonly checkpoints?: Checkpoints | undefined;
  readonly sandbox: Sandbox;
  readonly catalogue: Catalogue;
  readonly approvalTimeoutMs: number;
  /** Time for which an agent may report nothing while its model is expected to respond. */
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

/** A loaded thread: its log, its agent's session, its turns and its open requests. */
export class LiveThread {
  readonly id: string;
  readonly ephemeral: boolean;
  readonly log: ThreadLog;
  readonly requests: OpenRequests;
  readonly clientIds: ClientIds;
  readonly turns: ThreadTurns;
  /** Runs the methods of this thread one after the other. */
  readonly queue = new SerialQueue();
  readonly #clock: Clock;
  readonly #sandbox: ThreadSandbox;
  readonly #network: NetworkGate;
  readonly #deniedHosts: readonly string[];
  readonly #agent: AgentSession;
  /** Time of its last use by a client, in unix milliseconds. */
  lastUsedAt: number;

  constructor(options: LiveThreadOptions) {
    const { id, log, clock, rules, catalogue, history, stateOf, mcpServers, clientTools } = options;
    this.id = id;
    this.ephemeral = options.ephemeral;
    this.log = log;
    this.clientIds = new ClientIds(() => log.state, history);
    this.#clock = clock;
    const { deniedHosts = [], addressRules = [], source: deniedBy = "" } = options.policyRules ?? {};
    this.#deniedHosts = deniedHosts;
    this.#network = new NetworkGate({
      ...{ deniedHosts, deniedBy, addressRules },
      state: () => log.current(),
      approve: (action) => this.turns.approve(action),
      onLateAnswer: (command, connection) => void this.turns.reportLateAnswer(command, connection),
      noteDeclined: (action, reason) => this.turns.noteDeclined(action, reason),
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
      folders: new ThreadFolders({
        ...{ log, queue: this.queue, locks: options.locks, folderIdentity: options.folderIdentity },
        resolveWritable: (path, workspace) => this.#sandbox.resolveWritable(path, workspace),
      }),
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
      startTurn: (agent, work) => this.turns.request(agent, work),
    });
    this.turns = new ThreadTurns({
      ...{ threadId: id, ephemeral: options.ephemeral, log, clock, queue: this.queue, deniedHosts },
      ...{ requests: this.requests, agent: this.#agent, sandbox: this.#sandbox, network: this.#network },
      usageLimits: options.usageLimits,
      locks: options.locks,
      checkpoints: options.checkpoints,
      silenceMs: options.silenceMs,
      clientHost: () => options.clientHost(),
      onEnd: () => {
        this.lastUsedAt = clock.now();
      },
    });
    this.lastUsedAt = clock.now();
  }

  /** Makes the sandbox of this thread. Its settings are read for each command, because they may change in between. */
  #openSandbox(options: LiveThreadOptions): ThreadSandbox {
    const { id, log, sandbox, workspaces } = options;
    const scope = (): SandboxScope => ({
      id,
      decide: (connection) => this.#network.decide(connection),
      addressesOf: (endpoint) => this.#network.addressesOf(endpoint),
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

  /**
   * Reports whether it may be unloaded: no subscribers, and nothing running in it, not even in the
   * background.
   */
  get isIdle(): boolean {
    return !this.turns.isRunning && this.log.subscriberCount === 0 && !this.queue.busy && !this.#agent.isBusy;
  }

  /** Reports whether a turn or its agent's background work is running. */
  get isWorking(): boolean {
    return this.turns.hasTurn || this.#agent.isBusy;
  }

  /** Reports whether it was unloaded, and has to be loaded again to be used. */
  get isClosed(): boolean {
    return this.turns.isClosed;
  }

  /** Reports whether its agent runs or starts. */
  get hasAgent(): boolean {
    return this.#agent.isOpen;
  }

  /** Closes the agent's session; the next turn opens a new one. */
  closeSession(): Promise<void> {
    return this.#agent.close();
  }

  /** Stops an idle agent if it can be resumed. */
  async stopIdleAgent(): Promise<void> {
    if (!this.turns.isRunning && !this.queue.busy) await this.#agent.stopIfIdle();
  }

  /** The commands that the agent left running. */
  backgroundCommands(): Promise<readonly BackgroundCommand[]> {
    return this.#agent.backgroundCommands();
  }

  /** Stops a background command. False if it was not running. */
  stopBackgroundCommand(processId: string): Promise<boolean> {
    return this.#agent.stopBackgroundCommand(processId);
  }

  /** Stops an agent whose background work continues without subscribers, and records that as a turn. */
  stopBackgroundWork(): Promise<void> {
    return this.queue.run(async () => {
      if (this.turns.hasTurn || this.log.subscriberCount > 0 || !this.#agent.isBusy) return;
      await this.log.commit(decideBackgroundEnd(this.log.state, this.#clock.now()));
      await this.#agent.close();
    });
  }

  /**
   * Stops what runs, ends the agent and stores everything. `inQueue`: called from this thread's queue. Subscribers get
   * `thread/closed`, unless another final event follows.
   */
  async close(inQueue: boolean, hasFinalEvent = false): Promise<void> {
    this.turns.close();
    // A running method may be about to start a turn, which is then stopped at once because the thread is closed.
    if (!inQueue)
      await waitAtMost(
        this.#clock,
        QUEUE_GRACE_MS,
        this.queue.run(async () => undefined),
      );
    await this.turns.ended();
    await this.#agent.close();
    await this.#sandbox.closeScope();
    await this.log.close(hasFinalEvent);
  }
}
