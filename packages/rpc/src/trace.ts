/** Watches the wire: a line as it is (`raw`), what it was understood as (`decoded`), or why it came to nothing (`failed`). */
export type Trace = (direction: "in" | "out", stage: "raw" | "decoded" | "failed", payload: string) => void;

/** Most characters of one payload, and of all payloads together. */
export type TraceCaps = { maxLine: number; maxTotal: number };

/** Passes a trace on until its caps; a cut payload says how long it was, and the last one says that the trace stops. */
export function cappedTrace(sink: Trace, caps: TraceCaps): Trace {
  let left = caps.maxTotal;
  let stopped = false;
  return (direction, stage, payload) => {
    if (stopped) return;
    const line = cut(payload, caps.maxLine);
    left -= Math.min(payload.length, caps.maxLine);
    if (left >= 0) {
      sink(direction, stage, line);
      return;
    }
    stopped = true;
    sink(direction, stage, `[trace stops here: ${caps.maxTotal} characters traced]`);
  };
}

function cut(payload: string, limit: number): string {
  if (payload.length <= limit) return payload;
  return `${payload.slice(0, limit)} [cut: ${payload.length} characters in all]`;
}
