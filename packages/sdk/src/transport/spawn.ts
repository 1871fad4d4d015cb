import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { errorMessage } from "@flint/protocol";
import type { Transport } from "@flint/rpc";
import { StderrTail, streamTransport } from "@flint/rpc/node";
import type { Endpoint } from "../client/app-server-client.ts";
import { FlintConnectionError } from "../errors.ts";

/** The command that starts a server; `flint serve --stdio` from PATH by default. */
export type SpawnOptions = {
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  /** The server's whole environment; this program's if absent. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Receives the server's stderr as it arrives. */
  readonly onStderr?: ((text: string) => void) | undefined;
  /**
   * Time within which the server must exit after its stdin closes, and again after SIGTERM; 7.5 s if absent.
   */
  readonly stopMs?: number | undefined;
};

type ProcessEnd =
  | { readonly kind: "neverStarted"; readonly error: Error }
  | { readonly kind: "exited"; readonly code: number | null; readonly signal: string | null };

const STOP_MS = 7_500;
/** Time for which an explanation waits for a process whose output has ended. */
const EXPLAIN_MS = 1_000;

/** Starts a server and connects over stdin and stdout. A failed start is reported by `explain`, like any other end. */
export function spawnServer(options: SpawnOptions = {}): Endpoint {
  const { command = "flint", args = ["serve", "--stdio"], cwd, env } = options;
  const where = cwd === undefined ? "" : ` in ${cwd}`;
  const label = [command, ...args].join(" ");
  try {
    const child = spawn(command, [...args], {
      stdio: ["pipe", "pipe", "pipe"],
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { env: { ...env } }),
    });
    // Where descriptors run out there are no pipes, and the failure comes after this has thrown.
    child.once("error", () => undefined);
    return new ServerProcess(child, `"${label}"${where}`, options);
  } catch (thrown) {
    // Node throws at once on arguments that no process can have, such as a NUL character.
    throw neverStarted(`"${label}"${where}`, thrown);
  }
}

class ServerProcess implements Endpoint {
  readonly transport: Transport;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #label: string;
  readonly #stopMs: number;
  readonly #stderr: StderrTail;
  readonly #ended: Promise<ProcessEnd>;

  constructor(child: ChildProcessWithoutNullStreams, label: string, options: SpawnOptions) {
    this.#child = child;
    this.#label = label;
    this.#stopMs = options.stopMs ?? STOP_MS;
    this.#stderr = new StderrTail(child.stderr, { onText: options.onStderr });
    this.transport = streamTransport(child.stdout, child.stdin);
    this.#ended = new Promise((resolve) => {
      child.once("error", (error) => {
        // Also emitted when a signal cannot be sent to a running process.
        if (child.pid === undefined) resolve({ kind: "neverStarted", error });
      });
      child.once("exit", (code, signal) => {
        this.#stderr.finish();
        void this.#stderr.ended.then(() => resolve({ kind: "exited", code, signal }));
      });
    });
  }

  async explain(): Promise<FlintConnectionError> {
    const end = await within(this.#ended, EXPLAIN_MS);
    if (end?.kind === "neverStarted") return neverStarted(this.#label, end.error);
    const stderr = this.#stderr.lines;
    const ending = stderr === "" ? "" : ` Its stderr ended with:\n${stderr}`;
    if (end === undefined) {
      return new FlintConnectionError("closed", `${this.#label} closed its output.${ending}`, { stderr });
    }
    const how = end.signal === null ? `exited with code ${end.code}` : `was ended by ${end.signal}`;
    return new FlintConnectionError("exited", `${this.#label} ${how}.${ending}`, { stderr });
  }

  async stop(): Promise<void> {
    this.#child.stdin.end();
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if ((await within(this.#ended, this.#stopMs)) !== undefined) return;
      this.#child.kill(signal);
    }
    await this.#ended;
  }
}

function neverStarted(label: string, cause: unknown): FlintConnectionError {
  const way = "Check that the program is on PATH (or name it in spawn.command) and that spawn.cwd exists.";
  return new FlintConnectionError("spawnFailed", `Could not start ${label}: ${errorMessage(cause)}. ${way}`, {
    cause,
  });
}

function within<Value>(promise: Promise<Value>, milliseconds: number): Promise<Value | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), milliseconds);
    void promise.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}

/** Options for starting a server in the background. */
export interface DetachedOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** An open file descriptor for its output. */
  readonly output: number;
}

/** Starts a server that outlives this program and its terminal. Resolves with its exit code if it exits before this program. */
export function spawnDetached({ command, args, cwd, output }: DetachedOptions): Promise<number> {
  const child = spawn(command, [...args], { cwd, detached: true, stdio: ["ignore", output, output] });
  child.unref();
  return new Promise((resolve) => {
    child.once("error", () => resolve(1));
    child.once("exit", (code) => resolve(code ?? 1));
  });
}
