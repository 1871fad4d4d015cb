import type { CodexThreadStatus } from "@flint/protocol/codex";

/** What one client was last told that each thread does, so that nothing is told twice. */
export class ToldStatuses {
  readonly #told = new Map<string, string>();

  /** Whether this has to be told; then it counts as told. A thread that failed stays so until a turn begins. */
  isNews({ threadId, status }: { readonly threadId: string; readonly status: CodexThreadStatus }): boolean {
    const before = this.#told.get(threadId) ?? "idle";
    const now = [status.type, ...(status.activeFlags ?? [])].join(" ");
    if (now === before || (now === "idle" && before === "systemError")) return false;
    // An idle thread is what everybody assumes, so it need not be kept.
    if (now === "idle") this.#told.delete(threadId);
    else this.#told.set(threadId, now);
    return true;
  }
}
