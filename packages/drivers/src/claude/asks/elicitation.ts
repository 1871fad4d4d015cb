import { type AskUser, answerElicitation as answer, type ElicitationResult } from "@flint/core/elicitation";
import type { ClaudeElicitation } from "@flint/protocol/claude";

/** Asks the user what an MCP server wants to know in the middle of a call. What cannot be asked well is declined. */
export function answerElicitation(ask: ClaudeElicitation, user: AskUser): Promise<ElicitationResult> {
  const { mcp_server_name: server, requested_schema: requestedSchema, mode, message, url } = ask;
  return answer(`The MCP server ${server}`, { mode: mode ?? "form", message, url, requestedSchema }, user);
}
