import type { Params, Result, TaskMethod } from "@flint/protocol";

/** The tasks of a server. They are a client of the engine; it only hands their requests on. */
export interface Tasks {
  /** Answers a method. Rejects with a FlintError that says what to do instead. */
  call<Name extends TaskMethod>(method: Name, params: Params<Name>): Promise<Result<Name>>;
  /** The stream on which the events of tasks are published instead of to clients. */
  readonly eventStream?: string | undefined;
  /** True if a task is running. */
  readonly isWorking: boolean;
  /** Stops what runs, so that it can be continued later. */
  close(): Promise<void>;
}
