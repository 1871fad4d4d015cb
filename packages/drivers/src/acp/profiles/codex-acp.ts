import { CODEX_FOLDER } from "../../shared/agent-folders.ts";
import { type AcpProfile, GENERIC, type Variables } from "./profile.ts";

/**
 * Codex makes a sandbox for each command, which needs namespaces and so cannot work inside Flint's. No mode of codex-acp
 * does without it and still asks, so Codex is instructed to run every command with escalated permissions: then Flint is
 * asked, and the command runs in Flint's sandbox, as Codex itself does.
 */
const SANDBOX_INSTRUCTIONS =
  'This whole session runs in a sandbox, in which the one that Codex makes for single commands does not work. Run every command with sandbox_permissions set to "require_escalated" and a short justification, unless asking for that is forbidden; it then runs in the sandbox of the session. Any other command fails. What the sandbox of the session refuses cannot be approved: say what you would need instead.';

/** Appends these instructions to the user's own in the configuration that codex-acp was given. */
function sandboxedVariables({ CODEX_CONFIG = "{}" }: Variables): Variables {
  // Expected: a setting of the user's that is not JSON. codex-acp reports it itself.
  try {
    const config: Record<string, unknown> = Object(JSON.parse(CODEX_CONFIG));
    const instructions = [config.developer_instructions, SANDBOX_INSTRUCTIONS].filter(
      (text) => typeof text === "string",
    );
    return { CODEX_CONFIG: JSON.stringify({ ...config, developer_instructions: instructions.join("\n\n") }) };
  } catch {
    return {};
  }
}

/**
 * codex-acp 2.6: answers protocol version 2 when it is offered more than 1, begins in a mode in which a model approves
 * instead of the user, and ends the turn on a rejection, as if it had been cancelled.
 */
export const CODEX_ACP: AcpProfile = {
  ...GENERIC,
  id: "codex-acp",
  displayName: "Codex (ACP)",
  command: ["codex-acp"],
  login: { command: "codex login", hint: "codex login, or set OPENAI_API_KEY" },
  ownVariables: /^(?:OPENAI_|CODEX_)/,
  folders: [CODEX_FOLDER],
  stopsWhenIdle: true,
  autonomousModes: ["agent", "agent-full-access"],
  modes: [
    { id: "read-only", name: "Read-only" },
    { id: "workspace-write", name: "Workspace access" },
    { id: "agent", name: "Auto review" },
    { id: "agent-full-access", name: "Full access" },
  ],
  askVariables: { INITIAL_AGENT_MODE: "read-only" },
  neverAskVariables: { INITIAL_AGENT_MODE: "agent-full-access" },
  apiKeyLogin: { methodId: "api-key", variable: "OPENAI_API_KEY" },
  offlineVariables: (address, folder) => ({
    CODEX_HOME: folder,
    MODEL_PROVIDER: "flint",
    CODEX_CONFIG: JSON.stringify({
      model: "offline",
      model_provider: "flint",
      model_providers: {
        flint: {
          name: "Flint",
          base_url: `${address}/v1`,
          wire_api: "responses",
          requires_openai_auth: false,
        },
      },
    }),
  }),
  sandboxedVariables,
};
