import type { Readable, Writable } from "node:stream";
import type { SandboxPolicy, SandboxState } from "@flint/protocol";

/** A command to start, and what it may touch. */
export interface LaunchSpec {
  /** Program and arguments; no shell is added. */
  readonly command: readonly string[];
  readonly cwd: string;
  readonly policy: SandboxPolicy;
  /** The folder the policy calls the workspace. Comes from the user, never from a model. */
  readonly workspace: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Output as it comes, decoded, in order. Must be quick. */
  onOutput(text: string, stream: "stdout" | "stderr"): void;
}

/** How a command ended. When this is known, no process of it is left. */
export interface LaunchResult {
  readonly exitCode: number;
  readonly durationMs: number;
  readonly ended: "exited" | "timedOut" | "aborted";
}

/** A folder that a program sees in a private version. */
export interface PrivateFolder {
  readonly path: string;
  /** Names in it that it does not see, or everything; it can make them for itself. */
  readonly hides?: readonly string[] | "everything";
}

/** A program that stays and is talked to, such as an agent or an MCP server. */
export interface ProcessSpec {
  /** Program and arguments; no shell is added. */
  readonly command: readonly string[];
  readonly cwd: string;
  readonly policy: SandboxPolicy;
  readonly workspace: string;
  /** Variables it gets beside what every command gets; a key that it needs belongs here. */
  readonly environment: Readonly<Record<string, string>>;
  /** Files and folders of its own that it may write whatever its policy says. What does not exist is left out. */
  readonly ownPaths?: readonly string[];
  /**
   * Folders in which it changes nothing for good but its own paths: it sees what is there, cannot write that, and whatever
   * it adds is private to it and gone when it ends. What does not exist is left out.
   */
  readonly privateFolders?: readonly PrivateFolder[];
  /** What it may not write although its policy would let it, apart from its own paths. What does not exist is left out. */
  readonly readOnlyPaths?: readonly string[];
  /** Set if it may reach the network whatever its policy says, as an agent has to reach its model. */
  readonly network?: boolean;
}

/** A program that runs. It and all it started die with this server, whatever way the server ends. */
export interface RunningProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when nothing of it is left; never rejects. */
  readonly exited: Promise<{ readonly exitCode: number }>;
  /**
   * Ends it and all it started: asked first, killed a moment later, or as soon as told. Resolves when nothing of it is
   * left.
   */
  stop(graceMs?: number): Promise<void>;
}

/** The one launch function for every command that Flint itself starts. */
export interface Sandbox {
  /** Whether and how commands can be confined here. Asked once, then remembered. */
  state(): Promise<SandboxState>;
  /** Runs a command to its end. Rejects with `sandboxUnavailable` instead of running it less confined than asked. */
  launch(spec: LaunchSpec): Promise<LaunchResult>;
  /** Starts a program to talk to. Rejects with `sandboxUnavailable` likewise, or `agentFailed` if it cannot be started. */
  start(spec: ProcessSpec): Promise<RunningProcess>;
}
