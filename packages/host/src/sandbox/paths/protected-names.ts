/** Folders and files that steer agents, editors and version control; whoever writes them runs code later. */
const STEERING_NAMES = [
  ".git",
  ".flint",
  ".harness",
  ".mcp.json",
  ".claude",
  ".codex",
  ".cursor",
  ".gemini",
  ".vscode",
  ".idea",
];

/** What shells, git, ssh and search tools read when they start. */
const START_UP_NAMES = [
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".zlogout",
  ".envrc",
  ".gitconfig",
  ".gitmodules",
  ".ripgreprc",
  ".ssh",
];

/** The names that an agent must not write at the top of a workspace, however free it is there otherwise. */
export const PROTECTED_NAMES: readonly string[] = [...STEERING_NAMES, ...START_UP_NAMES];

const LOWER_CASE: ReadonlySet<string> = new Set(PROTECTED_NAMES);

/** Whether a name is protected, in whatever letter case: some file systems do not tell them apart. */
export function isProtectedName(name: string): boolean {
  return LOWER_CASE.has(name.toLowerCase());
}
