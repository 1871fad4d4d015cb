import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { WorkspaceConfig, Workspaces } from "@flint/core/ports";
import { FlintError, type WorkspaceFile } from "@flint/protocol";
import { ConfigValues } from "./config-values.ts";
import { parseMcpFile } from "./mcp-file.ts";
import { mcpServersOf } from "./mcp-servers.ts";
import { ConfigError, parseConfig } from "./parse.ts";
import { policiesOf } from "./policies.ts";
import type { TrustFile } from "./trust-file.ts";

/** A file that a workspace may have for Flint: where, and how it is read. */
interface KnownFile {
  readonly path: string;
  parse(text: string, path: string): Promise<ConfigValues>;
}

const KNOWN_FILES: readonly KnownFile[] = [
  { path: ".flint/config.toml", parse: (text, path) => parseConfig(text, path, "project") },
  { path: ".mcp.json", parse: parseMcpFile },
];

/** A value of a workspace's configuration, and the file that says it. */
export interface WorkspaceEntry {
  readonly name: string;
  readonly value: unknown;
  readonly path: string;
}

/** A file that steers anything is short. */
const SIZE_LIMIT = 256 * 1024;

/** The files of workspaces on this machine. Nothing in them is followed, run or expanded. */
export class WorkspaceFiles implements Workspaces {
  readonly #trust: TrustFile;

  constructor(trust: TrustFile) {
    this.#trust = trust;
  }

  async configOf(cwd: string): Promise<WorkspaceConfig> {
    const found = await this.#look(cwd);
    const values = new Map(
      found.filter(({ file }) => file.trusted).flatMap(({ values }) => values.entries()),
    );
    const notices = found.flatMap(({ file }) => noticeOf(cwd, file));
    // Expected: a trusted file with an MCP server that is no server. Then none of them is started.
    try {
      const config = new ConfigValues(values);
      return { ...policiesOf(config), mcpServers: mcpServersOf(config, (text) => text), notices };
    } catch (thrown) {
      if (!(thrown instanceof ConfigError)) throw thrown;
      return {
        mcpServers: [],
        notices: [...notices, `The configuration of ${cwd} is ignored: ${thrown.message}`],
      };
    }
  }

  /** What the trusted files of a folder say, each with the file it stands in. */
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
      const message = `${path} in ${cwd} is not there, or not as it was shown. Look at it again with workspace/read.`;
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
    const texts = await Promise.all(KNOWN_FILES.map(({ path }) => textOf(join(folder, path))));
    if (texts.every((text) => text === undefined)) return [];
    const trusted = await this.#trust.read();
    const found = KNOWN_FILES.map(async (known, place) => {
      const text = texts[place];
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
  // Expected: a file with a fault in it. It is shown with its fault and has no effect.
  try {
    return { file, values: await known.parse(content, known.path) };
  } catch (thrown) {
    const problem = thrown instanceof Error ? thrown.message : String(thrown);
    return { file: { ...file, problem }, values: new ConfigValues() };
  }
}

function noticeOf(cwd: string, { path, trusted, problem }: WorkspaceFile): string[] {
  if (!trusted) return [`${path} in ${cwd} is ignored until you trust it: flint trust shows it and asks.`];
  return problem === undefined ? [] : [`${path} in ${cwd} is ignored: ${problem}`];
}

function realFolder(cwd: string): Promise<string> {
  return realpath(cwd).catch(() => cwd);
}

/** The text of a plain file; undefined for anything else. A link is not followed: its target may change unseen. */
async function textOf(path: string): Promise<string | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    return size > SIZE_LIMIT ? undefined : await file.readFile("utf8");
  } catch {
    // A folder, or a file that went away.
    return undefined;
  } finally {
    await file.close();
  }
}
