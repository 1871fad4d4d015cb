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
  output(text: string, stream: "stdout" | "stderr"): void;
}

/** How a command ended. When this is known, no process of it is left. */
export interface LaunchResult {
  readonly exitCode: number;
  readonly durationMs: number;
  readonly ended: "exited" | "timedOut" | "aborted";
}

/** The one launch function for every command that Flint itself starts. */
export interface Sandbox {
  /** Whether and how commands can be confined here. Asked once, then remembered. */
  state(): Promise<SandboxState>;
  /** Runs a command to its end. Rejects with `sandboxUnavailable` instead of running it less confined than asked. */
  launch(spec: LaunchSpec): Promise<LaunchResult>;
}
