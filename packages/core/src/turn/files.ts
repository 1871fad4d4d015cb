import type { Action, FileUpdateChange, ThreadSettings } from "@flint/protocol";
import { isTrustedCommand } from "../approval/trusted-commands.ts";
import { waitAtMost } from "../async.ts";
import type { Checkpoints, Clock, DriverEvent, TurnCheckpoint } from "../ports/index.ts";
import { storageFailed } from "../ports/store.ts";
import type { ThreadLog } from "../thread/log.ts";

/** Time for which the end of a turn waits until its checkpoint is complete. */
const END_GRACE_MS = 5_000;

/** After this long, clients are warned that the agent waits for the workspace to be saved. */
const SLOW_MS = 1_000;

/** Dependencies for saving the files of a turn. */
export interface TurnFilesOptions {
  readonly threadId: string;
  readonly turnId: string;
  readonly log: ThreadLog;
  readonly clock: Clock;
  readonly checkpoints: Checkpoints;
  readonly ephemeral: boolean;
  readonly signal: AbortSignal;
}

/** Saves the files that a turn may change, before it does. Never throws or rejects. */
export class TurnFiles {
  readonly #options: TurnFilesOptions;
  #beginning: Promise<void> | undefined;
  #saved: TurnCheckpoint | undefined;
  #asksFirst = false;
  #hasWarned = false;
  #hasWarnedSlow = false;

  constructor(options: TurnFilesOptions) {
    this.#options = options;
  }

  /** To be called before the agent starts. For one that does not ask before it writes, the whole workspace is saved. */
  begin(asksFirst: boolean): Promise<void> {
    this.#asksFirst = asksFirst;
    this.#beginning = this.#begin(asksFirst);
    return this.#beginning;
  }

  async #begin(asksFirst: boolean): Promise<void> {
    const { checkpoints, threadId, turnId, log, ephemeral } = this.#options;
    const roots = rootsOf(log.state.settings);
    const failed = (error: unknown) => this.#warn(error);
    try {
      this.#saved = await checkpoints.begin({ threadId, turnId, roots, ephemeral, onError: failed });
      if (!asksFirst) await this.#saveWorkspace(this.#saved);
    } catch (error) {
      // Nothing of this turn can be undone.
      this.#warn(error);
    }
  }

  /** To be called before an approved action. */
  async beforeAction(action: Action): Promise<void> {
    if (this.#saved === undefined) return;
    if (action.kind === "fileChange") this.#saved.saveFiles(pathsOf(action.changes));
    else if (this.#mayWrite(action)) await this.#saveWorkspace(this.#saved);
  }

  /** Warns if it takes long: the first scan of a large folder does, and the turn shows nothing else meanwhile. */
  async #saveWorkspace(saved: TurnCheckpoint): Promise<void> {
    const { clock, signal } = this.#options;
    const cancel = clock.after(SLOW_MS, () => this.#warnSlow());
    await saved.saveWorkspace(signal).finally(cancel);
  }

  #warnSlow(): void {
    const { threadId, log } = this.#options;
    if (this.#hasWarnedSlow) return;
    this.#hasWarnedSlow = true;
    const message = `Saving a checkpoint of ${log.state.settings.cwd} so that changes can be undone. The first one takes longest.`;
    log.sendLive({ type: "warning", data: { threadId, message, reason: "savingFiles" } });
  }

  /** An agent that does not ask may at least report a change before it makes it. */
  onReport(event: DriverEvent): void {
    if (this.#saved === undefined || this.#asksFirst || event.type !== "item/started") return;
    const { item } = event;
    if (item.type === "fileChange" && "changes" in item) this.#saved.saveFiles(pathsOf(item.changes));
  }

  /** To be called after the agent has stopped. */
  async end(): Promise<void> {
    if (this.#beginning === undefined) return;
    // A turn that was stopped early may still be saving.
    const ended = this.#beginning.then(() => this.#saved?.end());
    await waitAtMost(this.#options.clock, END_GRACE_MS, ended);
  }

  #mayWrite(action: Exclude<Action, { kind: "fileChange" }>): boolean {
    // Tools run outside of the sandbox, so its policy does not apply.
    if (action.kind === "tool") return true;
    const { sandboxPolicy } = this.#options.log.state.settings;
    return sandboxPolicy.type !== "readOnly" && !isTrustedCommand(action.command);
  }

  #warn(error: unknown): void {
    const { threadId, log } = this.#options;
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const { message } = storageFailed("Changes of this turn cannot all be undone", error);
    log.sendLive({ type: "warning", data: { threadId, message, reason: "checkpointFailed" } });
  }
}

function rootsOf({ cwd, sandboxPolicy }: ThreadSettings): readonly string[] {
  return sandboxPolicy.type === "workspaceWrite" ? [cwd, ...(sandboxPolicy.writableRoots ?? [])] : [cwd];
}

function pathsOf(changes: readonly FileUpdateChange[]): readonly string[] {
  return changes.flatMap(({ path, movePath }) => (movePath === undefined ? [path] : [path, movePath]));
}
