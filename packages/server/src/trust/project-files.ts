import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import type { Steering, SteeringFile } from "@flint/core/ports";
import { type Digest, digestOf, gitOverrides, gitSteering } from "@flint/host/steering";
import type { WorkspaceFile } from "@flint/protocol";

/** An agent, and the files and folders of a project that steer it. */
export interface SteeredAgent {
  readonly name: string;
  readonly files: readonly string[];
}

/** Something that can be trusted: the key of its hash, and what the user is shown. */
export interface TrustEntry {
  readonly key: string;
  readonly file: WorkspaceFile;
}

interface Found extends SteeringFile {
  readonly key: string;
  readonly digest: Digest;
}

/** Plugins come with the packages that they use, which are part of what is trusted. */
const LIMITS = { files: 20_000, bytes: 128 * 1024 * 1024 };

/** Maximum number of folders above the workspace that are searched. */
const MAX_LEVELS = 64;

/**
 * The files that steer agents in a project: their settings, plugins and hooks, and programs that the
 * repository's git settings run.
 */
export class ProjectFiles {
  readonly #home: string;

  /** The user's own settings in the home folder are no project's. */
  constructor(home: string) {
    this.#home = home;
  }

  /** Returns the files that steer any of these agents, for the user to review. */
  async entries(
    cwd: string,
    agents: readonly SteeredAgent[],
    trusted: ReadonlyMap<string, string>,
  ): Promise<readonly TrustEntry[]> {
    const paths = [...new Set(agents.flatMap(({ files }) => files))];
    const found = await this.#find(cwd, paths);
    const files = found.map(({ key, path, digest }): TrustEntry => {
      const steers = agents.filter((agent) => agent.files.includes(path)).map(({ name }) => name);
      return { key, file: fileOf(relative(cwd, key), digest, trusted.get(key), [...new Set(steers)]) };
    });
    const git = await gitDigest(cwd);
    if (git === undefined) return files;
    const { key, digest } = git;
    return [...files, { key, file: fileOf(relative(cwd, key), digest, trusted.get(key), ["git"]) }];
  }

  /** Returns the files that steer an agent that reads these paths. */
  async steering(
    cwd: string,
    paths: readonly string[],
    trusted: ReadonlyMap<string, string>,
  ): Promise<Steering> {
    const found = await this.#find(cwd, paths);
    const isTrusted = ({ key, digest }: Found) => isTrustedDigest(digest, trusted.get(key));
    const untrusted = found.filter((file) => !isTrusted(file));
    const git = await gitDigest(cwd);
    const ignoresGit = git !== undefined && !isTrustedDigest(git.digest, trusted.get(git.key));
    const names = [...untrusted.map(({ key }) => key), ...(ignoresGit ? [git.key] : [])];
    return {
      trusted: found.filter(isTrusted),
      untrusted,
      notices: names.length === 0 ? [] : [notice(cwd, names)],
    };
  }

  /** Variables that keep git from running what the repository names, unless that is trusted. */
  async gitVariables(cwd: string, trusted: () => Promise<ReadonlyMap<string, string>>) {
    const git = await gitDigest(cwd);
    if (git === undefined) return gitOverrides([]);
    if (isTrustedDigest(git.digest, (await trusted()).get(git.key))) return {};
    const hooks = git.hooks === undefined ? [] : [{ name: "core.hookspath", value: git.hooks }];
    return gitOverrides([...git.settings, ...hooks], git.isComplete);
  }

  async #find(cwd: string, paths: readonly string[]): Promise<readonly Found[]> {
    if (paths.length === 0) return [];
    const folders = await this.#foldersAbove(cwd);
    const found = folders.flatMap((folder) =>
      paths.map(async (path): Promise<Found[]> => {
        const key = join(folder, path);
        const digest = await digestOf(key, LIMITS);
        return digest === undefined ? [] : [{ folder, path, key, digest: withoutSecrets(path, digest) }];
      }),
    );
    return (await Promise.all(found)).flat();
  }

  /** The workspace and the folders above it, up to the home folder. */
  async #foldersAbove(cwd: string): Promise<readonly string[]> {
    const home = await realpath(this.#home).catch(() => this.#home);
    const folders: string[] = [];
    for (let folder = cwd; folders.length < MAX_LEVELS && folder !== home; folder = dirname(folder)) {
      folders.push(folder);
      if (dirname(folder) === folder) break;
    }
    return folders;
  }
}

/**
 * Returns the programs that the repository makes git run, as one thing to trust; undefined if there are none.
 */
async function gitDigest(cwd: string) {
  const git = await gitSteering(cwd);
  if (git === undefined || (git.settings.length === 0 && git.hooks === undefined && git.isComplete))
    return undefined;
  const { settings, isComplete, hooks } = git;
  const lines = settings.map(({ name, value }) => `${name} = ${value}\n`).join("");
  const found = hooks === undefined ? undefined : await digestOf(hooks);
  const shown = found === undefined ? "" : `${found.content}`;
  const sha256 = createHash("sha256")
    .update(JSON.stringify([lines, found?.sha256]))
    .digest("hex");
  const problem = isComplete ? found?.problem : "includes settings that cannot be read";
  const digest: Digest = { sha256, content: lines + shown, ...(problem === undefined ? {} : { problem }) };
  return { ...git, key: git.config, digest };
}

function isTrustedDigest({ sha256, problem }: Digest, trustedHash: string | undefined): boolean {
  return problem === undefined && sha256 === trustedHash;
}

/** A file to review, with whether its content is trusted. */
export function fileOf(
  path: string,
  digest: Digest,
  trustedHash: string | undefined,
  steers: string[],
): WorkspaceFile {
  const { sha256, content, problem } = digest;
  const trusted = isTrustedDigest(digest, trustedHash);
  const fault = problem === undefined ? {} : { problem: `it ${problem}, so it cannot be trusted` };
  return { path, sha256, trusted, content, steers, ...fault };
}

/** Of a file with variables only their names are shown. */
function withoutSecrets(path: string, digest: Digest): Digest {
  if (basename(path) !== ".env") return digest;
  return { ...digest, content: digest.content.replace(/=.*$/gm, "=…") };
}

function notice(cwd: string, paths: readonly string[]): string {
  const names = paths.map((path) => relative(cwd, path)).join(", ");
  return `Ignoring ${names} in ${cwd}: not trusted. Review with flint trust.`;
}
