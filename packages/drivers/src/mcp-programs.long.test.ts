import { describeMcpPrograms } from "./testing/mcp-programs.ts";

describeMcpPrograms(["claude-agent-acp", "opencode"]);
