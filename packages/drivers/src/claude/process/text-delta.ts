import type { ClaudeFrameOf } from "@flint/protocol/claude";

/** Longer lines are decoded as all others: patterns are only safe on text of a known size. */
const DELTA_LINE_CHARACTERS = 16_384;

const PLAIN = '[^"\\\\\\u0000-\\u001f]*';
const ESCAPE = '\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4})';

/** A text delta of the agent itself, exactly as Claude writes it. */
const TEXT_DELTA = new RegExp(
  `^{"type":"stream_event","event":{"type":"content_block_delta","index":(\\d{1,6}),` +
    `"delta":{"type":"text_delta","text":("${PLAIN}(?:${ESCAPE}${PLAIN})*")}},` +
    `"session_id":"${PLAIN}","parent_tool_use_id":null,"uuid":"${PLAIN}"}$`,
);

/**
 * Decodes the line of a text delta, the most frequent one, without parsing the rest of it. Undefined for every other
 * line, also for a text delta that is written in another way.
 */
export function decodeTextDelta(line: string): ClaudeFrameOf<"stream_event"> | undefined {
  if (line.length > DELTA_LINE_CHARACTERS) return undefined;
  const found = TEXT_DELTA.exec(line);
  if (found === null) return undefined;
  const [, index, quoted = ""] = found;
  // The pattern matches only a JSON string.
  const text = quoted.includes("\\") ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
  return {
    type: "stream_event",
    event: { type: "content_block_delta", index: Number(index), delta: { type: "text_delta", text } },
    parent_tool_use_id: null,
  };
}
