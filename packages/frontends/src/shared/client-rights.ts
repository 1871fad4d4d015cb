import { FlintError } from "@flint/protocol";

/** What a client may do beyond what its door lets everybody do. It follows from how it came in, never from what it says. */
export interface ClientRights {
  /** Whether it may bring MCP servers that are programs: they are started on this machine, outside of any sandbox. */
  readonly bringsPrograms: boolean;
}

/** The rights of a client on stdio or at a socket file: only the user who runs the server gets there. */
export const LOCAL_RIGHTS: ClientRights = { bringsPrograms: true };

/** What a server says of itself, if it is one. */
type Brought = { readonly type?: unknown; readonly name?: unknown };

/** Why a call is refused to a client with these rights; undefined if it is not. */
export function refusedBy({ bringsPrograms }: ClientRights, params: object): FlintError | undefined {
  if (bringsPrograms) return undefined;
  // Most methods know no such servers, and let the name pass with anything behind it.
  const { mcpServers }: { readonly mcpServers?: unknown } = params;
  const servers: readonly Brought[] = Array.isArray(mcpServers) ? mcpServers.map(Object) : [];
  const index = servers.findIndex(({ type }) => type === "stdio");
  const program = servers[index];
  if (program === undefined) return undefined;
  const message =
    `The MCP server ${JSON.stringify(program.name)} is a program, and a client of a port may not have programs started. ` +
    "Give it by its http address, put it into the configuration of the server, or start the server with " +
    "--allow-remote-mcp (allow_remote_mcp = true).";
  return new FlintError("invalidParams", message, { field: `mcpServers[${index}]` });
}
