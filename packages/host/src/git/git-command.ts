import { PassThrough, type Readable } from "node:stream";
import { FlintError } from "@flint/protocol";
import { SYSTEM_PATH } from "../sandbox/mechanisms/launch.ts";
import { type GitResult, runToEnd } from "../sandbox/processes/run-to-end.ts";
import { outerSearchPath } from "../sandbox/processes/search-path.ts";
import {
  KnownSettings,
  LIST_SETTINGS,
  overridesOf,
  type ScopedGitSetting,
  type SettingsList,
} from "../steering/index.ts";

/**
 * Settings with which git, run by Flint in the user's repository, starts no program that the repository names: no hooks,
 * no file system monitor, no command for borrowed objects, no maintenance in the background. Nor is git run in a nested
 * repository, whose settings may be those of an agent.
 */
const HARDENED = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.alternateRefsCommand=true",
  "core.untrackedCache=false",
  "maintenance.auto=false",
  "gc.auto=0",
  "log.showSignature=false",
  "i18n.logOutputEncoding=UTF-8",
  "submodule.recurse=false",
  "diff.submodule=short",
  "diff.ignoreSubmodules=dirty",
  "status.submoduleSummary=false",
].flatMap((setting) => ["-c", setting]);

/** One for all, because the commands for a repository come from several parts of Flint. */
const SETTINGS = new KnownSettings();

/** The paths from which git opens a repository without searching for it. */
export interface GitLocation {
  readonly worktree: string;
  readonly gitDir: string;
}

/**
 * Runs git outside of the sandbox, on the user's own repository and never on one that an agent can write. Programs that the
 * repository's own settings name, such as merge drivers and filters, are not run; those of the user's settings are.
 */
export class GitCommand {
  readonly #cwd: string;
  readonly #environment: NodeJS.ProcessEnv;
  #hasFilters = true;

  constructor(cwd: string, environment: NodeJS.ProcessEnv) {
    this.#cwd = cwd;
    const PATH = outerSearchPath(environment.PATH ?? SYSTEM_PATH, [cwd]);
    this.#environment = { ...gitEnvironment(environment), PATH };
  }

  /** The folders of programs that may run outside of the sandbox. */
  get searchPath(): string {
    return this.#environment.PATH ?? "";
  }

  /** The same for a repository that was found: a `.git` that is replaced later leads nowhere else. */
  in({ worktree, gitDir }: GitLocation): GitCommand {
    const located = new GitCommand(worktree, this.#environment);
    Object.assign(located.#environment, { GIT_DIR: gitDir, GIT_WORK_TREE: worktree });
    located.#hasFilters = this.#hasFilters;
    return located;
  }

  /** The same with more variables. */
  with(variables: Readonly<Record<string, string>>): GitCommand {
    const extended = new GitCommand(this.#cwd, {});
    Object.assign(extended.#environment, this.#environment, variables);
    extended.#hasFilters = this.#hasFilters;
    return extended;
  }

  /** Like `run`, with a file as its input. */
  async runWithFile(args: readonly string[], file: string): Promise<string> {
    const command = ["/bin/sh", "-c", 'exec "$@" < "$0"', file, "git", ...HARDENED, ...args];
    return outputOf(args[0], await this.#runOverridden(command));
  }

  /** Like `run`, with a file for its output. */
  async runToFile(args: readonly string[], file: string, input: string): Promise<void> {
    const command = ["/bin/sh", "-c", 'exec "$@" > "$0"', file, "git", ...HARDENED, ...args];
    outputOf(args[0], await this.#runOverridden(command, input));
  }

  /** Runs a command and returns its output. Rejects with a FlintError if it fails. */
  async run(args: readonly string[], input: string | Readable = ""): Promise<string> {
    return outputOf(args[0], await this.attempt(args, input));
  }

  /** Runs a command to its end, whatever its exit code. */
  attempt(args: readonly string[], input: string | Readable = ""): Promise<GitResult> {
    return this.#runOverridden(["git", ...HARDENED, ...args], input);
  }

  /** Variables with which another program's git runs nothing that the repository names. Rejects if git cannot say. */
  async overrides(): Promise<Record<string, string>> {
    return overridesOf(await this.settings());
  }

  /** Everything that is set, without what Flint sets itself. Rejects if git cannot say. */
  async settings(): Promise<readonly ScopedGitSetting[]> {
    const { settings, failed } = await this.#listSettings();
    if (failed !== undefined) outputOf("config", failed);
    return settings;
  }

  /** The same without any filters and merge drivers, not even those of the user's settings. */
  withoutFilters(): GitCommand {
    const bare = this.with({});
    bare.#hasFilters = false;
    return bare;
  }

  async #runOverridden(command: readonly string[], input: string | Readable = ""): Promise<GitResult> {
    // The output of a process that ends meanwhile would be lost.
    const kept = typeof input === "string" ? input : input.pipe(new PassThrough());
    const { settings, failed } = await this.#listSettings();
    // Settings that git cannot read would stop the command as well.
    if (failed !== undefined) return failed;
    const overrides = overridesOf(settings, this.#hasFilters ? "keep" : "drop");
    return runToEnd(command, { cwd: this.#cwd, env: { ...this.#environment, ...overrides }, input: kept });
  }

  #listSettings(): Promise<SettingsList> {
    const options = { cwd: this.#cwd, env: this.#environment };
    return SETTINGS.list(this.#cwd, this.#environment, () => runToEnd(["git", ...LIST_SETTINGS], options));
  }
}

function outputOf(command = "", { exitCode, stdout, stderr }: GitResult): string {
  if (exitCode === 0) return stdout;
  const lines = stderr.trim().split("\n");
  const reason = lines.find((line) => /^(?:fatal|error): /.test(line)) ?? lines[0] ?? "no message";
  throw new FlintError("internalError", `git ${command} failed (${exitCode}): ${reason.slice(0, 500)}`, {
    stderr: stderr.slice(0, 10_000),
  });
}

/** Variables that would point git at another repository or run a program are left out. */
export function gitEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const inherited = Object.entries(environment).filter(([name]) => !name.startsWith("GIT_"));
  return {
    ...Object.fromEntries(inherited),
    ...{ GIT_TERMINAL_PROMPT: "0", GIT_OPTIONAL_LOCKS: "0", GIT_NO_LAZY_FETCH: "1", LC_ALL: "C" },
    // Flint's own commands fetch nothing: no network, no remote that is a command, and none whose server is one.
    GIT_ALLOW_PROTOCOL: "none",
  };
}
