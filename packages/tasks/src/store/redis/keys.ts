/** The names of a namespace's keys. The braces make them one slot of a cluster, so that a script may use several. */
export class TaskKeys {
  readonly #prefix: string;

  constructor(namespace: string) {
    this.#prefix = `flint:{${namespace}}:`;
  }

  /** Returns the key of the fields that the scripts check of a task: version, phase, fence, lease. */
  task(id: string): string {
    return `${this.#prefix}task:${id}`;
  }

  /** The events of a task; the id of an entry is its version, so that none can be written twice. */
  log(id: string): string {
    return `${this.#prefix}log:${id}`;
  }

  /** The start of `task` and `log`, for scripts that go through several tasks. */
  get taskPrefix(): string {
    return `${this.#prefix}task:`;
  }

  /** The tasks by number. */
  get order(): string {
    return `${this.#prefix}tasks`;
  }

  /** The tasks that run, by the end of their lease. */
  get leases(): string {
    return `${this.#prefix}leases`;
  }

  /** The key of the events of all tasks, for subscribers. */
  get feed(): string {
    return `${this.#prefix}feed`;
  }

  /** The number of the last task. */
  get numbers(): string {
    return `${this.#prefix}numbers`;
  }

  /** The tasks by the key they were added with. */
  get clientKeys(): string {
    return `${this.#prefix}keys`;
  }

  /** The tasks that were removed, by time. */
  get removed(): string {
    return `${this.#prefix}removed`;
  }

  /** The key of the worker that schedules. */
  get lead(): string {
    return `${this.#prefix}lead`;
  }

  /** The workers and what they offer. */
  get workers(): string {
    return `${this.#prefix}workers`;
  }

  /** The workers that were asked to drain, by name. */
  get drains(): string {
    return `${this.#prefix}drains`;
  }

  /** The sessions of agm, by id. */
  get sessions(): string {
    return `${this.#prefix}sessions`;
  }

  /** The messages of a session of agm. */
  messages(channel: string): string {
    return `${this.#prefix}messages:${channel}`;
  }

  /** The format of all of this, and the version of Flint that wrote it first. */
  get format(): string {
    return `${this.#prefix}format`;
  }

  /** Written and deleted to see whether anything can be written. */
  get probe(): string {
    return `${this.#prefix}probe`;
  }
}
