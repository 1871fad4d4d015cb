/** An agent with a login command of its own. */
export interface Login {
  readonly agent: string;
  readonly name: string;
  readonly command: string;
}

/** The login command of each agent. Flint itself has no accounts. */
export const LOGINS: readonly Login[] = [
  { agent: "claude", name: "Claude Code", command: "claude auth login" },
  { agent: "codex", name: "Codex", command: "codex login" },
  { agent: "opencode", name: "OpenCode", command: "opencode auth login" },
  { agent: "gemini", name: "Gemini", command: "gemini" },
];

/** The id of a login method. */
export function loginId(agent: string): string {
  return `${agent}-login`;
}

/** The labels of a login method: its name, and the command for users who have to type it. */
export function loginLabels({ name, command }: Login): { name: string; description: string } {
  return { name: `Log in with ${name}`, description: `Run \`${command}\` in a terminal` };
}

/** The arguments with which a client runs Flint in a terminal to log in to an agent. */
export function loginArguments(agent: string): string[] {
  return ["--login", agent];
}
