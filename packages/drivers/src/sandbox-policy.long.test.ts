import { describeSandboxPolicy } from "./testing/sandbox-policy.ts";

describeSandboxPolicy(["claude-agent-acp", "codex-acp", "opencode"]);
