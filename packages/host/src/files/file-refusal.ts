/** Why a file may not or cannot be read or written; the message is for people and for the model. */
export class FileAccessError extends Error {
  override readonly name = "FileRefusal";
}

/** A failure of the system at a file as a refusal that names the file by its real path; undefined for any other. */
export function asFileAccessError(path: string, thrown: unknown): FileAccessError | undefined {
  if (!(thrown instanceof Error && "code" in thrown && "syscall" in thrown)) return undefined;
  const code = String(thrown.code);
  // Node writes "EACCES: permission denied, open '/path'".
  const [, words = "it cannot be used"] = /^[A-Z0-9]+: ([^,]+)/.exec(thrown.message) ?? [];
  return new FileAccessError(`${path}: ${words} (${code}).`, { cause: thrown });
}

/** What went wrong with a file, in words. */
export function errorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
