import type { Readable, Writable } from "node:stream";
import type { AddressBlock, Endpoint, Permission, SandboxPolicy, SandboxState } from "@flint/protocol";

/** A connection that a command wants. */
export interface ConnectionAttempt extends Endpoint {
  /** The item of the command; absent if it may be any of the commands that an agent runs, or the agent itself. */
  readonly itemId?: string;
}

/** The decision about a connection: allowed, or refused with the reason as a clause for users and models. */
export type ConnectionDecision =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly reason: string };

/** A connection that did not come about, and why: refused, or allowed but not reached. */
export interface FailedConnection extends ConnectionAttempt {
  readonly allowed: boolean;
  /** A clause for users and models. */
  readonly reason: string;
}

/** The part of a sandbox that the confined commands of one thread share. */
export interface SandboxScope {
  readonly id: string;
  /**
   * Set if they may connect to hosts that are decided about one by one: they share a loopback interface of their own, and
   * a proxy that holds each connection until then. Never rejects.
   */
  decide?(connection: ConnectionAttempt): Promise<ConnectionDecision>;
  /** The private addresses that the user named for a host, which it is then reached at only. Absent: none. */
  addressesOf?(endpoint: Endpoint): readonly AddressBlock[];
  /** Called with each connection that was refused or failed, for any reason. */
  onFailedConnection?(connection: FailedConnection): void;
  /** Set if they have a git directory of their own in place of the workspace's. */
  readonly privateGit: boolean;
}

/** A command to start, and what it may touch. */
export interface LaunchSpec {
  /** Program and arguments; no shell is added. */
  readonly command: readonly string[];
  readonly cwd: string;
  readonly policy: SandboxPolicy;
  /** The folder that the policy calls the workspace. From the user, never from a model. */
  readonly workspace: string;
  /** Absent: a confined command has no network but what its policy allows, and cannot change a repository. */
  readonly scope?: SandboxScope | undefined;
  /** Variables in addition to those of every command. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** The item of the command, so that its connections are known for its own. */
  readonly itemId?: string;
  /**
   * Permissions that the user gave this command beyond its policy: hosts, paths from `resolveWritable`, or no
   * sandbox at all. Rejected with `sandboxUnavailable` if they cannot be given to this command alone.
   */
  readonly permission?: Permission | undefined;
  /** As for a program: what it may write whatever its policy says. */
  readonly ownPaths?: readonly string[];
  /** As for a program: what it may not write, even in its own paths if it lies deeper. */
  readonly readOnlyPaths?: readonly string[];
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Called with decoded output, in order. Must be quick. */
  onOutput(text: string, stream: "stdout" | "stderr"): void;
}

/** The real target of a path, or the reason no command may write it. */
export type WritablePath = { readonly path: string } | { readonly problem: string };

/** The outcome of a command. None of its processes is left by then. */
export interface LaunchResult {
  readonly exitCode: number;
  readonly durationMs: number;
  readonly ended: "exited" | "timedOut" | "aborted";
  /** Denials of the sandbox for which there is evidence; absent if there is none. */
  readonly denials?: readonly Denial[];
}

/** Something that the sandbox kept a command from. Never a guess: each comes with what proves it. */
export interface Denial {
  /** Permissions that the command would need; absent if nothing but leaving the sandbox would help. */
  readonly needs?: Permission;
  /** A sentence for the user and the model. */
  readonly evidence: string;
}

/** A connection that was refused to a command. */
export interface RefusedConnection extends Endpoint {
  readonly reason: string;
  /** True if it was refused only because there was no answer, and not by an answer or a rule. */
  readonly isUnanswered?: boolean;
}

/** A command that an agent ran in its own process, and that has ended. */
export interface EndedCommand {
  readonly exitCode: number;
  /** Its output, or the end of it. */
  readonly output: string;
  readonly cwd: string;
  readonly workspace: string;
  readonly policy: SandboxPolicy;
  readonly refused: readonly RefusedConnection[];
  readonly scope?: SandboxScope | undefined;
}

/** A file of which a program gets a copy of its own. */
export interface CopiedFile {
  /** Its name in the folder. */
  readonly name: string;
  /** Path of the original, if it is not in the folder. */
  readonly original?: string;
  /**
   * Reports whether the program's version of its copy may replace the original, which is undefined if there
   * is none. Must not throw. Without it the original never changes.
   */
  readonly accepts?: (before: string | undefined, after: string) => boolean;
}

/** A folder that a program sees in a private version. */
export interface PrivateFolder {
  readonly path: string;
  /** Names in it that it does not see, or everything; it can make them for itself. */
  readonly hides?: readonly string[] | "everything";
  /** Names in it that it can neither change nor make: a missing one is shown empty. Folders end with a slash. */
  readonly readOnly?: readonly string[];
  /**
   * Files in it that it can change and replace. While it runs, an accepted change replaces the original, a change of the
   * original replaces the copy, and of two changes that of the original counts.
   */
  readonly copies?: readonly CopiedFile[];
  /** Folders in it that are others for this program, which it can write. */
  readonly replaced?: readonly { readonly name: string; readonly source: string }[];
}

/** A long-running program with a protocol on its pipes, such as an agent or an MCP server. */
export interface ProcessSpec {
  /** Program and arguments; no shell is added. */
  readonly command: readonly string[];
  readonly cwd: string;
  readonly policy: SandboxPolicy;
  readonly workspace: string;
  /** Variables in addition to those of every command, such as a key that it needs. */
  readonly environment: Readonly<Record<string, string>>;
  /** Files and folders of its own that it may write whatever its policy says. What does not exist is left out. */
  readonly ownPaths?: readonly string[];
  /**
   * Folders in which it changes nothing for good but its own paths: it sees what is there, cannot write that, and whatever
   * it adds is private to it and deleted when it ends. What does not exist is left out.
   */
  readonly privateFolders?: readonly PrivateFolder[];
  /**
   * Paths that it may not write although its policy would allow it, not counting its own paths. Missing paths
   * are left out.
   */
  readonly readOnlyPaths?: readonly string[];
  /** Files and folders that it sees empty, and cannot write. What does not exist is left out. */
  readonly maskedPaths?: readonly string[];
  /** As for a command. */
  readonly scope?: SandboxScope | undefined;
  /** As for a command. */
  readonly permission?: Permission | undefined;
  /** Host rules for what it may connect to whatever its policy says, as an agent has to reach its model. */
  readonly hosts?: readonly string[];
  /** Set if the command lines of this broker's grants work in it. */
  readonly broker?: CommandBroker | undefined;
}

/** A command that was approved to run once, with a policy of its own. */
export interface BrokeredCommand {
  /** Program and arguments; no shell is added. */
  readonly argv: readonly string[];
  /** As it was shown, free of links: if it leads elsewhere by then, nothing is run. */
  readonly cwd: string;
  readonly policy: SandboxPolicy;
  /** The folder that the policy calls the workspace. */
  readonly workspace: string;
  /** Permissions beyond that policy. */
  readonly permission?: Permission | undefined;
  /** Ends the grant, and the command if it runs. */
  readonly signal: AbortSignal;
}

/** A program that an agent uses and does not start itself, such as an MCP server with keys. */
export interface BridgedProgram {
  /** Starts it, with a sandbox of its own. A rejection is what the agent reads. */
  start(): Promise<RunningProcess>;
  /** Ends what was started, and starts no more. Absent: the end of the broker does. */
  readonly signal?: AbortSignal;
}

/** Runs approved commands and programs outside of the sandbox of an agent that starts its commands itself. */
export interface CommandBroker {
  /**
   * Program and arguments that connect their input and output to the bridged program, which is started for each run of
   * them and ends with it. They work in a sandbox that has the broker, and nowhere else.
   */
  bridge(program: BridgedProgram): readonly string[];
  /** A command line that runs this command once, to be run by a shell in a sandbox that has the broker. */
  grant(command: BrokeredCommand): string;
  /** Has this command run once in place of the one that passed the hook under this name. */
  grantAs(name: string, command: BrokeredCommand): Promise<void>;
  /** As `Sandbox.resolveWritable`, for what a granted command wants to write. */
  resolveWritable(path: string, workspace: string): Promise<WritablePath>;
  /** Ends all grants and what runs for them. */
  close(): Promise<void>;
}

/** A running program. It and everything it started die with this server, however the server ends. */
export interface RunningProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when none of its processes is left. Never rejects. */
  readonly exited: Promise<{ readonly exitCode: number }>;
  /**
   * Reports whether one of its processes can still write to stdout. False only if that is certain: the
   * sandbox may keep the stream open after the program itself has closed it.
   */
  isOutputOpen?(): boolean;
  /**
   * Ends it and everything it started: terminated first, killed after `graceMs`. Resolves when none of its processes is
   * left.
   */
  stop(graceMs?: number): Promise<void>;
}

/** A commit that was made in the sandbox. */
export interface OfferedCommit {
  readonly id: string;
  readonly title: string;
}

/** A branch or tag that was changed in the sandbox, or HEAD, or what was added to the stash. */
export interface OfferedRef {
  readonly name: string;
  /** The folder of the submodule that it belongs to, relative to the workspace. */
  readonly submodule?: string;
  readonly commits: readonly OfferedCommit[];
  /** The number of commits; `commits` may be only the newest. */
  readonly total: number;
  /** `forced`: commits that it had before are no longer part of it. `switched`: HEAD names it now. */
  readonly change: "created" | "updated" | "forced" | "deleted" | "switched";
}

/** Commits that were made in the sandbox and are not in the user's repository yet. */
export interface CommitOffer {
  readonly refs: readonly OfferedRef[];
  /** Bounded. */
  readonly diff: string;
  /** The files that would change of those that programs run or obey, which the sandbox keeps read-only. */
  readonly protectedPaths: readonly string[];
  /**
   * The reason nothing can be taken over yet, such as a merge with conflicts. Nothing is decided until it is
   * gone.
   */
  readonly blocked?: string;
  /** Takes everything over, or nothing and says why and what the user can do. */
  accept(): Promise<{ readonly refused?: string; readonly notes: readonly string[] }>;
  /** Changes nothing, and offers the same not again. Returns how the user can take it over later. */
  decline(): Promise<string>;
}

/** Starts every command and program that Flint runs. */
export interface Sandbox {
  /** Reports whether and how commands can be confined on this machine. Computed once. */
  state(): Promise<SandboxState>;
  /** Runs a command to its end. Rejects with `sandboxUnavailable` instead of running it less confined than asked. */
  launch(spec: LaunchSpec): Promise<LaunchResult>;
  /** Starts a program. Rejects with `sandboxUnavailable` likewise, or `agentFailed` if it cannot be started. */
  start(spec: ProcessSpec): Promise<RunningProcess>;
  /**
   * Returns what the sandbox denied to a command that an agent ran in its own process. Never rejects. Absent:
   * that is unknown.
   */
  denials?(command: EndedCommand): Promise<readonly Denial[]>;
  /**
   * The files at the top of these folders that name programs to run, and that it cannot keep a command from creating.
   * Never rejects.
   */
  unprotectedFiles?(folders: readonly string[]): Promise<readonly string[]>;
  /**
   * Resolves a path that a command wants to write beyond its policy. Refuses what no approval opens: Flint's state and
   * settings, names that configure agents, editors and shells, and sockets. A folder that does not exist is created when a
   * command with this permission is started. Never rejects.
   */
  resolveWritable?(path: string, workspace: string): Promise<WritablePath>;
  /**
   * Opens a broker; undefined where a sandbox cannot show one. `launch` starts what is granted, instead of `start`.
   */
  openBroker?(launch?: Sandbox["start"]): Promise<CommandBroker | undefined>;
  /** Looks at what was committed in a scope; undefined if there is nothing to take over. */
  commits?(scopeId: string): Promise<CommitOffer | undefined>;
  /** Shows the programs of a scope what the user has committed since. Never rejects. */
  refreshScope?(scopeId: string): Promise<void>;
  /** Removes what the commands of a scope shared. Connections that are still open end with it. */
  closeScope?(scopeId: string): Promise<void>;
}
