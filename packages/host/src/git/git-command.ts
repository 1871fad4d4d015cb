import { type ChildProcess, spawn } from "node:child_process";
import { FlintError } from "@flint/protocol";

/** How much one command may print. */
const MAX_OUTPUT = 64 * 1024 * 1024;

/** How long one command may take. */
const TIMEOUT_MS = 60_000;

/**
 * Settings with which git, run by Flint in the user's repository, starts no program that the repository names: no hooks,
 * no file system monitor, no maintenance in the background.
 */
const HARDENED = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.untrackedCache=false",
  "maintenance.auto=false",
  "gc.auto=0",
  "fetch.fsckObjects=true",
  "fetch.writeCommitGraph=false",
  "submodule.recurse=false",
].flatMap((setting) => ["-c", setting]);

/** How a git command ended. */
export interface GitResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs git outside of the sandbox, on the user's own repository and never on one that an agent can write. */
export class GitCommand {
  readonly #cwd: string;
  readonly #environment: NodeJS.ProcessEnv;

  constructor(cwd: string, environment: NodeJS.ProcessEnv) {
    this.#cwd = cwd;
    this.#environment = gitEnvironment(environment);
  }

  /** Runs a command and returns its output. Rejects with a FlintError if it fails. */
  async run(args: readonly string[], input = ""): Promise<string> {
    const { exitCode, stdout, stderr } = await this.attempt(args, input);
    if (exitCode === 0) return stdout;
    const [first = "no message"] = stderr.trim().split("\n");
    throw new FlintError("internalError", `git ${args[0] ?? ""} failed (${exitCode}): ${first}`, { stderr });
  }

  /** Runs a command to its end, whatever its exit code. */
  attempt(args: readonly string[], input = ""): Promise<GitResult> {
    return runToEnd(["git", ...HARDENED, ...args], { cwd: this.#cwd, env: this.#environment, input });
  }
}

/** Runs a program to its end, bounded in time and output. Rejects with a FlintError if it cannot be started. */
export function runToEnd(
  [program = "", ...args]: readonly string[],
  {
    cwd,
    env,
    input = "",
  }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly input?: string },
): Promise<GitResult> {
  const child = spawn(program, args, {
    ...{ cwd, env, timeout: TIMEOUT_MS, killSignal: "SIGKILL" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  // It may end without reading its input.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  return resultOf(child);
}

/** Variables that would point git at another repository or run a program are left out. */
function gitEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const inherited = Object.entries(environment).filter(([name]) => !name.startsWith("GIT_"));
  return { ...Object.fromEntries(inherited), GIT_TERMINAL_PROMPT: "0", GIT_OPTIONAL_LOCKS: "0", LC_ALL: "C" };
}

function resultOf(child: ChildProcess): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let size = 0;
    const collect = (into: Buffer[]) => (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_OUTPUT) child.kill("SIGKILL");
      else into.push(chunk);
    };
    child.stdout?.on("data", collect(stdout));
    child.stderr?.on("data", collect(stderr));
    child.on("error", (error) =>
      reject(new FlintError("internalError", `git cannot be started: ${error.message}`)),
    );
    child.on("close", (code) => {
      const decode = (chunks: readonly Buffer[]) => Buffer.concat(chunks).toString("utf8");
      resolve({ exitCode: code ?? 137, stdout: decode(stdout), stderr: decode(stderr) });
    });
  });
}
