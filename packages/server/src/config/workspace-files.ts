import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { McpServerConfig, Steering, WorkspaceConfig, Workspaces } from "@flint/core/ports";
import { readTextNoFollow } from "@flint/host/files";
import { errorMessage, FlintError, type WorkspaceFile } from "@flint/protocol";
import { McpPrograms } from "../trust/mcp-programs.ts";
import { ProjectFiles, type SteeredAgent, type TrustEntry } from "../trust/project-files.ts";
import type { TrustFile } from "../trust/trust-file.ts";
import { mcpServersOf, parseMcpFile } from "./mcp-servers.ts";
import { ConfigError, ConfigValues, parseConfig } from "./parse.ts";
import { policiesOf } from "./policies.ts";

export { TrustFile } from "../trust/trust-file.ts";

/** A configuration file of a project, and how to parse it. */
interface KnownFile {
  readonly path: string;
  parse(text: string, path: string): Promise<ConfigValues>;
}

const KNOWN_FILES: readonly KnownFile[] = [
  { path: ".flint/config.toml", parse: (text, path) => parseConfig(text, path, "project") },
  { path: ".mcp.json", parse: parseMcpFile },
];

/** A value of a project's configuration, and the file that sets it. */
export interface WorkspaceEntry {
  readonly name: string;
  readonly value: unknown;
  readonly path: string;
}

/** The names of settings that no workspace may change. */
export type FixedSettings = ReadonlySet<string>;

/** Larger files are ignored. */
const MAX_BYTES = 256 * 1024;

/** Settings that determine which files of projects are looked for. */
export interface WorkspaceFilesOptions {
  readonly fixed?: FixedSettings;
  /** The agents that files of projects could steer. */
  readonly agents?: readonly SteeredAgent[];
  /** The user's own MCP servers, whose programs may lie in a project. */
  readonly mcpServers?: readonly McpServerConfig[];
  /** The user's home folder. */
  readonly home?: string | undefined;
  /** Finds a program on the user's search path. */
  findProgram?(name: string): Promise<string | undefined>;
}

/**
 * The files of projects on this machine that configure Flint or steer agents. Nothing in them is expanded, run or followed.
 */
export class WorkspaceFiles implements Workspaces {
  readonly #trust: TrustFile;
  readonly #options: WorkspaceFilesOptions;
  readonly #projects: ProjectFiles;
  readonly #programs: McpPrograms;

  constructor(trust: TrustFile, options: WorkspaceFilesOptions = {}) {
    this.#trust = trust;
    this.#options = options;
    this.#projects = new ProjectFiles(options.home ?? "/");
    this.#programs = new McpPrograms(async (name) => options.findProgram?.(name));
  }

  async configOf(cwd: string): Promise<WorkspaceConfig> {
    const { mcpServers, notices, ...policies } = await this.#trustedConfig(cwd);
    const changeable = Object.entries(policies).filter(([name]) => this.#options.fixed?.has(name) !== true);
    return { ...Object.fromEntries(changeable), mcpServers, notices };
  }

  async #trustedConfig(cwd: string): Promise<WorkspaceConfig> {
    const found = await this.#look(cwd);
    const values = new Map(
      found.filter(({ file }) => file.trusted).flatMap(({ values }) => values.entries()),
    );
    const notices = found.flatMap(({ file }) => noticeOf(cwd, file));
    // Expected: a trusted file with an invalid MCP server. Then none of its servers is started.
    try {
      const config = new ConfigValues(values);
      return { ...policiesOf(config), mcpServers: mcpServersOf(config, (text) => text), notices };
    } catch (thrown) {
      if (!(thrown instanceof ConfigError)) throw thrown;
      return {
        mcpServers: [],
        notices: [...notices, `Ignoring the configuration of ${cwd}: ${thrown.message}`],
      };
    }
  }

  /** The values of a folder's trusted files, each with its file. */
  async entries(cwd: string): Promise<readonly WorkspaceEntry[]> {
    const trusted = (await this.#look(cwd)).filter(({ file }) => file.trusted);
    return trusted.flatMap(({ file, values }) =>
      values.entries().map(([name, value]) => ({ name, value, path: file.path })),
    );
  }

  async steering(cwd: string, paths: readonly string[]): Promise<Steering> {
    return this.#projects.steering(await realFolder(cwd), paths, await this.#trust.read());
  }

  async gitVariables(cwd: string): Promise<Readonly<Record<string, string>>> {
    return this.#projects.gitVariables(await realFolder(cwd), () => this.#trust.read());
  }

  async mcpProblem(
    server: McpServerConfig,
    cwd: string,
    roots: readonly string[],
  ): Promise<string | undefined> {
    return this.#programs.problem(server, await realFolder(cwd), roots, () => this.#trust.read());
  }

  async files(cwd: string): Promise<readonly WorkspaceFile[]> {
    return (await this.#all(cwd)).map(({ file }) => file);
  }

  async trust(cwd: string, files: readonly Pick<WorkspaceFile, "path" | "sha256">[]): Promise<void> {
    const present = await this.#all(cwd);
    const changes = files.map(({ path, sha256 }): [string, string] => {
      const found = present.find(({ file }) => file.path === path && file.sha256 === sha256);
      if (found !== undefined) return [found.key, sha256];
      const message = `${path} in ${cwd} has changed or is missing. Read it again with workspace/read.`;
      throw new FlintError("invalidParams", message, { field: "files", path });
    });
    await this.#trust.change(new Map(changes));
  }

  /** Also of files that are gone by now, so that none of them is trusted when it comes back. */
  async distrust(cwd: string): Promise<void> {
    const folder = await realFolder(cwd);
    const stored = [...(await this.#trust.read()).keys()].filter((key) => key.startsWith(`${folder}/`));
    const keys = [...stored, ...(await this.#all(cwd)).map(({ key }) => key)];
    await this.#trust.change(new Map(keys.map((key) => [key, undefined])));
  }

  /** Everything that can be trusted in a folder. */
  async #all(cwd: string): Promise<readonly TrustEntry[]> {
    const folder = await realFolder(cwd);
    const { agents = [], mcpServers = [] } = this.#options;
    const [known, trusted] = await Promise.all([this.#look(cwd), this.#trust.read()]);
    const own = known.map(({ file }): TrustEntry => ({ key: join(folder, file.path), file }));
    const servers = [...mcpServers, ...known.flatMap(({ values }) => serversIn(values))];
    const [projects, programs] = await Promise.all([
      this.#projects.entries(folder, agents, trusted),
      this.#programs.entries(folder, servers, trusted),
    ]);
    // An agent may read a file that configures Flint, too. It has one hash, so it is trusted for both.
    const others = projects.filter(({ key }) => !own.some((entry) => entry.key === key));
    return [...own, ...others, ...programs];
  }

  async #look(cwd: string): Promise<readonly Found[]> {
    const folder = await realFolder(cwd);
    const texts = await Promise.all(
      KNOWN_FILES.map(({ path }) => readTextNoFollow(join(folder, path), MAX_BYTES)),
    );
    if (texts.every((text) => text === undefined)) return [];
    const trusted = await this.#trust.read();
    const found = KNOWN_FILES.map(async (known, index) => {
      const text = texts[index];
      return text === undefined ? [] : [await foundFile(known, text, trusted.get(join(folder, known.path)))];
    });
    return (await Promise.all(found)).flat();
  }
}

interface Found {
  readonly file: WorkspaceFile;
  readonly values: ConfigValues;
}

async function foundFile(known: KnownFile, content: string, trustedHash: string | undefined): Promise<Found> {
  const sha256 = createHash("sha256").update(content).digest("hex");
  const file = { path: known.path, sha256, trusted: sha256 === trustedHash, content };
  // Expected: an invalid file. It is listed with its problem and has no effect.
  try {
    return { file, values: await known.parse(content, known.path) };
  } catch (thrown) {
    const problem = errorMessage(thrown);
    return { file: { ...file, problem }, values: new ConfigValues() };
  }
}

function noticeOf(cwd: string, { path, trusted, problem }: WorkspaceFile): string[] {
  if (!trusted) return [`Ignoring ${path} in ${cwd}: it is not trusted. Review it with flint trust.`];
  return problem === undefined ? [] : [`Ignoring ${path} in ${cwd}: ${problem}`];
}

/** The servers of a file, whether it is trusted or not; none if one of them is invalid. */
function serversIn(values: ConfigValues): readonly McpServerConfig[] {
  // Expected: an invalid server, which has no effect and is reported with its file.
  try {
    return mcpServersOf(values, (text) => text);
  } catch {
    return [];
  }
}

function realFolder(cwd: string): Promise<string> {
  return realpath(cwd).catch(() => cwd);
}
