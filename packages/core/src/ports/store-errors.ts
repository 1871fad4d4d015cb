import { type ErrorData, FlintError, isId } from "@flint/protocol";

/** What an errno means for the user, with the way out. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ["ENOSPC", "the disk is full. Free some space and try again."],
  ["EDQUOT", "your quota of disk space is used up. Free some space and try again."],
  ["EROFS", "the file system is read-only. Mount it writable, or choose another state folder."],
  ["EACCES", "permission is denied. Check who owns the state folder."],
  ["EPERM", "permission is denied. Check who owns the state folder."],
  ["EMFILE", "too many files are open. Close some threads or raise `ulimit -n`."],
  ["ENFILE", "too many files are open on this machine. Close some programs."],
  ["EIO", "the disk reports an error. Check its health and make a backup."],
  [
    "ELOOP",
    "there is a link in its place. Flint follows no links inside its store; put the file itself there.",
  ],
]);

/** The errno of a failed system call, or undefined. */
export function codeOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !("code" in thrown)) return undefined;
  return typeof thrown.code === "string" ? thrown.code : undefined;
}

/** The error of a failed store operation, with `data.code`. A FlintError is returned unchanged. */
export function storageFailed(what: string, thrown: unknown, data: ErrorData = {}): FlintError {
  if (thrown instanceof FlintError) return thrown;
  const code = codeOf(thrown) ?? "UNKNOWN";
  const plain = thrown instanceof Error ? thrown.message : String(thrown);
  const reason = REASONS.get(code) ?? `${plain}.`;
  return new FlintError("storageFailed", `${what}: ${reason}`, { code, ...data }, { cause: thrown });
}

/** The error for an unknown thread. */
export function threadNotFound(threadId: string): FlintError {
  return new FlintError("threadNotFound", `There is no thread ${threadId}.`, { threadId });
}

/** Throws `invalidParams` for an id that must not become part of a path. */
export function checkThreadId(threadId: string): void {
  if (isId(threadId)) return;
  const shown = JSON.stringify(threadId.slice(0, 80));
  throw new FlintError(
    "invalidParams",
    `${shown} is not a thread id: an id is 1 to 64 letters, digits, "_" or "-".`,
    { field: "threadId" },
  );
}

/** The error for a writer that is used after it was closed. */
export function closedWriter(threadId: string): FlintError {
  const message = `The writer of thread ${threadId} is closed; open the thread again.`;
  return new FlintError("storageFailed", message, { threadId, code: "CLOSED" });
}
