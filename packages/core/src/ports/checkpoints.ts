import type { FileConflict, FileRestore, NotSaved } from "@flint/protocol";

/** A turn whose file changes can be undone. */
export interface CheckpointedTurn {
  readonly threadId: string;
  readonly turnId: string;
  /** The folders that it may change. From the user, never from a model; the first one is the workspace. */
  readonly roots: readonly string[];
  /** True if its thread is not stored. */
  readonly ephemeral: boolean;
  /** Called once if something cannot be saved: the turn continues, but cannot be undone completely. */
  onError(error: unknown): void;
}

/** The checkpoint of a running turn. None of its methods throws or rejects. */
export interface TurnCheckpoint {
  /** Saves these files synchronously. A path may be relative to the workspace. */
  saveFiles(paths: readonly string[]): void;
  /** Saves everything in the folders that changed since the last save; once is enough for a turn. */
  saveWorkspace(signal: AbortSignal): Promise<void>;
  /** Records what the turn left, so that later changes by others can be distinguished. */
  end(): Promise<void>;
}

/**
 * The effect of restoring on the files: those that are restored, those that are left alone, and those that
 * were never saved.
 */
export interface FilesOutcome {
  readonly files: readonly FileRestore[];
  readonly conflicts: readonly FileConflict[];
  readonly notSaved: readonly NotSaved[];
}

/** The same with the turns that have a checkpoint. */
export interface FilesPreview extends FilesOutcome {
  readonly savedTurnIds: readonly string[];
}

/** Turns of a thread to undo, oldest first, and the folder that reported paths are relative to. */
export interface TurnsToUndo {
  readonly threadId: string;
  readonly turnIds: readonly string[];
  readonly cwd: string;
}

/** Saves files outside of the workspace before turns change them, and restores them. Never loses others' changes. */
export interface Checkpoints {
  /** Starts the checkpoint of a turn. Touches nothing before something is saved. Never rejects. */
  begin(turn: CheckpointedTurn): Promise<TurnCheckpoint>;
  /** Returns the effect that `restore` would have now, without any change. */
  preview(turns: TurnsToUndo): Promise<FilesPreview>;
  /** Restores the files to before these turns, and saves what was there instead under `revertId`. */
  restore(turns: TurnsToUndo, revertId: string): Promise<FilesPreview>;
  /** Undoes a `restore`, with the same care for what others changed since. Does nothing if there is no record of it. */
  undo(threadId: string, revertId: string, cwd: string): Promise<FilesOutcome>;
  /** Deletes the checkpoints of a thread. */
  remove(threadId: string): Promise<void>;
  /** Stops background work, and deletes the checkpoints of ephemeral threads. */
  close(): Promise<void>;
}
