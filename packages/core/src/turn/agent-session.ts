import {
  type BackgroundCommand,
  type ClientTool,
  type SandboxPolicy,
  type ThreadSettings,
  type ThreadState,
  type Turn,
  writableRootsOf,
} from "@flint/protocol";
import { networkOf } from "../approval/network-gate.ts";
import { waitAtMost } from "../async.ts";
import { type CheckedLimits, checkLimits, type ReportedUnit } from "../budget/enforcement.ts";
import type {
  AgentInitiatedWork,
  Clock,
  Driver,
  DriverSession,
  McpServerConfig,
  NativeFork,
  PassedSetting,
  Sandbox,
  Steering,
  Workspaces,
} from "../ports/index.ts";
import type { Catalogue } from "../settings/catalogue.ts";
import type { ThreadLog } from "../thread/log.ts";
import { type ForkSource, forkSource, handoffSummary } from "./handoff.ts";

/** Time to wait for an agent to close. */
const CLOSE_GRACE_MS = 3_000;

const SETTING_NAMES: Readonly<Record<PassedSetting, string>> = {
  summary: "summaries of its reasoning",
  personality: "a personality",
};
const OPTIONAL_SETTINGS = ["summary", "personality"] as const satisfies readonly PassedSetting[];

/** Start options of the agent of a thread. */
export interface AgentSessionOptions {
  readonly threadId: string;
  readonly log: ThreadLog;
  readonly catalogue: Catalogue;
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  /** Host rules that no command may connect to. */
  readonly deniedHosts: readonly string[];
  mcpServers(cwd: string): Promise<readonly McpServerConfig[]>;
  readonly workspaces: Workspaces;
  /** The tools that a client provides now. */
  clientTools(): readonly ClientTool[];
  /** The turns so far, oldest first. */
  history(): Promise<readonly Turn[]>;
  /** The state of another thread; undefined if it was deleted. */
  stateOf(threadId: string): Promise<ThreadState | undefined>;
  /** Called when an agent initiated work and needs a turn for it. */
  startTurn(agent: string, work: AgentInitiatedWork): void;
}

/** An open session of a driver, and what the core has to know about the agent that it belongs to. */
export interface OpenSession {
  readonly agent: string;
  readonly session: DriverSession;
  /** True if files can be saved as the agent asks about them, instead of all before the turn. */
  readonly asksFirst: boolean;
  /** True if a read-only thread may let it write what was approved, because it asks about each write. */
  readonly asksToWrite: boolean;
  /** True if the output of its commands explains what the sandbox denied them. */
  readonly explainsDenials?: boolean;
  /** The turns that the agent's own session lacks. */
  missedTurns(): Promise<readonly Turn[]>;
  /** Checks the limits of the thread as it is now. Throws for one that the agent cannot keep. */
  checkLimits?(): Promise<CheckedLimits>;
  /** Notes whether the agent reported what it used, for the turns to come. */
  noteReported?(unit: ReportedUnit, isReported: boolean): void;
}

interface Opening {
  readonly agent: string;
  readonly opened: Promise<OpenSession>;
  /** Set once it is open. */
  session?: DriverSession;
}

/**
 * The agent of one thread: opens the driver's session on first use, and another one after it was closed or the thread
 * changed agents.
 */
export class AgentSession {
  readonly #options: AgentSessionOptions;
  /** The notices that clients of this thread were sent. */
  readonly #sentNotices = new Set<string>();
  #opening: Opening | undefined;

  constructor(options: AgentSessionOptions) {
    this.#options = options;
  }

  /** The session of the agent that the thread's model belongs to, opened if necessary. */
  async get(): Promise<OpenSession> {
    const { catalogue, log } = this.#options;
    const driver = catalogue.driverOf(log.state.settings.model);
    if (this.#opening !== undefined && this.#opening.agent !== driver.id) await this.close();
    this.#notifyIgnored(driver);
    this.#opening ??= this.#open(driver.id);
    return this.#opening.opened;
  }

  /** Reports whether it is open or being opened. */
  get isOpen(): boolean {
    return this.#opening !== undefined;
  }

  /** Reports whether the agent has background work that outlasts its turns. */
  get isBusy(): boolean {
    return this.#opening?.session?.isBusy?.() === true;
  }

  /** The commands that the agent left running; none if it is not open. */
  async backgroundCommands(): Promise<readonly BackgroundCommand[]> {
    return (await this.#opening?.session?.backgroundCommands?.()) ?? [];
  }

  /** Stops a background command. False if it was not running. */
  async stopBackgroundCommand(processId: string): Promise<boolean> {
    return (await this.#opening?.session?.stopBackgroundCommand?.(processId)) ?? false;
  }

  /** Closes the session, with a time limit; `get` opens a new one. */
  async close(): Promise<void> {
    const opening = this.#opening;
    if (opening === undefined) return;
    this.#opening = undefined;
    const closed = opening.opened.then(({ session }) => session.close());
    await waitAtMost(this.#options.clock, CLOSE_GRACE_MS, closed);
  }

  /** Stops an agent that can be resumed, unless it is busy. */
  async stopIfIdle(): Promise<void> {
    const { agent, opened } = this.#opening ?? {};
    if (agent === undefined || this.#options.catalogue.driver(agent)?.stopsWhenIdle !== true) return;
    await opened?.catch(() => undefined);
    if (!this.isBusy) await this.close();
  }

  #open(agent: string): Opening {
    const opening: Opening = { agent, opened: this.#start(agent) };
    opening.opened.then(
      ({ session }) => {
        opening.session = session;
      },
      () => {
        // The caller gets the error; the next turn tries again.
        if (this.#opening === opening) this.#opening = undefined;
      },
    );
    return opening;
  }

  async #start(agent: string): Promise<OpenSession> {
    const { threadId, log, catalogue, sandbox, history } = this.#options;
    const { settings, nativeIds, nativeCosts } = log.state;
    const mcpServers = await this.#options.mcpServers(settings.cwd);
    // An empty id marks a session that no longer matches the conversation.
    const nativeId = nativeIds[agent] || undefined;
    const driver = catalogue.driverOf(settings.model);
    const source = await this.#forkSource(agent);
    const missedBySession = () => this.#missedTurns(agent, nativeId);
    const missedTurns = source === undefined ? missedBySession : () => this.#turnsAfter(source.lastTurnId);
    const forkOf: NativeFork | undefined =
      source === undefined
        ? undefined
        : {
            nativeId: source.nativeId,
            position: source.position,
            handoffSummary: async () => handoffSummary(await missedTurns()),
          };
    const asksToWrite = driver.asksToWrite === true;
    const session = await driver.open({
      threadId,
      settings: effectiveSettings(settings, asksToWrite, this.#options.deniedHosts),
      nativeId,
      nativeCost: nativeId === undefined ? undefined : nativeCosts[agent],
      history,
      handoffSummary: async () => handoffSummary(await missedBySession()),
      forkOf,
      startTurn: (work) => this.#options.startTurn(agent, work),
      sandbox,
      mcpServers,
      mcpProblem: (server) => this.#mcpProblem(server),
      mcpFailed: (server, reason) => this.#notifyOfServer(server, reason),
      steering: () => this.#steering(driver.projectFiles ?? []),
      clientTools: this.#options.clientTools(),
    });
    const asksFirst = driver.asksFirst === true;
    const explainsDenials = driver.explainsDenials === true;
    // The settings may change while the session is open.
    return {
      ...{ agent, session, asksFirst, asksToWrite, explainsDenials, missedTurns },
      checkLimits: () => checkLimits(log.state.settings, catalogue),
      noteReported: (unit, isReported) => catalogue.noteReported(log.state.settings.model, unit, isReported),
    };
  }

  /** Returns the files that steer the agent now. Clients are sent each notice once. */
  async #steering(paths: readonly string[]): Promise<Steering> {
    const { log, workspaces } = this.#options;
    const steering = await workspaces.steering(log.state.settings.cwd, paths);
    for (const message of steering.notices) this.#notify(message);
    return steering;
  }

  /** Returns the reason a server must not be started now. Clients are sent each reason once. */
  async #mcpProblem(server: McpServerConfig): Promise<string | undefined> {
    const { log, workspaces } = this.#options;
    const { cwd, sandboxPolicy } = log.state.settings;
    const problem = await workspaces.mcpProblem(server, cwd, writableRootsOf(sandboxPolicy));
    if (problem !== undefined) this.#notifyOfServer(server, problem);
    return problem;
  }

  #notifyOfServer({ name }: McpServerConfig, problem: string): void {
    this.#notify(`MCP server ${JSON.stringify(name)}: ${problem}`);
  }

  /** Names the settings of the thread that its agent does not have. */
  #notifyIgnored(driver: Driver): void {
    const { settings } = this.#options.log.state;
    const { displayName = driver.id } = driver;
    const passedSettings = driver.passedSettings?.(settings.model) ?? [];
    for (const name of OPTIONAL_SETTINGS) {
      const value = settings[name];
      if (value === undefined || value === "auto" || passedSettings.includes(name)) continue;
      const message = `${displayName} has no setting for ${SETTING_NAMES[name]}: ${JSON.stringify(value)} has no effect.`;
      this.#notify(message, "ignoredSetting");
    }
  }

  #notify(message: string, reason = "workspace"): void {
    if (this.#sentNotices.has(message)) return;
    this.#sentNotices.add(message);
    const { threadId, log } = this.#options;
    log.sendLive({ type: "warning", data: { threadId, message, reason } });
  }

  /** Only for an agent without a session in this thread, or whose session no longer matches the conversation. */
  async #forkSource(agent: string): Promise<ForkSource | undefined> {
    const { log, history, stateOf } = this.#options;
    const { state } = log;
    if (state.nativeIds[agent]) return undefined;
    return forkSource({ agent, state, turns: await history(), stateOf });
  }

  async #missedTurns(agent: string, nativeId: string | undefined): Promise<readonly Turn[]> {
    if (nativeId === undefined) return this.#options.history();
    return this.#turnsAfter(this.#options.log.state.lastTurns[agent]);
  }

  async #turnsAfter(turnId: string | undefined): Promise<readonly Turn[]> {
    const turns = await this.#options.history();
    return turns.slice(turns.findLastIndex((turn) => turn.id === turnId) + 1);
  }
}

const WORKSPACE: SandboxPolicy = { type: "workspaceWrite", writableRoots: [], networkAccess: false };

/**
 * The settings that an agent gets. Under a read-only policy that allows writing once approved, an agent that asks before
 * each write may write in the workspace. If approvals are off, or the agent does not ask, it stays read-only. Where hosts
 * are denied, "all" hosts are those that the thread's own network lets through.
 */
export function effectiveSettings(
  settings: ThreadSettings,
  asksToWrite: boolean,
  deniedHosts: readonly string[],
): ThreadSettings {
  const { approvalPolicy, sandboxPolicy } = settings;
  if (networkOf(settings) === "all" && sandboxPolicy.type === "workspaceWrite") {
    return { ...settings, sandboxPolicy: { ...sandboxPolicy, networkAccess: deniedHosts.length === 0 } };
  }
  const mayWriteWhenApproved =
    sandboxPolicy.type === "readOnly" && sandboxPolicy.whenApproved === "workspaceWrite";
  if (!mayWriteWhenApproved || !asksToWrite || approvalPolicy === "never") return settings;
  return { ...settings, sandboxPolicy: WORKSPACE };
}
