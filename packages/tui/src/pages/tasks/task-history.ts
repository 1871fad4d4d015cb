import { reduceTask, type TaskEvent, type TaskState, taskEventOf } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";

/** Everything that happened to a task, and the state that follows from it. */
export class TaskHistory {
  readonly #taskId: string;
  readonly #events: TaskEvent[] = [];
  #state: TaskState | undefined;
  #version = 0;

  constructor(taskId: string) {
    this.#taskId = taskId;
  }

  /** The events so far, oldest first. */
  get events(): readonly TaskEvent[] {
    return this.#events;
  }

  /** The state after them; undefined before they were read. */
  get state(): TaskState | undefined {
    return this.#state;
  }

  /** Reads what happened since the last time. */
  async read(client: FlintClient): Promise<void> {
    const { events } = await client.call("task/read", { taskId: this.#taskId, after: this.#version });
    for (const { type, data, version, at } of events) {
      // Another request may have read it meanwhile.
      if (version <= this.#version) continue;
      this.#version = version;
      const body = taskEventOf(type, data);
      if (body !== undefined) this.#take({ ...body, version, at });
    }
  }

  #take(event: TaskEvent): void {
    this.#events.push(event);
    if (this.#state !== undefined || event.type === "task/added")
      this.#state = reduceTask(this.#taskId, this.#state, event);
  }
}
