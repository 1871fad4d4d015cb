import type { Params, SandboxPolicy } from "@flint/protocol";
import type { Client } from "../../shared/frontend.ts";
import { answerOf } from "../core.ts";
import type { AcpParams } from "../requests.ts";
import { instructionsOf } from "./instructions.ts";
import { mcpServersOf } from "./mcp-servers.ts";
import type { AcpSession } from "./session.ts";

/** Where a client wants a session to work, and what it brings along. */
export type SessionPlace = Pick<
  AcpParams<"session/resume">,
  "cwd" | "additionalDirectories" | "mcpServers" | "systemPrompt" | "_meta"
>;

/** The MCP servers that a client brings along, as the core takes them. */
export function broughtBy({
  mcpServers,
}: Pick<SessionPlace, "mcpServers">): Pick<Params<"thread/start">, "mcpServers"> {
  const servers = mcpServersOf(mcpServers);
  return servers === undefined ? {} : { mcpServers: servers };
}

/** Has a session work with the folder, the further folders and the instructions that its client names now. */
export async function takePlace(client: Client, session: AcpSession, place: SessionPlace): Promise<void> {
  const { cwd, additionalDirectories } = place;
  const threadId = session.id;
  const config = await answerOf(client, "config/read", { threadId });
  const sandbox = withRoots(config.sandboxPolicy, additionalDirectories ?? undefined);
  const instructions = instructionsOf(place);
  const wanted = {
    ...(config.cwd === cwd ? {} : { cwd }),
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(instructions === undefined ? {} : { developerInstructions: instructions }),
  };
  if (Object.keys(wanted).length > 0)
    await answerOf(client, "thread/settings/update", { threadId, ...wanted });
  session.roots = additionalDirectories ?? rootsOf(config.sandboxPolicy);
}

function rootsOf(policy: SandboxPolicy): readonly string[] {
  return policy.type === "workspaceWrite" ? (policy.writableRoots ?? []) : [];
}

/** A policy that lets nothing be written is not widened by further folders: they can be read anyway. */
function withRoots(policy: SandboxPolicy, wanted: readonly string[] | undefined): SandboxPolicy | undefined {
  if (wanted === undefined || policy.type !== "workspaceWrite") return undefined;
  const before = rootsOf(policy);
  const roots = [...new Set([...before, ...wanted])];
  return roots.length === before.length ? undefined : { ...policy, writableRoots: roots };
}
