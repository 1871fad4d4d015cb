import type { Stats } from "node:fs";

/** Folders and files that configure agents, editors and version control; writing them means running code later. */
const CONFIGURATION_NAMES = [
  ...[".git", ".flint", ".harness", ".mcp.json", ".agents", ".claude", ".codex", ".gemini", ".qwen", ".kiro"],
  ...[".opencode", ".goose", ".goosehints", ".aider.conf.yml"],
  ...[".cursor", ".windsurf", ".vscode", ".idea", ".zed", ".devcontainer", ".devcontainer.json"],
];

/** Settings of package managers and hooks that name programs to run; what is built and tested stays writable. */
const TOOL_NAMES = [".npmrc", ".cargo", ".husky"];

/** The same, but their programs fail if a folder has the name, so a placeholder cannot keep others from creating them. */
export const EXISTING_NAMES: readonly string[] = [
  "opencode.json",
  "opencode.jsonc",
  ".yarnrc",
  ".yarnrc.yml",
  ".pnpmfile.cjs",
];

/** The files that shells, editors, git, ssh and search tools read when they start. */
const START_UP_NAMES = [
  ...[".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile"],
  ...[".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout"],
  ...[".envrc", ".exrc", ".gitconfig", ".gitmodules", ".ripgreprc", ".ssh"],
];

/** The names that an agent must not write at the top of a workspace, whether they exist or not. */
export const PROTECTED_NAMES: readonly string[] = [...CONFIGURATION_NAMES, ...TOOL_NAMES, ...START_UP_NAMES];

/** The same with those that are protected only where they exist. */
export const ALL_PROTECTED_NAMES: readonly string[] = [...PROTECTED_NAMES, ...EXISTING_NAMES];

const LOWER_CASE: ReadonlySet<string> = new Set(ALL_PROTECTED_NAMES);

/** Reports whether a name is protected, in any letter case, because some file systems ignore it. */
export function isProtectedName(name: string): boolean {
  return LOWER_CASE.has(name.toLowerCase());
}

/** The mode of placeholder folders; nothing else creates private folders with a sticky bit. */
export const PLACEHOLDER_MODE = 0o1700;

/**
 * Reports whether a sandbox created it as the placeholder of a protected name. Its setgid bit may be
 * inherited.
 */
export function isPlaceholder(found: Stats): boolean {
  return found.isDirectory() && (found.mode & 0o5777) === PLACEHOLDER_MODE;
}
