import * as z from "zod/mini";
import { Id } from "../wire/ids.ts";
import { looseObject } from "../wire/loose-object.ts";

/**
 * The way a file is restored: its content is written back, a deleted file is created again, or a new one is
 * deleted.
 */
export const FileRestore = looseObject(() => ({
  /** Relative to the folder of the thread; absolute if it is outside of it. */
  path: z.string(),
  action: z.enum(["restore", "create", "delete"]),
  kind: z.enum(["file", "link", "folder"]),
  /** The kind of entry that it replaces, if that differs. */
  kindBefore: z.optional(z.enum(["file", "link", "folder"])),
  status: z.enum(["planned", "done"]),
  /** Bytes before and after, for a file that exists then. */
  sizeBefore: z.optional(z.number()),
  sizeAfter: z.optional(z.number()),
  /** The change as a unified diff. Only in a preview, and only for text that is not too large. */
  diff: z.optional(z.string()),
}));
export type FileRestore = z.output<typeof FileRestore>;

/** The reason a file is not restored although a dropped turn changed it. */
export const FileConflictReason = z.enum([
  "changedSince",
  "changedBetween",
  "notSaved",
  "blocked",
  "notEmpty",
  "failed",
]);
export type FileConflictReason = z.output<typeof FileConflictReason>;

/** A file that is not restored. */
export const FileConflict = looseObject(() => ({
  path: z.string(),
  reason: FileConflictReason,
  message: z.string(),
}));
export type FileConflict = z.output<typeof FileConflict>;

/** The reason a file was not saved before a turn. */
export const NotSavedReason = z.enum([
  "ignored",
  "tooLarge",
  "limit",
  "special",
  "protected",
  "outside",
  "failed",
  "noCheckpoint",
]);
export type NotSavedReason = z.output<typeof NotSavedReason>;

/** Something that cannot be restored: a path, or everything that a turn changed. */
export const NotSaved = looseObject(() => ({
  path: z.optional(z.string()),
  turnId: z.optional(Id),
  reason: NotSavedReason,
  message: z.string(),
}));
export type NotSaved = z.output<typeof NotSaved>;

/** The effect of a revert on files. */
export const RestoredFiles = {
  files: z.array(FileRestore),
  conflicts: z.array(FileConflict),
  notSaved: z.array(NotSaved),
};
