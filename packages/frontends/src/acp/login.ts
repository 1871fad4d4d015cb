/** An agent whose user logs in with a program of its own. */
export interface Login {
  readonly agent: string;
  readonly name: string;
  readonly command: string;
}

/** How the users of agents log in. Flint itself has no accounts. */
export const LOGINS: readonly Login[] = [
  { agent: "claude", name: "Claude Code", command: "claude auth login" },
  { agent: "codex", name: "Codex", command: "codex login" },
  { agent: "opencode", name: "OpenCode", command: "opencode auth login" },
  { agent: "gemini", name: "Gemini", command: "gemini" },
];

/** The name of a login method. */
export function loginId(agent: string): string {
  return `${agent}-login`;
}

/** A login method in words: its name, and the command for those who have to type it. */
export function loginWords({ name, command }: Login): { name: string; description: string } {
  return { name: `Log in with ${name}`, description: `Run \`${command}\` in a terminal` };
}

/** How Flint is called in a terminal to log in to an agent. */
export function loginArguments(agent: string): string[] {
  return ["--login", agent];
}
