import * as z from "zod/mini";
import { Id } from "../wire/ids.ts";
import { looseObject } from "../wire/loose-object.ts";

/** What is done to a file so that it is as it was: its content put back, a lost one made again, a new one removed. */
export const FileRestore = looseObject({
  /** From the folder of the thread; absolute if it lies in another folder. */
  path: z.string(),
  action: z.enum(["restore", "create", "delete"]),
  kind: z.enum(["file", "link", "folder"]),
  status: z.enum(["planned", "done"]),
  /** Bytes now and afterwards, for a file that is there. */
  sizeBefore: z.optional(z.number()),
  sizeAfter: z.optional(z.number()),
});
export type FileRestore = z.output<typeof FileRestore>;

/** Why a file is left alone although a dropped turn changed it. */
export const FileConflictReason = z.enum([
  "changedSince",
  "changedBetween",
  "notSaved",
  "blocked",
  "notEmpty",
  "failed",
]);
export type FileConflictReason = z.output<typeof FileConflictReason>;

/** A file that is left as it is. */
export const FileConflict = looseObject({
  path: z.string(),
  reason: FileConflictReason,
  message: z.string(),
});
export type FileConflict = z.output<typeof FileConflict>;

/** Why something was not saved before a turn. */
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

/** What a turn may have changed without a way back: a path, or all of a turn. */
export const NotSaved = looseObject({
  path: z.optional(z.string()),
  turnId: z.optional(Id),
  reason: NotSavedReason,
  message: z.string(),
});
export type NotSaved = z.output<typeof NotSaved>;

/** What going back means for the files. */
export const RestoredFiles = {
  files: z.array(FileRestore),
  conflicts: z.array(FileConflict),
  notSaved: z.array(NotSaved),
};
