import * as z from "zod/mini";

/** One block of a message: text, thinking, the use of a tool, its result, or something that nobody knows yet. */
export const ClaudeBlock = z.looseObject({
  type: z.string(),
  text: z.optional(z.string()),
  thinking: z.optional(z.string()),
  /** Of a tool use. */
  id: z.optional(z.string()),
  name: z.optional(z.string()),
  input: z.optional(z.unknown()),
  /** Of a tool result. */
  tool_use_id: z.optional(z.string()),
  content: z.optional(z.unknown()),
  is_error: z.optional(z.nullable(z.boolean())),
});
export type ClaudeBlock = z.output<typeof ClaudeBlock>;

const count = z.optional(z.nullable(z.number()));

/** Tokens of one call of the model. The buckets do not overlap. */
export const ClaudeUsage = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
});
export type ClaudeUsage = z.output<typeof ClaudeUsage>;

/** A message of the model or to it. */
export const ClaudeMessage = z.looseObject({
  id: z.optional(z.string()),
  model: z.optional(z.string()),
  content: z.union([z.string(), z.array(ClaudeBlock)]),
  usage: z.optional(z.nullable(ClaudeUsage)),
});
export type ClaudeMessage = z.output<typeof ClaudeMessage>;

/** The blocks of a message; one that is plain text is one block. */
export function blocksOf({ content }: ClaudeMessage): readonly ClaudeBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}
