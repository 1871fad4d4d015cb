import { FlintError, type Params, type SandboxPolicy, writableRootsOf } from "@flint/protocol";
import * as z from "zod/mini";
import type { CoreCalls } from "../../shared/core-calls.ts";
import type { AcpParams, ClientMcpServer } from "../requests.ts";
import type { AcpSession } from "./session.ts";

/** The folders, MCP servers and instructions that a client provides for a session. */
export type SessionSetup = Pick<
  AcpParams<"session/resume">,
  "cwd" | "additionalDirectories" | "mcpServers" | "systemPrompt" | "_meta"
>;

type McpServers = NonNullable<Params<"thread/start">["mcpServers"]>;

/** The client-provided MCP servers as the core takes them. Throws `invalidParams` for a transport no agent supports. */
export function mcpServersOf({
  mcpServers,
}: Pick<SessionSetup, "mcpServers">): Pick<Params<"thread/start">, "mcpServers"> {
  const servers = mcpServers?.map(mcpServerOf);
  return servers === undefined ? {} : { mcpServers: servers };
}

function mcpServerOf(server: ClientMcpServer, index: number): McpServers[number] {
  const { name } = server;
  if (!("url" in server)) {
    const { command, args, env } = server;
    return { type: "stdio", name, command, args: [...(args ?? [])], env: recordOf(env) };
  }
  if (server.type === "http")
    return { type: "http", name, url: server.url, headers: recordOf(server.headers) };
  const message = `The MCP server ${name} uses the sse transport, which MCP has deprecated. Use its http URL, or a stdio server.`;
  throw new FlintError("invalidParams", message, { field: `mcpServers[${index}]` });
}

function recordOf(
  pairs: readonly { name: string; value: string }[] | null | undefined,
): Record<string, string> {
  return Object.fromEntries((pairs ?? []).map(({ name, value }) => [name, value]));
}

/** Applies the folders and instructions that a client provides to a session. */
export async function applySetup(core: CoreCalls, session: AcpSession, setup: SessionSetup): Promise<void> {
  const { cwd, additionalDirectories } = setup;
  const threadId = session.id;
  const config = await core.call("config/read", { threadId });
  const sandbox = withRoots(config.sandboxPolicy, additionalDirectories ?? undefined);
  const instructions = instructionsOf(setup);
  const changes = {
    ...(config.cwd === cwd ? {} : { cwd }),
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(instructions === undefined ? {} : { developerInstructions: instructions }),
  };
  if (Object.keys(changes).length > 0) await core.call("thread/settings/update", { threadId, ...changes });
  session.additionalDirectories = additionalDirectories ?? writableRootsOf(config.sandboxPolicy);
}

/** Additional folders do not make a read-only policy writable: they can be read anyway. */
function withRoots(
  policy: SandboxPolicy,
  additional: readonly string[] | undefined,
): SandboxPolicy | undefined {
  if (additional === undefined || policy.type !== "workspaceWrite") return undefined;
  const before = writableRootsOf(policy);
  const roots = [...new Set([...before, ...additional])];
  return roots.length === before.length ? undefined : { ...policy, writableRoots: roots };
}

/** The `_meta` key of the early Claude adapters, which clients such as acpx still send. */
const MetaSystemPrompt = z.object({
  systemPrompt: z.union([
    z.string().check(z.minLength(1)),
    z.object({ append: z.string().check(z.minLength(1)) }),
  ]),
});

/** The client's instructions, which are appended to the agent's own. */
function instructionsOf({ systemPrompt, _meta }: SessionSetup): string | undefined {
  if (systemPrompt) return systemPrompt.content.map(({ text }) => text).join("\n");
  // Content of `_meta` is never an error: another program may use the key for something else.
  const meta = MetaSystemPrompt.safeParse(_meta);
  if (!meta.success) return undefined;
  const { systemPrompt: given } = meta.data;
  return typeof given === "string" ? given : given.append;
}
