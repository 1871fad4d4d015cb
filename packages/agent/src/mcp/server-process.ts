import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import type { McpServerConfig, ProcessSpec } from "@flint/core/ports";
import { isUnconfined, type SandboxPolicy } from "@flint/protocol";

/** An MCP server that is a program on this machine. */
export type StdioServer = Extract<McpServerConfig, { type: "stdio" }>;

/** The folder and the sandbox policy of the program of a server: those of the commands of the thread. */
export interface ServerPlace {
  readonly cwd: string;
  readonly policy: SandboxPolicy;
}

/** Caches of package managers, which a server may add to for itself. */
const CACHES = [".npm", ".cache"];

/** The program of a server, in a sandbox of its own. Its variables are for it alone, whichever agent uses it. */
export function serverProcess(config: StdioServer, { cwd, policy }: ServerPlace): ProcessSpec {
  const { command, args, env, network, writable = [] } = config;
  const home = homedir();
  return {
    command: [command, ...args],
    ...{ cwd, workspace: cwd, policy, environment: { ...safePath(config, cwd), ...env } },
    ownPaths: writable.map((path) => (path.startsWith("~/") ? join(home, path.slice(2)) : path)),
    privateFolders: CACHES.map((name) => ({ path: join(home, name) })),
    ...(network === undefined ? {} : { hosts: network }),
  };
}

/**
 * Keeps Python 3.11 and later from importing what lies in the workspace in place of its own modules. A module of the
 * workspace itself is trusted by its content.
 */
function safePath({ command, args }: StdioServer, cwd: string): Readonly<Record<string, string>> {
  if (!basename(command).startsWith("python")) return {};
  const at = args.findIndex((word) => word === "-m" || word === "-c");
  if (at < 0) return {};
  const [top = ""] = (args[at] === "-m" ? (args[at + 1] ?? "") : "").split(".");
  const isOwn = top !== "" && (existsSync(join(cwd, top)) || existsSync(join(cwd, `${top}.py`)));
  return isOwn ? {} : { PYTHONSAFEPATH: "1" };
}

/** Returns a hint about a program that does not start in the sandbox; empty if there is none. */
export function sandboxStartHint(
  { type, name }: McpServerConfig,
  { policy }: Pick<ServerPlace, "policy">,
): string {
  if (type === "http" || isUnconfined(policy)) return "";
  return ` It runs in the sandbox; mcp_servers.${name}.writable and mcp_servers.${name}.network in your configuration allow it more.`;
}
