import type { ClaudeElicitation } from "@flint/protocol/claude";
import { type Ask, answerElicitation as answer, type ElicitationAnswer } from "../../shared/elicitation.ts";

/** Asks the user what an MCP server wants to know in the middle of a call. What cannot be asked well is declined. */
export function answerElicitation(ask: ClaudeElicitation, user: Ask): Promise<ElicitationAnswer> {
  const { mcp_server_name: server, requested_schema: requestedSchema, mode, message, url } = ask;
  return answer(`The MCP server ${server}`, { mode: mode ?? "form", message, url, requestedSchema }, user);
}
