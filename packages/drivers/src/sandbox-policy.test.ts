import { describeSandboxPolicy } from "./testing/sandbox-policy.ts";

describeSandboxPolicy(["flint", "claude", "codex"]);
