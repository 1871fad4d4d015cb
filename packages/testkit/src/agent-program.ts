import { existsSync, readFileSync } from "node:fs";
import { delimiter, dirname } from "node:path";

/** A real agent's program, the program or module of a real client, a browser, a server, or a newer Node to run one on. */
export type RealAgent =
  | "claude"
  | "codex"
  | "codex-acp"
  | "claude-agent-acp"
  | "opencode"
  | "gemini"
  | "acpx"
  | "codex-sdk"
  | "chromium"
  | "sshd"
  | "node24";

interface FoundProgram {
  readonly path?: string;
  /** True if Flint itself looks for it on PATH. */
  readonly onPath?: boolean;
}

/** The results of the tests' set-up, by the name of the part. */
const FOUND = new URL("../../../node_modules/.cache/flint/found.json", import.meta.url);

/** The program of a real agent, if the set-up of the tests found or fetched it, and it is still there. */
export function agentProgram(name: RealAgent): string | undefined {
  return foundProgram(name);
}

/** The same for any part of the set-up. */
export function foundProgram(name: string): string | undefined {
  const path = readFound()[name]?.path;
  return path !== undefined && existsSync(path) ? path : undefined;
}

/** The search path for tests: private copies first of what programs are looked for on PATH. */
export function searchPath(own: string = process.env.PATH ?? ""): string {
  const folders = Object.values(readFound()).flatMap(({ path, onPath }) =>
    path !== undefined && onPath === true ? [dirname(path)] : [],
  );
  const known = own.split(delimiter);
  return [...new Set(folders.filter((folder) => !known.includes(folder))), own].join(delimiter);
}

function readFound(): Readonly<Record<string, FoundProgram>> {
  try {
    return JSON.parse(readFileSync(FOUND, "utf8"));
  } catch {
    // Without a set-up nothing was found.
    return {};
  }
}
