import type { ClientTool, ThreadState, Turn } from "@flint/protocol";
import { waitAtMost } from "../async/waiting.ts";
import type {
  AgentInitiatedWork,
  Clock,
  DriverSession,
  McpServerConfig,
  NativeFork,
  Sandbox,
} from "../ports/index.ts";
import type { Catalogue } from "../settings/catalogue.ts";
import type { ThreadLog } from "../thread/log.ts";
import { handoffSummary } from "./handoff.ts";
import { type ForkSource, forkSource } from "./native-fork.ts";
import { workingSettings } from "./working-settings.ts";

/** How long an agent may take to end before nobody waits for it any more. */
const CLOSE_GRACE_MS = 3_000;

/** What the agent of a thread needs. */
export interface AgentSessionOptions {
  readonly threadId: string;
  readonly log: ThreadLog;
  readonly catalogue: Catalogue;
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  mcpServers(cwd: string): Promise<readonly McpServerConfig[]>;
  /** The tools that a client offers now. */
  clientTools(): readonly ClientTool[];
  /** The turns so far, oldest first. */
  history(): Promise<readonly Turn[]>;
  /** The state of another thread; undefined if it is gone. */
  stateOf(threadId: string): Promise<ThreadState | undefined>;
  /** Told when an agent works by itself and needs a turn for that. */
  startTurn(agent: string, work: AgentInitiatedWork): void;
}

/** A session together with the agent it belongs to. */
export interface OpenSession {
  readonly agent: string;
  readonly session: DriverSession;
  /** Whether the agent asks before anything that may change files. */
  readonly asksFirst: boolean;
  /** Whether each action that may write is asked about. */
  readonly asksToWrite: boolean;
  /** The turns that the agent's own session knows nothing of. */
  missedTurns(): Promise<readonly Turn[]>;
}

interface Opening {
  readonly agent: string;
  readonly opened: Promise<OpenSession>;
  /** Set once it is there. */
  session?: DriverSession;
}

/** The agent of one thread: started when it is first needed, and anew when it was let go or another one is chosen. */
export class AgentSession {
  readonly #options: AgentSessionOptions;
  #opening: Opening | undefined;

  constructor(options: AgentSessionOptions) {
    this.#options = options;
  }

  /** The session of the agent that the thread's model belongs to. */
  async get(): Promise<OpenSession> {
    const { catalogue, log } = this.#options;
    const driver = catalogue.driverOf(log.state.settings.model);
    if (this.#opening !== undefined && this.#opening.agent !== driver.id) await this.close();
    this.#opening ??= this.#open(driver.id);
    return this.#opening.opened;
  }

  /** Whether the agent has something under way that outlasts its turns. */
  get isBusy(): boolean {
    return this.#opening?.session?.isBusy?.() === true;
  }

  /** Ends the session; the next one is a new one. Waits a while for it, never for ever. */
  async close(): Promise<void> {
    const opening = this.#opening;
    if (opening === undefined) return;
    this.#opening = undefined;
    const closed = opening.opened.then(({ session }) => session.close());
    await waitAtMost(this.#options.clock, CLOSE_GRACE_MS, closed);
  }

  /** Lets go of an agent that can be taken up again where it was; others stay, and so does one that is busy. */
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
        // Whoever waits for it is told; the next turn tries again.
        if (this.#opening === opening) this.#opening = undefined;
      },
    );
    return opening;
  }

  async #start(agent: string): Promise<OpenSession> {
    const { threadId, log, catalogue, sandbox, history } = this.#options;
    const { settings, nativeIds } = log.state;
    const mcpServers = await this.#options.mcpServers(settings.cwd);
    // An empty id stands for a session that no longer fits the conversation.
    const nativeId = nativeIds[agent] || undefined;
    const driver = catalogue.driverOf(settings.model);
    const source = await this.#forkSource(agent);
    const untold = () => this.#missedTurns(agent, nativeId);
    const missed = source === undefined ? untold : () => this.#turnsAfter(source.lastTurnId);
    const account = async () => handoffSummary(await untold());
    const forkOf: NativeFork | undefined =
      source === undefined
        ? undefined
        : {
            nativeId: source.nativeId,
            position: source.position,
            handoffSummary: async () => handoffSummary(await missed()),
          };
    const asksToWrite = driver.asksToWrite === true;
    const session = await driver.open({
      threadId,
      settings: workingSettings(settings, asksToWrite),
      nativeId,
      history,
      handoffSummary: account,
      forkOf,
      startTurn: (work) => this.#options.startTurn(agent, work),
      sandbox,
      mcpServers,
      clientTools: this.#options.clientTools(),
    });
    return { agent, session, asksFirst: driver.asksFirst === true, asksToWrite, missedTurns: missed };
  }

  /** Only for an agent that has no session in this thread, or none that fits the conversation any more. */
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
