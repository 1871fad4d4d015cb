import * as z from "zod/mini";
import { Id } from "../wire/ids.ts";
import { LIMITS } from "../wire/limits.ts";
import { looseObject } from "../wire/loose-object.ts";

const ToolName = z.string().check(z.regex(/^[a-zA-Z0-9_-]{1,64}$/));

/** A tool that a client offers for one thread and runs itself. Never stored: it exists while the thread is loaded. */
export const ClientTool = looseObject(() => ({
  name: ToolName,
  /** Distinguishes tools that have the same name. */
  namespace: z.optional(ToolName),
  description: z.string().check(z.maxLength(LIMITS.toolDescription)),
  /** A JSON Schema of the arguments. */
  inputSchema: z.record(z.string(), z.unknown()),
}));
export type ClientTool = z.output<typeof ClientTool>;

/** The full name of a tool: with its namespace, if it has one. */
export function toolNameOf({ name, namespace }: Pick<ClientTool, "name" | "namespace">): string {
  return namespace === undefined ? name : `${namespace}__${name}`;
}

/** The tools that a client offers, replacing those offered before, from the next start of an agent on. */
export const withClientTools = {
  tools: z.optional(
    z.array(ClientTool).check(
      z.maxLength(LIMITS.tools),
      z.refine((tools) => new Set(tools.map(toolNameOf)).size === tools.length, {
        message: "Two tools have the same name.",
      }),
      z.refine((tools) => JSON.stringify(tools).length <= LIMITS.toolSchemas, {
        message: `The descriptions and schemas of all tools together may have at most ${LIMITS.toolSchemas} characters.`,
      }),
    ),
  ),
};

/** An open call of a tool that a client runs. */
export const ToolCallRequest = looseObject(() => ({
  id: Id,
  turnId: Id,
  itemId: Id,
  tool: z.string(),
  namespace: z.optional(z.string()),
  arguments: z.optional(z.unknown()),
  requestedAtMs: z.number(),
  expiresAtMs: z.number(),
}));
export type ToolCallRequest = z.output<typeof ToolCallRequest>;

/** One part of the result of a tool. */
export const ToolContent = z.discriminatedUnion("type", [
  looseObject(() => ({ type: z.literal("text"), text: z.string().check(z.maxLength(LIMITS.text)) })),
  looseObject(() => ({ type: z.literal("image"), url: z.string().check(z.maxLength(LIMITS.text)) })),
]);
export type ToolContent = z.output<typeof ToolContent>;

/** The result of a call of a client's tool. */
export const ToolCallResult = looseObject(() => ({
  success: z.boolean(),
  content: z.array(ToolContent).check(z.maxLength(100)),
}));
export type ToolCallResult = z.output<typeof ToolCallResult>;

/** The result of a failed call, with the reason for the model. */
export function failedToolCall(text: string): ToolCallResult {
  return { success: false, content: [{ type: "text", text }] };
}
