import type { McpServerStatus } from "@flint/core/ports";

const STATUS: Readonly<Record<string, McpServerStatus["status"]>> = {
  notStarted: "starting",
  starting: "starting",
  ready: "ready",
  connected: "ready",
};

/** How an MCP server is, in Flint's words. What neither starts nor runs has failed. */
export function mcpServerStatus(
  name: string,
  status: string | null | undefined,
  error: string | null | undefined,
): McpServerStatus {
  const known = STATUS[status ?? "ready"];
  if (known !== undefined && typeof error !== "string") return { name, status: known };
  return { name, status: "failed", error: error ?? status ?? "unknown" };
}
