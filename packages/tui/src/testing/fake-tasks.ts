import type { Tasks } from "@flint/core/ports";
import {
  FlintError,
  type Params,
  type Result,
  reduceTask,
  type TaskEvent,
  type TaskEventBody,
  type TaskMethod,
  type TaskSpec,
  type TaskState,
  taskRow,
} from "@flint/protocol";

/** Tasks whose story the test tells, event by event. What people decide is kept, and becomes the events it really makes. */
export class FakeTasks implements Tasks {
  readonly isWorking = false;
  /** The decisions, in order. */
  readonly decided: [method: TaskMethod, params: unknown][] = [];
  diff = "";
  /** The diffs of tasks that have one of their own. */
  readonly diffs = new Map<string, string>();
  /** True if diffs cannot be read now. */
  isUnreadable = false;
  /** Number of times that a diff was read. */
  diffReads = 0;
  /** The error with which every decision is refused. */
  refusal: string | undefined;
  /** The number of clients that wait for a change. */
  waiting = 0;
  readonly #states = new Map<string, TaskState>();
  readonly #events = new Map<string, TaskEvent[]>();
  #revision = 1;
  #wake: (() => void)[] = [];

  /** Adds a task and lets these events happen to it. */
  add(title: string, events: readonly TaskEventBody[] = [], spec: Partial<TaskSpec> = {}): string {
    const number = this.#states.size + 1;
    const id = `task-${number}`;
    const data = { spec: { ...SPEC, title, prompt: title, ...spec }, number, by: "ann", waiting: false };
    this.happened(id, { type: "task/added", data }, ...events);
    return id;
  }

  /** Lets events happen to a task. */
  happened(id: string, ...bodies: readonly TaskEventBody[]): void {
    const events = this.#events.get(id) ?? [];
    for (const body of bodies) {
      const event = { ...body, version: events.length + 1, at: 1_700_000_000_000 };
      events.push(event);
      this.#states.set(id, reduceTask(id, this.#states.get(id), event));
    }
    this.#events.set(id, events);
    this.#revision += 1;
    for (const wake of this.#wake.splice(0)) wake();
  }

  async call<Name extends TaskMethod>(method: Name, params: Params<Name>): Promise<Result<Name>> {
    // Each branch answers the method of its name, which the compiler cannot follow.
    return (await this.#answer(method, params)) as Result<Name>;
  }

  async close(): Promise<void> {
    for (const wake of this.#wake.splice(0)) wake();
  }

  async #answer(method: TaskMethod, params: object): Promise<unknown> {
    const { taskId = "", after = 0 } = params as { taskId?: string; after?: number };
    if (method === "task/list") return this.#list(params);
    if (method === "task/add") return { data: this.#addAll(params) };
    if (method === "task/suspendAll" || method === "task/resumeAll") {
      this.decided.push([method, params]);
      return { data: [...this.#states.values()].map(taskRow), skipped: [] };
    }
    const state = this.#states.get(taskId);
    if (state === undefined) throw new Error(`There is no task ${taskId}`);
    if (method === "task/diff") this.diffReads += 1;
    if (method === "task/diff" && this.isUnreadable) throw new FlintError("invalidRequest", "No worktree.");
    if (method === "task/diff")
      return { diff: this.diffs.get(taskId) ?? this.diff, tree: state.result?.tree ?? null };
    const events = this.#events.get(taskId) ?? [];
    if (method === "task/read")
      return { task: taskRow(state), spec: state.spec, events: events.slice(after) };
    if (this.refusal !== undefined) throw new FlintError("invalidRequest", this.refusal);
    this.decided.push([method, params]);
    if (method === "task/approve") this.happened(taskId, { type: "task/ended", data: { status: "done" } });
    if (method === "task/cancel") this.happened(taskId, { type: "task/cancelled", data: { by: "ann" } });
    if (method === "task/suspend")
      this.happened(taskId, { type: "task/suspended", data: { reason: "user" } });
    return method === "task/steer" ? { live: true } : { task: taskRow(state) };
  }

  /** Adds tasks as clients add them: complete but for their defaults. */
  #addAll(params: object): unknown {
    // The method of these parameters is known from its name.
    const { tasks } = params as Params<"task/add">;
    const ids = tasks.map(({ title, prompt, cwd, executors = [], reviewers = [], checks = [], rounds = 1 }) =>
      this.add(title ?? prompt, [], { prompt, cwd, executors, reviewers, checks, rounds }),
    );
    return ids.flatMap((id) => this.#states.get(id) ?? []).map(taskRow);
  }

  async #list({ revision, timeoutMs }: Params<"task/list">): Promise<Result<"task/list">> {
    if (revision === this.#revision && timeoutMs !== undefined) {
      this.waiting += 1;
      await new Promise<void>((resolve) => this.#wake.push(resolve));
      this.waiting -= 1;
    }
    return { revision: this.#revision, data: [...this.#states.values()].map(taskRow) };
  }
}

const SPEC: TaskSpec = {
  title: "",
  prompt: "",
  cwd: "/code",
  executors: [{ model: "alpha" }],
  reviewers: [{ model: "beta" }],
  checks: [{ command: "npm test" }],
  rounds: 3,
  attempts: 1,
  budget: { seconds: 3600 },
  limits: { resume: "auto", maxWaitSeconds: 3600 },
  merge: "branch",
  approvedBy: "user",
  allow: "sandbox",
  after: [],
  onDependencyFailed: "ask",
  priority: 0,
};
