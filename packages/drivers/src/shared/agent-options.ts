import type { Sandbox } from "@flint/core/ports";
import type { Trace } from "@flint/rpc";

/** An agent's program, and the variables that it gets beside those of every program. */
export interface AgentProgram {
  /** The program and the arguments that always come first. */
  readonly command: readonly string[];
  /** Variables that only this agent gets, such as its own key. */
  readonly environment: Readonly<Record<string, string>>;
}

/** How long an agent with one process per thread keeps it: as long as the thread is in use, or for one turn. */
export type ProcessSpan = "thread" | "turn";

/** What every driver of an external agent is given. */
export interface AgentOptions {
  /** Finds the agent's program; undefined if it is not installed. Cheap, because it is called often. */
  program(): Promise<AgentProgram | undefined>;
  /** Whether it is known to have credentials, so that it can be the agent of threads that name none. */
  hasAccess?(): Promise<boolean>;
  /** The address of the offline model, which the agent uses instead of its own models. Starts the model if needed. */
  readonly offlineModel?: (() => Promise<string>) | undefined;
  /** Called with every line to and from the agent; it limits and redacts them itself. */
  readonly trace?: Trace | undefined;
  /** Flint's folder for the state of agents on the offline model; not below the system's temporary folder. */
  readonly stateFolder?: string | undefined;
  /** The sandbox for a process that no thread needs, for example to list models. */
  readonly sandbox?: Sandbox | undefined;
  /** Defaults to "thread". Only Claude has the choice. */
  readonly processSpan?: ProcessSpan | undefined;
  /** The version of Flint that is sent to agents. */
  readonly version: string;
}
