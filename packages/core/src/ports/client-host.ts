import type { LaunchResult, LaunchSpec } from "./sandbox.ts";

/** Services of the client that prompts a thread, used in place of this machine's sandbox and disk. */
export interface ClientHost {
  /** Absent: commands run here. */
  readonly terminal?: ClientTerminal | undefined;
  /** Absent: files are read and written on the disk. */
  readonly files?: ClientFiles | undefined;
}

/** A command for a terminal of the client. Nothing of Flint confines it there. */
export interface TerminalCommand
  extends Pick<LaunchSpec, "command" | "cwd" | "environment" | "timeoutMs" | "signal" | "onOutput"> {
  readonly itemId: string;
}

/** Runs commands in terminals of the client. Only for what no sandbox would confine here either. */
export interface ClientTerminal {
  /** Runs a command to its end, to its time limit, or until the client is gone. Never rejects: the output says why. */
  run(command: TerminalCommand): Promise<LaunchResult>;
}

/** Files as the client has them, with changes that are not saved yet. */
export interface ClientFiles {
  /** The text of a file; undefined if the client has none to give. Rejects if it does not answer. */
  read(path: string, signal: AbortSignal): Promise<string | undefined>;
  /** Has the client write the whole file. Rejects if it refuses or does not answer. */
  write(path: string, text: string, signal: AbortSignal): Promise<void>;
}
