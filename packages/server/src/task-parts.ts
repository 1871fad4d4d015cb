import type { Engine } from "@flint/core";
import { untilAborted } from "@flint/core/async";
import type { Sandbox } from "@flint/core/ports";
import type { ProjectTrust, PullRequest } from "@flint/host/worktrees";
import type { TaskState } from "@flint/protocol";
import type { ClientConnectOptions, FlintClient } from "@flint/sdk";
import type {
  CloneOf,
  DecisionContext,
  DiskSettings,
  EventSink,
  GitFolders,
  GitWorkspaces,
  Lease,
  TaskStore,
  VerifyTask,
} from "@flint/tasks";
import { VERSION } from "./version.ts";

/** Questions stay open for other clients; without an answer in time, they become questions of the task. */
const CLIENT: ClientConnectOptions = {
  clientInfo: { name: "flint-tasks", version: VERSION },
  onApproval: (_request, { signal }) => untilAborted(signal).then(() => "leave"),
  onQuestion: (_request, { signal }) => untilAborted(signal).then(() => "leave"),
};

/** Dependencies of running tasks on this machine. */
export interface TaskParts {
  readonly root: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly sandbox: Sandbox;
  /** The user's trust in the projects that tasks work on. */
  readonly trust: ProjectTrust;
  /** The engine that runs the turns: tasks are its client. */
  readonly engine: () => Engine;
  readonly askMs?: number | undefined;
  readonly disk?: DiskSettings | undefined;
  /** The model of tasks that name none; the configured one if absent. */
  readonly defaultModel?: string | undefined;
  readonly now: () => number;
  /** Returns this machine's clone of a task's repository, if that is not where the task was added. */
  readonly cloneOf?: CloneOf | undefined;
  /** Verifies that a task is as it was added, if others can write tasks too. */
  readonly verify?: VerifyTask | undefined;
  onProblem(problem: string): void;
}

/**
 * Runs the parts of a task: the folders of attempts, and one run in them; events of its turns go to the sink.
 */
export async function runParts(
  parts: TaskParts,
  store: TaskStore,
  context: () => DecisionContext,
  sink?: EventSink,
) {
  const { RunEvents, TaskCleaner, TaskRun } = await import("@flint/tasks");
  const { workspaces, folders } = await gitWorkspaces(parts);
  const { now, disk, verify, onProblem } = parts;
  const cleaner = new TaskCleaner({ store, folders, now, disk, verify, onProblem });
  const client = await connectTo(parts.engine());
  const { askMs = ASK_MS, defaultModel } = parts;
  const diskProblem = () => cleaner.problem();
  const options = { store, workspaces, client, context, askMs, defaultModel, diskProblem };
  const run = async (lease: Lease, state: TaskState, signal: AbortSignal): Promise<void> => {
    if (sink === undefined) return new TaskRun(options, lease, state, signal).work();
    const observer = await RunEvents.of(sink, parts.now, state, store);
    await new TaskRun({ ...options, observer }, lease, state, signal).work().finally(() => observer.stop());
  };
  return { workspaces, run, client, cleaner };
}

/** Worktrees beside the state folder, and pull requests by the user's own program. */
export async function gitWorkspaces({
  root,
  environment,
  sandbox,
  trust,
  cloneOf,
}: Pick<TaskParts, "root" | "environment" | "sandbox" | "trust" | "cloneOf">): Promise<{
  workspaces: GitWorkspaces;
  folders: GitFolders;
}> {
  const { GitFolders: Folders, GitWorkspaces: Workspaces } = await import("@flint/tasks");
  const { openPullRequest, TurnCommits, Worktrees } = await import("@flint/host/worktrees");
  const worktrees = new Worktrees(worktreeFolder(root), environment, sandbox, trust);
  const openRequest = (request: PullRequest) =>
    openPullRequest(worktrees.git(request.folder), sandbox, request);
  const commits = new TurnCommits(worktrees, sandbox);
  const workspaces = new Workspaces(worktrees, commits, openRequest, cloneOf);
  return { workspaces, folders: new Folders(worktrees, commits, workspaces) };
}

/** The same value as that of a server's own tasks. */
const ASK_MS = 60_000;

/** Beside the state folder and not in it: sandboxed commands work there, and can never write the state folder itself. */
function worktreeFolder(root: string): string {
  return `${root}-worktrees`;
}

/** A client of the engine in this process. Loaded here, because a server without tasks answers without it. */
export async function connectTo(engine: Engine): Promise<FlintClient> {
  const [{ ClientConnection }, { flintFrontend }, { memoryPair }, { connect }] = await Promise.all([
    import("@flint/frontends"),
    import("@flint/frontends/flint"),
    import("@flint/rpc"),
    import("@flint/sdk"),
  ]);
  const [ours, theirs] = memoryPair();
  new ClientConnection(flintFrontend(), engine, ours);
  return connect({ ...CLIENT, transport: theirs });
}
