import { createHash } from "node:crypto";
import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { WorkspaceConfig, Workspaces } from "@flint/core/ports";
import { unlinkedText } from "@flint/host/files";
import { FlintError, type WorkspaceFile } from "@flint/protocol";
import { replaceFile } from "../state/replace-file.ts";
import { mcpServersOf, parseMcpFile } from "./mcp-servers.ts";
import { ConfigError, ConfigValues, parseConfig } from "./parse.ts";
import { policiesOf } from "./policies.ts";

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

/** The configuration files of projects on this machine. Nothing in them is expanded, run or followed. */
export class WorkspaceFiles implements Workspaces {
  readonly #trust: TrustFile;
  readonly #fixed: FixedSettings;

  constructor(trust: TrustFile, fixed: FixedSettings = new Set()) {
    this.#trust = trust;
    this.#fixed = fixed;
  }

  async configOf(cwd: string): Promise<WorkspaceConfig> {
    const { mcpServers, notices, ...policies } = await this.#trustedConfig(cwd);
    const changeable = Object.entries(policies).filter(([name]) => !this.#fixed.has(name));
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

  async files(cwd: string): Promise<readonly WorkspaceFile[]> {
    return (await this.#look(cwd)).map(({ file }) => file);
  }

  async trust(cwd: string, files: readonly Pick<WorkspaceFile, "path" | "sha256">[]): Promise<void> {
    const present = await this.files(cwd);
    for (const { path, sha256 } of files) {
      if (present.some((file) => file.path === path && file.sha256 === sha256)) continue;
      const message = `${path} in ${cwd} has changed or is missing. Read it again with workspace/read.`;
      throw new FlintError("invalidParams", message, { field: "files", path });
    }
    const folder = await realFolder(cwd);
    await this.#trust.change(new Map(files.map(({ path, sha256 }) => [join(folder, path), sha256])));
  }

  async distrust(cwd: string): Promise<void> {
    const folder = await realFolder(cwd);
    await this.#trust.change(new Map(KNOWN_FILES.map(({ path }) => [join(folder, path), undefined])));
  }

  async #look(cwd: string): Promise<readonly Found[]> {
    const folder = await realFolder(cwd);
    const texts = await Promise.all(
      KNOWN_FILES.map(({ path }) => unlinkedText(join(folder, path), MAX_BYTES)),
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
    const problem = thrown instanceof Error ? thrown.message : String(thrown);
    return { file: { ...file, problem }, values: new ConfigValues() };
  }
}

function noticeOf(cwd: string, { path, trusted, problem }: WorkspaceFile): string[] {
  if (!trusted) return [`Ignoring ${path} in ${cwd}: it is not trusted. Review it with flint trust.`];
  return problem === undefined ? [] : [`Ignoring ${path} in ${cwd}: ${problem}`];
}

function realFolder(cwd: string): Promise<string> {
  return realpath(cwd).catch(() => cwd);
}

/** The hashes of trusted files, in a file only its user can read. */
export class TrustFile {
  readonly #path: string;
  #change: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  /** The trusted hash of each file. Read every time, because other processes change it too. */
  async read(): Promise<ReadonlyMap<string, string>> {
    try {
      const stored: unknown = JSON.parse(await readFile(this.#path, "utf8"));
      if (typeof stored !== "object" || stored === null) return new Map();
      return new Map(Object.entries(stored).filter(([, hash]) => typeof hash === "string"));
    } catch {
      // A missing or unreadable file trusts nothing.
      return new Map();
    }
  }

  /** Applies changes one after the other; undefined removes trust. */
  change(changes: ReadonlyMap<string, string | undefined>): Promise<void> {
    const changed = this.#change.then(() => this.#write(changes));
    this.#change = changed.catch(() => undefined);
    return changed;
  }

  async #write(changes: ReadonlyMap<string, string | undefined>): Promise<void> {
    const trusted = new Map(await this.read());
    for (const [path, hash] of changes) {
      if (hash === undefined) trusted.delete(path);
      else trusted.set(path, hash);
    }
    await replaceFile(this.#path, `${JSON.stringify(Object.fromEntries(trusted), undefined, 2)}\n`);
  }
}
