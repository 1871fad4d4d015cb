import type { FileConflict, FileRestore, NotSaved } from "@flint/protocol";

/** A turn whose file changes are to be undoable. */
export interface CheckpointedTurn {
  readonly threadId: string;
  readonly turnId: string;
  /** The folders that it may change. Come from the user, never from a model; the first one is the workspace. */
  readonly roots: readonly string[];
  /** A thread that leaves nothing behind. */
  readonly ephemeral: boolean;
  /** Told once when something cannot be saved: the turn goes on, and cannot be undone as a whole. */
  onError(error: unknown): void;
}

/** The files of one running turn. None of its methods throws or rejects. */
export interface TurnCheckpoint {
  /** Saves these files as they are now, before it returns. A path may be relative to the workspace. */
  saveFiles(paths: readonly string[]): void;
  /** Saves everything that changed in the folders since it was last saved there; once is enough for a turn. */
  saveWorkspace(signal: AbortSignal): Promise<void>;
  /** The turn is over: notes down what it left, so that later changes by others can be told apart. */
  end(): Promise<void>;
}

/** What going back means for the files: what is done, what is left alone, and what was never saved. */
export interface FilesOutcome {
  readonly files: readonly FileRestore[];
  readonly conflicts: readonly FileConflict[];
  readonly notSaved: readonly NotSaved[];
}

/** What a preview also knows: the turns of which there is a checkpoint. */
export interface FilesPreview extends FilesOutcome {
  readonly savedTurnIds: readonly string[];
}

/** Turns of a thread that are to be undone, oldest first, and the folder that paths are told from. */
export interface TurnsToUndo {
  readonly threadId: string;
  readonly turnIds: readonly string[];
  readonly cwd: string;
}

/** Keeps what turns change, outside of the workspace, and puts it back. Files that others changed are never lost. */
export interface Checkpoints {
  /** Follows the files of a turn. Touches nothing before something is saved. Never rejects. */
  begin(turn: CheckpointedTurn): Promise<TurnCheckpoint>;
  /** What `restore` would do now. Changes nothing. */
  preview(turns: TurnsToUndo): Promise<FilesPreview>;
  /** Puts the files back to the moment before these turns, and remembers under `revertId` what was there instead. */
  restore(turns: TurnsToUndo, revertId: string): Promise<FilesPreview>;
  /** Takes a `restore` back, with the same care for what others changed since. Nothing to do without a record of it. */
  undo(threadId: string, revertId: string, cwd: string): Promise<FilesOutcome>;
  /** Forgets a thread. */
  remove(threadId: string): Promise<void>;
  /** Ends what goes on in the background, and forgets the threads that leave nothing behind. */
  close(): Promise<void>;
}
