import { errorMessage, type TaskRow } from "@flint/protocol";
import { type FlintClient, FlintRequestError } from "@flint/sdk";
import type { SessionContext } from "../../session/context.ts";

/** Time for which the server waits for a change before it answers all the same. */
export const WAIT_MS = 60_000;
/** Longer than that, a server that does not answer is not waited for. */
const ANSWER_MS = 90_000;

/** The tasks of the server as they change. Nothing is polled: each request is answered with the next change. */
export class TaskFeed {
  readonly #session: SessionContext;
  readonly #changed: () => void;
  readonly #waitMs: () => number;
  #tasks: readonly TaskRow[] | undefined;
  #revision: number | undefined;
  /** The client whose answer is waited for, or that has failed. */
  #asked: FlintClient | undefined;
  #problem: string | undefined;

  /** `changed` is called with every new list. `waitMs` is how long the server waits for one, as by default. */
  constructor(session: SessionContext, changed: () => void, waitMs = () => WAIT_MS) {
    this.#waitMs = waitMs;
    this.#session = session;
    this.#changed = changed;
  }

  /** All tasks; undefined before the first answer. */
  get tasks(): readonly TaskRow[] | undefined {
    return this.#tasks;
  }

  /** The reason there is no list, or no newer one. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Asks for the next change, unless that is done. Called with every frame: a page that is no longer shown asks no more. */
  look(): void {
    // Expected: the connection was lost, and is made again by the session.
    try {
      const { client } = this.#session;
      if (client !== this.#asked) void this.#ask(client);
    } catch (thrown) {
      this.#asked = undefined;
      this.#problem = errorText(thrown);
    }
  }

  /** Asks again after a failure. */
  retry(): void {
    if (this.#problem !== undefined) this.#asked = undefined;
  }

  async #ask(client: FlintClient): Promise<void> {
    this.#asked = client;
    const revision = this.#revision;
    const known =
      revision === undefined || this.#problem !== undefined ? {} : { revision, timeoutMs: this.#waitMs() };
    // Expected: a server without tasks, or one that is gone. Either is shown instead of the list.
    try {
      const list = await client.call("task/list", known, { timeoutMs: ANSWER_MS });
      if (this.#asked !== client) return;
      this.#asked = undefined;
      this.#problem = undefined;
      this.#tasks = list.data;
      this.#revision = list.revision;
      if (list.revision !== revision) this.#changed();
    } catch (thrown) {
      if (this.#asked === client) this.#problem = errorText(thrown);
    }
    this.#session.changed();
  }
}

const NO_TASKS =
  "The server of this session runs no tasks: only the shared server does. Use flint tasks in a shell.";

/** Describes a failure to the user. */
export function errorText(thrown: unknown): string {
  if (thrown instanceof FlintRequestError && thrown.kind === "unsupported") return NO_TASKS;
  return errorMessage(thrown);
}
