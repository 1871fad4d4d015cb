/** Why a file may not or cannot be read or written, for people and for the model. */
export class FileAccessError extends Error {
  override readonly name = "FileAccessError";
}

/** Converts a system error into a FileAccessError that names the file by its real path; undefined for any other error. */
export function asFileAccessError(path: string, thrown: unknown): FileAccessError | undefined {
  if (!(thrown instanceof Error && "code" in thrown && "syscall" in thrown)) return undefined;
  const code = String(thrown.code);
  // Node writes "EACCES: permission denied, open '/path'".
  const [, reason = "it cannot be used"] = /^[A-Z0-9]+: ([^,]+)/.exec(thrown.message) ?? [];
  return new FileAccessError(`${path}: ${reason} (${code}).`, { cause: thrown });
}

/** The message of whatever was thrown. */
export function errorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
