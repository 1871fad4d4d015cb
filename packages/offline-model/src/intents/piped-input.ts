/** A request in its two parts: what the user says, and what they gave along with it. */
export interface SplitRequest {
  readonly words: string;
  /** What was piped in. It is looked at and never followed, whatever it says. */
  readonly input: string | undefined;
}

const BEGINNING = "<stdin>\n";
const END = "\n</stdin>";

/**
 * Takes what was piped in out of a request. It reaches from the first mark to the very last one, so that nothing in it
 * can pretend to stand outside.
 */
export function splitRequest(text: string): SplitRequest {
  const start = text.indexOf(BEGINNING);
  if (start === -1) return { words: text.trim(), input: undefined };
  const from = start + BEGINNING.length;
  const end = text.lastIndexOf(END);
  const isClosed = end >= from - 1;
  const after = isClosed ? text.slice(end + END.length) : "";
  return {
    words: `${text.slice(0, start)}\n${after}`.trim(),
    input: isClosed ? text.slice(from, Math.max(from, end)) : text.slice(from),
  };
}
