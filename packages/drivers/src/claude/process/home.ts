import type { AgentProgram } from "../../shared/agent-options.ts";

/** Where Claude keeps its login, which it renews from time to time. */
export const LOGIN_FILE = ".credentials.json";

/** The environment of Claude, on its own models or on the offline model. */
export function claudeEnvironment(
  { environment }: AgentProgram,
  offline: { readonly url: string; readonly folder: string } | undefined,
): Readonly<Record<string, string>> {
  const own = {
    ...environment,
    DISABLE_AUTOUPDATER: "1",
    // Set if Claude itself started Flint; Claude refuses to run inside itself.
    CLAUDECODE: "",
  };
  if (offline === undefined) return own;
  return {
    ...own,
    ANTHROPIC_BASE_URL: offline.url,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    CLAUDE_CONFIG_DIR: offline.folder,
  };
}
