import type { CheckResult, Result, TaskRow } from "@flint/protocol";
import type { SessionContext } from "../../session/context.ts";
import { TaskFeed, WAIT_MS } from "../tasks/task-feed.ts";
import { TaskHistory } from "../tasks/task-history.ts";

/**
 * Interval after which the changes of running agents, which are no event of their tasks, are read again, with
 * the next answer or key.
 */
const REREAD_MS = 5_000;

/** The work of one agent on the prompt so far. */
export interface Candidate {
  readonly task: TaskRow;
  /** Its changes and the tree they lead to; undefined before they were read. */
  readonly result: Result<"task/diff"> | undefined;
  /** The number of checks; undefined before they were read. */
  readonly checkCount: number | undefined;
  /** The checks of its last round, if they have run. */
  readonly checks: readonly CheckResult[];
}

/**
 * Details of a task beyond its row, when they were read, and the row at that time; `at` is empty before and
 * after a failure.
 */
interface Details {
  readonly history: TaskHistory;
  result: Result<"task/diff"> | undefined;
  at: string;
  readAtMs: number;
}

/** The tasks of a comparison as they change, in the order of their agents. */
export class Candidates {
  readonly #session: SessionContext;
  readonly #feed: TaskFeed;
  readonly #details: ReadonlyMap<string, Details>;

  /** `changed` is called with every new list. */
  constructor(session: SessionContext, ids: readonly string[], changed: () => void) {
    this.#session = session;
    this.#details = new Map(
      ids.map((id) => [
        id,
        { history: new TaskHistory(id), result: undefined, at: "", readAtMs: Number.NEGATIVE_INFINITY },
      ]),
    );
    const read = () => {
      this.#read();
      changed();
    };
    this.#feed = new TaskFeed(session, read, () => (this.#isRunning ? REREAD_MS : WAIT_MS));
  }

  /** Those that still exist; undefined before the first answer. */
  get all(): readonly Candidate[] | undefined {
    const { tasks } = this.#feed;
    if (tasks === undefined) return undefined;
    return [...this.#details].flatMap(([id, { history, result }]) => {
      const task = tasks.find((each) => each.id === id);
      if (task === undefined) return [];
      const { state } = history;
      const checks = state?.rounds.at(-1)?.checks ?? [];
      return [{ task, result, checkCount: state?.spec.checks.length, checks }];
    });
  }

  /** The reason there is no list, or no newer one. */
  get problem(): string | undefined {
    return this.#feed.problem;
  }

  /** Waits for the next change. Called with every frame: a page that is no longer shown asks no more. */
  look(): void {
    this.#feed.look();
    this.#read();
  }

  /** Asks again after a failure. */
  retry(): void {
    this.#feed.retry();
  }

  get #isRunning(): boolean {
    return this.all?.some(({ task }) => task.phase === "running") === true;
  }

  /** Reads the changes and checks of those whose row is another one now, or that have been running since. */
  #read(): void {
    const now = this.#session.now();
    for (const task of this.#feed.tasks ?? []) {
      const details = this.#details.get(task.id);
      const at = `${task.updatedAtMs} ${task.phase} ${task.step ?? ""} ${task.round}`;
      if (details === undefined) continue;
      const mayBeOld = task.phase === "running" || details.at === "";
      const isOld = mayBeOld && now - details.readAtMs >= REREAD_MS;
      if (!isOld && (details.at === at || details.at === "")) continue;
      details.at = at;
      details.readAtMs = now;
      this.#session.run(() => this.#readDetails(task.id, details));
    }
  }

  async #readDetails(taskId: string, details: Details): Promise<void> {
    // Expected: the connection was lost, or the worktree is gone. What was read before stays until it is read again.
    try {
      const { client } = this.#session;
      await details.history.read(client);
      details.result = await client.call("task/diff", { taskId });
    } catch {
      details.at = "";
    }
  }
}
