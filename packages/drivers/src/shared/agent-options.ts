import type { Sandbox } from "@flint/core/ports";
import type { Trace } from "@flint/rpc";

/** Where an agent's program is and what it needs beside what every program gets. */
export interface AgentProgram {
  /** The program and the arguments that always come first. */
  readonly command: readonly string[];
  /** Variables that only this agent gets, such as its own key. */
  readonly environment: Readonly<Record<string, string>>;
}

/** How long a process of an agent that has one for each thread stays: as long as the thread is used, or for one turn. */
export type ProcessSpan = "thread" | "turn";

/** What every driver of a foreign agent is given. */
export interface AgentOptions {
  /** Finds the agent's program now; undefined if it is not on this machine. Cheap, asked often. */
  program(): Promise<AgentProgram | undefined>;
  /** Whether it is known to have a key or a login, so that it can be the agent of whoever chose none. */
  hasAccess?(): Promise<boolean>;
  /** The address of the offline model, started if need be: the agent works on it instead of its own models. */
  readonly offlineModel?: (() => Promise<string>) | undefined;
  /** Told every line to and from the agent; caps and redaction are its own. */
  readonly trace?: Trace | undefined;
  /** A folder of Flint's own for what an agent keeps while it works on the offline model; not below the system's temporary one. */
  readonly stateFolder?: string | undefined;
  /** With what an agent is started before any thread asks for it, as to list its models. */
  readonly sandbox?: Sandbox | undefined;
  /** Unless told, a process stays for the thread. Only Claude has the choice. */
  readonly processSpan?: ProcessSpan | undefined;
  /** The version of Flint, as agents are told. */
  readonly version: string;
}
