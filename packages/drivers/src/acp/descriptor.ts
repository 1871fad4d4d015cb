import { CLAUDE_AGENT_ACP } from "./profiles/claude-agent-acp.ts";
import { CODEX_ACP } from "./profiles/codex-acp.ts";
import { GEMINI } from "./profiles/gemini.ts";
import { GOOSE } from "./profiles/goose.ts";
import { OPENCODE } from "./profiles/opencode.ts";
import { type AcpProfile, GENERIC } from "./profiles/profile.ts";

/** The ACP agents that are known by name, one line each. */
export const ACP_PROFILES: readonly AcpProfile[] = [OPENCODE, GEMINI, CLAUDE_AGENT_ACP, CODEX_ACP, GOOSE];

/**
 * The profile of an agent: the known one of this id, or else that of the program which its command names. An agent under
 * an id of its own gets none of the user's variables.
 */
export function acpProfile(id: string, command: readonly string[]): AcpProfile {
  const known = ACP_PROFILES.find((profile) => profile.id === id);
  return known ?? { ...profileFor(command), id, displayName: id, ownVariables: GENERIC.ownVariables };
}

/** The profile that fits a command by the name of its program, as Gemini's for `/usr/bin/gemini`. */
export function profileFor(command: readonly string[]): AcpProfile {
  const names = command.map((word) =>
    word.slice(word.lastIndexOf("/") + 1).replace(/\.(exe|cmd|[cm]?js)$/, ""),
  );
  const known = ACP_PROFILES.find(
    ({ command: [program] }) => program !== undefined && names.includes(program),
  );
  return known ?? GENERIC;
}
