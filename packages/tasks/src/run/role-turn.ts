import {
  addUsage,
  type BudgetEnforcement,
  type Cost,
  effortValue,
  isRecord,
  type NetworkPermission,
  NO_USAGE,
  type Role,
  type RunUsage,
  type Thread,
  type ThreadTask,
  type TurnBudget,
  type TurnReference,
  totalTokens,
} from "@flint/protocol";
import {
  type AgentEvent,
  type FlintClient,
  FlintRequestError,
  type ThreadHandle,
  type TurnResult,
} from "@flint/sdk";
import { AskWatch } from "./ask-watch.ts";
import { withCost } from "./run-usage.ts";
import type { ExecutorCommits } from "./task-workspaces.ts";
import { outcomeOf, ownCommits, problemOf, type RoleTurnOutcome } from "./turn-outcome.ts";

/** One turn of an executor or a reviewer. */
export interface RoleTurnRequest {
  readonly role: Role;
  readonly cwd: string;
  /** The thread to continue; a new one if absent. */
  readonly threadId?: string | undefined;
  readonly threadName: string;
  /** The turn starts once under this key, however often it is asked for. */
  readonly clientId: string;
  readonly prompt: string;
  /** The task, for the environment of the agent's commands. */
  readonly task: ThreadTask;
  readonly sandbox: "workspaceWrite" | "readOnly";
  /** True if the agent may commit, in a git directory of its own. */
  readonly git: boolean;
  readonly outputSchema?: Record<string, unknown> | undefined;
  readonly network?: NetworkPermission | undefined;
  /**
   * True if tools and the network are allowed without asking; actions that leave the sandbox are asked about
   * in any case.
   */
  readonly accepts: boolean;
  /** True if the context is compacted before the turn. */
  readonly compact: boolean;
  /** The rest of the task's budget. */
  readonly budget: TurnBudget;
  /** Enforcement of the budget; undefined: as the server is configured. */
  readonly enforcement: BudgetEnforcement | undefined;
  /** Interrupts the turn. */
  readonly signal: AbortSignal;
  /** Time for which an open question may wait for another client before the task itself asks. */
  readonly askMs: number;
  /** Called with the thread before the turn starts. */
  onThread?(thread: Thread, isResumed: boolean): void;
  /** Called once the thread is known, and again once the turn is. */
  onTurn(turn: TurnReference): Promise<void>;
  onEvent?(event: AgentEvent): void;
  /** Called with what could not be done as asked, while the turn continues. */
  onWarning(message: string): void;
}

/** Runs a turn of a role to its end, as a client of the engine like any other. */
export async function runRoleTurn(client: FlintClient, request: RoleTurnRequest): Promise<RoleTurnOutcome> {
  const started = Date.now();
  // As it is reported, so that a turn whose end is never heard of counts too.
  let used = NO_USAGE;
  const count = (event: AgentEvent): void => {
    if (event.type === "thread/tokenUsage/updated") used = addUsage(used, event.data.last);
  };
  let thread: ThreadHandle | undefined;
  let costBefore: Cost | undefined;
  const usageOf = (result?: TurnResult): RunUsage => {
    const seconds = Math.max(0, (Date.now() - started - (result?.turn.waitedMs ?? 0)) / 1000);
    const usage = { seconds, ...(totalTokens(used) === 0 ? {} : { tokens: used }) };
    return withCost(usage, costBefore, thread?.state.cost);
  };
  let turn: TurnReference | undefined;
  try {
    thread = await openThread(client, request);
    costBefore = thread.state.cost;
    turn = { threadId: thread.id };
    request.onThread?.(thread.state.thread, request.threadId !== undefined);
    await request.onTurn(turn);
    if (request.compact) await compact(client, thread, request.signal, count);
    const watch = new AskWatch(client, thread.id, request);
    let commits: ExecutorCommits | undefined;
    const options = {
      ...{ clientId: request.clientId, signal: watch.signal, allowFailure: true },
      ...(request.outputSchema === undefined ? {} : { outputSchema: request.outputSchema }),
      ...(await effortOf(client, thread, request)),
      onEvent: (event: AgentEvent) => {
        // From now on the turn can be found and interrupted by its id.
        if (event.type === "turn/started")
          void request.onTurn({ threadId: event.data.threadId, turnId: event.data.turn.id });
        count(event);
        commits = ownCommits(event) ?? commits;
        request.onEvent?.(event);
      },
    };
    const result = await thread.run(request.prompt, options).finally(() => watch.end());
    turn = { threadId: thread.id, turnId: result.turn.id };
    const usage = usageOf(result);
    const asked = watch.unanswered;
    await thread.unsubscribe().catch(() => undefined);
    if (asked !== undefined) return { ...asked, usage, turn };
    const ended = outcomeOf(result, turn, request.signal);
    return { ...ended, usage, turn, ...(ended.kind === "answered" ? { commits } : {}) };
  } catch (thrown) {
    return {
      ...problemOf(thrown, request.signal),
      usage: usageOf(),
      ...(turn === undefined ? {} : { turn }),
    };
  }
}

async function openThread(client: FlintClient, request: RoleTurnRequest): Promise<ThreadHandle> {
  const { role, cwd, threadId, network } = request;
  const settings = {
    ...(role.model === undefined ? {} : { model: role.model }),
    cwd,
    task: request.task,
    sandbox: request.sandbox,
    // Asked about, because the answer is no: the task keeps commits under refs of its own, and touches no branch.
    git: request.git ? ("ask" as const) : ("off" as const),
    summary: "concise" as const,
    ...(network === undefined ? {} : { network }),
    ...(role.instructions === undefined ? {} : { developerInstructions: role.instructions }),
  };
  const enforcement = request.enforcement === undefined ? {} : { enforcement: request.enforcement };
  const named = { name: request.threadName, clientId: `thread.${request.clientId}` };
  return withinLocks(request.budget, ({ limits, ...accepted }) => {
    const allowed = { ...settings, ...accepted, budget: { ...enforcement, ...limits } };
    return threadId === undefined
      ? client.startThread({ ...allowed, ...named })
      : client.resumeThread(threadId, allowed);
  });
}

/** Permissions and budget that a task gives its agents. */
interface Allowed {
  readonly acceptEdits: boolean;
  readonly acceptCommands: boolean;
  readonly limits: { readonly turn: TurnBudget; readonly thread?: TurnBudget };
}

/**
 * Opens a thread that accepts as much as the administrator of the machine allows, because no user watches it; the rest is
 * asked about. A limit that is locked applies to the turn where the task has none, or a higher one for all its turns.
 */
async function withinLocks(
  turn: TurnBudget,
  open: (allowed: Allowed) => Promise<ThreadHandle>,
): Promise<ThreadHandle> {
  let allowed: Allowed = { acceptEdits: true, acceptCommands: true, limits: { turn } };
  for (const known = new Set<string>(); ; ) {
    try {
      return await open(allowed);
    } catch (thrown) {
      // Expected: one of them is locked.
      const { field = "", limit } = lockIn(thrown);
      const within = known.has(field) ? undefined : withinLock(allowed, field, limit);
      if (within === undefined) throw thrown;
      known.add(field);
      allowed = within;
    }
  }
}

/** Reads the field that an administrator has locked, and its limit, from the error of settings beyond it. */
function lockIn(thrown: unknown): { readonly field?: string; readonly limit?: number } {
  const data = thrown instanceof FlintRequestError && isRecord(thrown.data) ? thrown.data : {};
  if (data.lockedBy === undefined || typeof data.field !== "string") return {};
  return { field: data.field, ...(typeof data.limit === "number" ? { limit: data.limit } : {}) };
}

/** The same within a lock; undefined if a task can do nothing about it. */
function withinLock(allowed: Allowed, field: string, limit: number | undefined): Allowed | undefined {
  if (field === "acceptEdits" || field === "acceptCommands") return { ...allowed, [field]: false };
  const [, scope, unit] = /^budget\.(turn|thread)\.(\w+)$/.exec(field) ?? [];
  if (limit === undefined || unit === undefined) return undefined;
  const { turn, thread } = allowed.limits;
  return scope === "turn"
    ? { ...allowed, limits: { ...allowed.limits, turn: { ...turn, [unit]: limit } } }
    : { ...allowed, limits: { turn, thread: { ...thread, [unit]: limit } } };
}

/** The effort of the role as a setting of its agent; one that the agent does not offer is left out, with a warning. */
async function effortOf(
  client: FlintClient,
  thread: ThreadHandle,
  { role: { effort }, onWarning }: RoleTurnRequest,
): Promise<{ config?: Readonly<Record<string, string>> }> {
  if (effort === undefined) return {};
  const config = effortValue(await client.configList(thread.id), effort);
  if (config !== undefined) return { config };
  onWarning(
    `The effort ${JSON.stringify(effort)} is ignored: ${thread.state.settings.model} does not offer it.`,
  );
  return {};
}

/** Compacts a long context before it is used again; an agent that cannot compact continues. */
async function compact(
  client: FlintClient,
  thread: ThreadHandle,
  signal: AbortSignal,
  count: (event: AgentEvent) => void,
): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    const unsubscribe = client.subscribe({
      threadId: thread.id,
      event: (event) => {
        count(event);
        if (event.type !== "turn/completed") return;
        unsubscribe();
        resolve();
      },
      ended: () => resolve(),
    });
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  try {
    await client.call("thread/compact/start", { threadId: thread.id });
    await ended;
  } catch (thrown) {
    // Expected: the agent of the thread cannot compact.
    if (!(thrown instanceof FlintRequestError)) throw thrown;
  }
}
