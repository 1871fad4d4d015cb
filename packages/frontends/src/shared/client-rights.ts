import { FlintError } from "@flint/protocol";

/** What a client may do. It follows from how the client connected, never from what it sends. */
export interface ClientRights {
  /** Whether it may provide MCP servers that are programs: they are started on this machine, without a sandbox. */
  readonly mayProvidePrograms: boolean;
}

/** The rights of a client on stdio or a unix socket: only the user who runs the server can connect there. */
export const LOCAL_RIGHTS: ClientRights = { mayProvidePrograms: true };

/** An MCP server that a client provides, as far as it is looked at. */
type ProvidedServer = { readonly type?: unknown; readonly name?: unknown };

/** Why a call is rejected for a client with these rights; undefined if it is not. */
export function rightsError({ mayProvidePrograms }: ClientRights, params: object): FlintError | undefined {
  if (mayProvidePrograms) return undefined;
  // Most methods have no such param, and accept anything under its name.
  const { mcpServers }: { readonly mcpServers?: unknown } = params;
  const servers: readonly ProvidedServer[] = Array.isArray(mcpServers) ? mcpServers.map(Object) : [];
  const index = servers.findIndex(({ type }) => type === "stdio");
  const program = servers[index];
  if (program === undefined) return undefined;
  const message =
    `The MCP server ${JSON.stringify(program.name)} is a program, and a client of a port may not have programs started. ` +
    "Give it by its http address, put it into the configuration of the server, or start the server with " +
    "--allow-remote-mcp (allow_remote_mcp = true).";
  return new FlintError("invalidParams", message, { field: `mcpServers[${index}]` });
}
