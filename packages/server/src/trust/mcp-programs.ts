import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { join, relative } from "node:path";
import type { McpServerConfig } from "@flint/core/ports";
import { type Digest, digestFiles } from "@flint/host/steering";
import { PROGRAM_LIMITS, programFiles } from "./program-files.ts";
import { fileOf, type TrustEntry } from "./project-files.ts";

type StdioServer = Extract<McpServerConfig, { type: "stdio" }>;

/** Looks a program up on the user's search path. */
export type FindProgram = (name: string) => Promise<string | undefined>;

/** The programs of MCP servers that lie where agents can write: each is trusted by the content of its files. */
export class McpPrograms {
  readonly #findProgram: FindProgram;

  constructor(findProgram: FindProgram) {
    this.#findProgram = findProgram;
  }

  /** The programs of these servers, for the user to review. */
  async entries(
    cwd: string,
    servers: readonly McpServerConfig[],
    trusted: ReadonlyMap<string, string>,
  ): Promise<readonly TrustEntry[]> {
    const entries = servers.map(async (server): Promise<TrustEntry[]> => {
      const digest = await this.#digest(server, cwd, []);
      if (digest === undefined) return [];
      const key = keyOf(cwd, server.name);
      const steers = [`MCP server ${server.name}`];
      return [{ key, file: fileOf(relative(cwd, key), digest, trusted.get(key), steers) }];
    });
    return (await Promise.all(entries)).flat();
  }

  /** Returns the reason a server must not be started now; undefined if it may be. */
  async problem(
    server: McpServerConfig,
    cwd: string,
    roots: readonly string[],
    trusted: () => Promise<ReadonlyMap<string, string>>,
  ): Promise<string | undefined> {
    const digest = await this.#digest(server, cwd, roots);
    if (digest === undefined) return undefined;
    if (digest.problem !== undefined)
      return `It was not started: ${digest.problem}, or install the program outside of ${cwd}.`;
    if ((await trusted()).get(keyOf(cwd, server.name)) === digest.sha256) return undefined;
    return `It was not started: agents can change its program, and the current content is not trusted. Review it with flint trust, or install the program outside of ${cwd}.`;
  }

  /** Undefined for a server whose program agents cannot write. */
  async #digest(server: McpServerConfig, cwd: string, roots: readonly string[]): Promise<Digest | undefined> {
    if (server.type === "http") return undefined;
    const real = await Promise.all([cwd, ...roots].map((root) => realpath(root).catch(() => root)));
    const place = { cwd, roots: real, findProgram: this.#findProgram };
    const found = await programFiles(server, place);
    const command = [server.command, ...server.args];
    if ("problem" in found) return { sha256: "", content: `${command.join(" ")}\n`, problem: found.problem };
    if (found.files.length === 0) return undefined;
    return named(command, await digestFiles(found.files, cwd, PROGRAM_LIMITS), server);
  }
}

/** The program is trusted for the command line that it was reviewed with. */
function named(command: readonly string[], digest: Digest, { env }: StdioServer): Digest {
  const start = [command, Object.entries(env).sort()];
  const sha256 = createHash("sha256")
    .update(JSON.stringify([start, digest.sha256]))
    .digest("hex");
  return { ...digest, sha256, content: `${command.join(" ")}\n${digest.content}` };
}

function keyOf(cwd: string, name: string): string {
  return join(cwd, `mcp_servers.${name.replaceAll("/", "_")}`);
}
