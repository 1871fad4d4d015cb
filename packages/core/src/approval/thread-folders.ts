import {
  type Action,
  type Decision,
  FlintError,
  isPathIn,
  type Permission,
  type ThreadSettings,
  writableRootsOf,
} from "@flint/protocol";
import type { SerialQueue } from "../async.ts";
import type { ActionDecision, ActionGuarantees, WritablePath } from "../ports/index.ts";
import { rejectBeyondLocks, type SettingsLocks } from "../settings/settings-locks.ts";
import type { ThreadLog } from "../thread/log.ts";
import { settingsEvents } from "../turn/decisions.ts";

/** Dependencies of `ThreadFolders`. */
export interface ThreadFoldersOptions {
  readonly log: ThreadLog;
  /** Runs the methods of the thread one after the other. */
  readonly queue: SerialQueue;
  readonly locks: SettingsLocks | undefined;
  /** Resolves a folder, or explains why no approval opens it. */
  resolveWritable(path: string, workspace: string): Promise<WritablePath>;
  /** Returns what identifies a folder among all that were ever at the same path. */
  readonly folderIdentity: ((path: string) => string | undefined) | undefined;
}

/** A change that was allowed. */
export interface AskedChange {
  readonly action: Action;
  readonly guarantees: ActionGuarantees | undefined;
  /** True if it was allowed for longer than once. */
  readonly isLasting: boolean;
}

/** The decision about a change, and the reason for the user if it is not made at once. */
interface DecidedChange {
  readonly decision: ActionDecision;
  readonly reason?: string;
}

const DENY = { outcome: "deny", scope: "once" } as const satisfies Decision;

/** The folders outside of the workspace that the user lets a thread write: they become roots of its sandbox. */
export class ThreadFolders {
  readonly #options: ThreadFoldersOptions;

  constructor(options: ThreadFoldersOptions) {
    this.#options = options;
  }

  /** A change that the agent would make in its own sandbox, with an explanation of what the answers do. */
  async explained(action: Action, { changesInSandbox }: ActionGuarantees = {}): Promise<Action> {
    // Without approvals, the policy declines it with the option that allows it.
    const isAsked = this.#options.log.state.settings.approvalPolicy !== "never";
    if (changesInSandbox !== true || action.needs?.write === undefined || !isAsked) return action;
    return explainedChange(action, await this.problem(action.needs));
  }

  /**
   * Decides about an allowed change once its folders have become roots of the thread, if they were allowed for longer than
   * once. An agent that makes the change in its own sandbox, which stays as it is until the agent has ended its work, is
   * denied it until then.
   */
  async decide(
    { action, guarantees, isLasting }: AskedChange,
    allowed: ActionDecision,
  ): Promise<DecidedChange> {
    const { kind, needs } = action;
    const isInSandbox = guarantees?.changesInSandbox === true;
    if (kind !== "fileChange" || needs?.write === undefined) return { decision: allowed };
    if (!isLasting && !(isInSandbox && this.areRoots(needs))) return { decision: allowed };
    const problem = await this.open(needs);
    if (!isInSandbox) return { decision: allowed };
    if (problem !== undefined) {
      const reason = `It was not made: ${problem}.`;
      return { decision: { ...DENY, message: reason }, reason };
    }
    const folders = needs.write.join(", ");
    const reason = `You let this thread write ${folders}; the agent makes the change with its next sandbox.`;
    const message = `The user has allowed this thread to write ${folders}, but your running sandbox cannot. End your turn now: you then get a new sandbox, and the request to make this change.`;
    return { decision: { ...DENY, message, opened: needs.write }, reason };
  }

  /** Opens the folders of a change that was allowed for longer than once after its approval had ended. */
  async openLate({ kind, needs }: Action, { scope }: Decision): Promise<void> {
    if (kind === "fileChange" && needs?.write !== undefined && scope !== "once") await this.open(needs);
  }

  /** Returns the reason no answer makes these folders writable in this thread; undefined if one can. */
  async problem({ write = [], identities = {} }: Permission): Promise<string | undefined> {
    const { log, locks, resolveWritable, folderIdentity } = this.#options;
    const { settings } = log.state;
    // Of a read-only thread that may write once approved, the agent sees another policy.
    if (settings.sandboxPolicy.type !== "workspaceWrite") return "this thread is read-only";
    for (const path of write) {
      const found = await resolveWritable(path, settings.cwd);
      if ("problem" in found) return found.problem;
      const { [path]: identity } = identities;
      if (found.path !== path || (identity !== undefined && folderIdentity?.(path) !== identity))
        return `${path} is another folder than the one that was shown`;
    }
    return lockProblem(withRoots(settings, write), locks);
  }

  /** Reports whether all of these are in roots of the thread, which the running agent need not have yet. */
  areRoots({ write = [] }: Permission): boolean {
    const roots = writableRootsOf(this.#options.log.state.settings.sandboxPolicy);
    return write.every((path) => roots.some((root) => isPathIn(path, root)));
  }

  /** Makes folders roots of the thread. Returns the reason if that is not possible. */
  open(needs: Permission): Promise<string | undefined> {
    const { log, queue } = this.#options;
    // In the queue, because settings derived from older ones would undo changes made in between.
    return queue.run(async () => {
      const problem = await this.problem(needs);
      if (problem !== undefined) return problem;
      const { state } = log;
      await log.commit(settingsEvents(state, withRoots(state.settings, needs.write ?? [])));
      return undefined;
    });
  }
}

/** A change of files by an agent whose sandbox does not let it write there, with an explanation of what the answers do. */
function explainedChange(action: Action, problem: string | undefined): Action {
  const { needs, ...rest } = action;
  const folders = (needs?.write ?? []).join(", ");
  const cannot = `The sandbox does not let the agent write ${folders}`;
  const note =
    problem === undefined
      ? `${cannot}. If you allow it in this thread, the folder becomes writable and the agent makes the change after that; if you allow it once, the change fails.`
      : `${cannot}, and no answer opens it: ${problem}. This change will fail.`;
  const reason = [action.reason, note].filter((part) => part !== undefined).join(" ");
  return problem === undefined ? { ...action, reason } : { ...rest, reason };
}

function withRoots(settings: ThreadSettings, folders: readonly string[]): ThreadSettings {
  const { sandboxPolicy } = settings;
  if (sandboxPolicy.type !== "workspaceWrite") return settings;
  const roots = sandboxPolicy.writableRoots ?? [];
  const missing = folders.filter((folder) => !roots.some((root) => isPathIn(folder, root)));
  if (missing.length === 0) return settings;
  return { ...settings, sandboxPolicy: { ...sandboxPolicy, writableRoots: [...roots, ...missing] } };
}

function lockProblem(settings: ThreadSettings, locks: SettingsLocks | undefined): string | undefined {
  try {
    rejectBeyondLocks(settings, locks);
    return undefined;
  } catch (thrown) {
    // Expected: the administrator locked the sandbox to fewer folders.
    if (!(thrown instanceof FlintError)) throw thrown;
    return thrown.message;
  }
}
