import type { Clock } from "@flint/core/ports";
import { type Hold, Placeholders } from "./placeholders.ts";
import { Repositories } from "./repositories.ts";

/** Everything in writable folders that must not be written, kept in place while a command runs. */
export class ProtectedPaths {
  readonly #placeholders = new Placeholders();
  readonly #repositories: Repositories;

  constructor(clock: Clock) {
    this.#repositories = new Repositories(clock);
  }

  /** Rejects with `sandboxUnavailable` if something cannot be protected. */
  async hold(roots: readonly string[]): Promise<Hold> {
    const attempts = await Promise.allSettled(roots.map((root) => this.#placeholders.hold(root)));
    const holds = attempts.flatMap((attempt) => (attempt.status === "fulfilled" ? [attempt.value] : []));
    const release = async () => void (await Promise.all(holds.map((hold) => hold.release())));
    const failure = attempts.find((attempt) => attempt.status === "rejected");
    if (failure !== undefined) {
      await release();
      throw failure.reason;
    }
    const nested = await Promise.all(roots.map((root) => this.#repositories.inside(root)));
    return { paths: [...holds.flatMap((hold) => hold.paths), ...nested.flat()], release };
  }
}
