/** Why a file may not or cannot be read or written; the message is for people and for the model. */
export class FileRefusal extends Error {
  override readonly name = "FileRefusal";
}

/** What went wrong with a file, in words. */
export function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
