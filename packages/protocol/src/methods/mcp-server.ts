import * as z from "zod/mini";
import { looseObject } from "../wire/loose-object.ts";

const Texts = z.record(z.string(), z.string());
const Name = z.string().check(z.minLength(1), z.maxLength(100));

/** An MCP server that a client brings along for one thread. Never stored: its keys stay in memory. */
export const McpServer = z.discriminatedUnion("type", [
  looseObject({
    type: z.literal("stdio"),
    name: Name,
    command: z.string().check(z.minLength(1)),
    args: z.array(z.string()),
    env: Texts,
  }),
  looseObject({ type: z.literal("http"), name: Name, url: z.string(), headers: Texts }),
]);
export type McpServer = z.output<typeof McpServer>;

/** The MCP servers for the agents of this thread, beside those that the user configured; they hold from the next time an agent starts. */
export const withMcpServers = { mcpServers: z.optional(z.array(McpServer).check(z.maxLength(100))) };
