import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { CommitOffer, SandboxScope } from "@flint/core/ports";
import type { SandboxPolicy } from "@flint/protocol";
import { CommandSandbox } from "../command-sandbox.ts";
import type { MechanismName } from "../mechanisms/launch.ts";
import { newFolder } from "./fixture.ts";

const IDENTITY =
  "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b;";

/** Runs git as the user, in a folder, and returns what it prints. */
export type UserGit = (...args: string[]) => Promise<string>;

/** Git as the user would run it in a folder. */
export function userGit(folder: string): UserGit {
  const identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
  const always = ["-c", "protocol.file.allow=always", "-c", "commit.gpgsign=false"];
  return async (...args) =>
    (await promisify(execFile)("git", [...identity, ...always, ...args], { cwd: folder })).stdout;
}

/** Options of a repository with agents in it. */
export interface RepositoryOptions {
  readonly mechanism?: MechanismName;
  readonly environment?: NodeJS.ProcessEnv;
  readonly init?: readonly string[];
  /** Runs before the sandbox; returns the workspace if it is not the repository itself. */
  prepare?(path: string, git: UserGit): Promise<string | undefined>;
}

/** A repository with one commit, and agents that work in it in a sandbox. */
export async function newRepository(options: RepositoryOptions = {}) {
  const home = newFolder();
  const path = join(home, "work");
  await mkdir(path);
  const git = userGit(path);
  await git("init", "-q", "-b", "main", ...(options.init ?? []));
  await writeFile(join(path, "a.txt"), "one\n");
  await git("add", ".");
  await git("commit", "-q", "-m", "first");
  const workspace = (await options.prepare?.(path, git)) ?? path;
  const mechanisms = [options.mechanism ?? "bubblewrap"] as const;
  const environment = options.environment ?? process.env;
  const start = () => new CommandSandbox({ environment, mechanisms, scopeFolder: join(home, "state") });
  return { home, path, workspace, git, start, ...agentIn(start(), workspace) };
}

/** An agent in a sandbox: what it runs, and what it has to offer. */
export function agentIn(sandbox: CommandSandbox, workspace: string, id = "t1") {
  const scope: SandboxScope = { id, privateGit: true };
  const attempt = async (
    script: string,
    options: { scope?: SandboxScope | undefined; policy?: SandboxPolicy } = { scope },
  ) => {
    let output = "";
    const { exitCode, denials } = await sandbox.launch({
      ...{ command: ["sh", "-c", `${IDENTITY}\n${script}`], cwd: workspace, workspace },
      policy: options.policy ?? { type: "workspaceWrite" },
      scope: options.scope,
      onOutput: (text) => {
        output += text;
      },
    });
    return { exitCode, output, ...(denials === undefined ? {} : { denials }) };
  };
  const agent = async (script: string) => {
    const { exitCode, output } = await attempt(script);
    if (exitCode !== 0) throw new Error(`${script} failed (${exitCode}): ${output}`);
    return output;
  };
  const offered = async (): Promise<CommitOffer> => {
    const offer = await sandbox.commits(id);
    if (offer === undefined) throw new Error("nothing to take over");
    return offer;
  };
  const take = async () => (await offered()).accept();
  return { sandbox, scope, attempt, agent, offered, take };
}

/** The result of a take-over without any remarks. */
export const CLEAN_TAKE_OVER = { notes: [] };
