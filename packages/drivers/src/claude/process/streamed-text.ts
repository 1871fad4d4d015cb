import type { ClaudeFrameOf } from "@flint/protocol/claude";

/** A longer line has its cost elsewhere, and patterns are only safe on text of a known size. */
const LONGEST_LINE = 16_384;

const PLAIN = '[^"\\\\\\u0000-\\u001f]*';
const ESCAPE = '\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4})';

/** The line of a piece of text that is the agent's own, as Claude writes it, from the first to the last character. */
const STREAMED_TEXT = new RegExp(
  `^{"type":"stream_event","event":{"type":"content_block_delta","index":(\\d{1,6}),` +
    `"delta":{"type":"text_delta","text":("${PLAIN}(?:${ESCAPE}${PLAIN})*")}},` +
    `"session_id":"${PLAIN}","parent_tool_use_id":null,"uuid":"${PLAIN}"}$`,
);

/**
 * Reads the line of a piece of streamed text, which is what Claude writes most, without looking at the rest of it.
 * Undefined for every other line, also for a piece of text that is written in another way.
 */
export function streamedTextIn(line: string): ClaudeFrameOf<"stream_event"> | undefined {
  if (line.length > LONGEST_LINE) return undefined;
  const found = STREAMED_TEXT.exec(line);
  if (found === null) return undefined;
  const [, index, quoted = ""] = found;
  // The pattern lets only JSON text through.
  const text = quoted.includes("\\") ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
  return {
    type: "stream_event",
    event: { type: "content_block_delta", index: Number(index), delta: { type: "text_delta", text } },
    parent_tool_use_id: null,
  };
}
