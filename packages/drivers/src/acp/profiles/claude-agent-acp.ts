import { CLAUDE_FOLDER } from "../../shared/agent-folders.ts";
import { type AcpProfile, GENERIC } from "./profile.ts";

/**
 * claude-agent-acp 0.99: answers protocol version 2 when it is offered more than 1, does not answer a prompt after one
 * that was cancelled, shows only the replaced lines of an edit, and reports a failure of its model as a message.
 */
export const CLAUDE_AGENT_ACP: AcpProfile = {
  ...GENERIC,
  id: "claude-agent-acp",
  displayName: "Claude Code (ACP)",
  command: ["claude-agent-acp"],
  login: { command: "claude auth login", hint: "claude auth login, or set ANTHROPIC_API_KEY" },
  ownVariables: /^(?:ANTHROPIC_|CLAUDE_)/,
  folders: [CLAUDE_FOLDER],
  stopsWhenIdle: true,
  rejectionCancelsTurn: false,
  cancelEndsProcess: true,
  sendsPartialDiffs: true,
  autonomousModes: ["acceptEdits", "auto", "bypassPermissions"],
  modes: [
    { id: "default", name: "Manual" },
    { id: "acceptEdits", name: "Accept edits" },
    { id: "plan", name: "Plan" },
    { id: "bypassPermissions", name: "Bypass permissions" },
  ],
  offlineVariables: (address, folder) => ({
    CLAUDE_CONFIG_DIR: folder,
    ANTHROPIC_BASE_URL: address,
    ANTHROPIC_API_KEY: "offline",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  }),
};
