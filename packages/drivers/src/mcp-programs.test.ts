import { describeMcpPrograms } from "./testing/mcp-programs.ts";

describeMcpPrograms(["claude", "codex"]);
