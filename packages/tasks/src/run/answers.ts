import { ExecutorReport, isRecord, Verdict } from "@flint/protocol";

/** The verdict in a reviewer's answer; undefined if there is none that can be read. */
export function readVerdict(text: string): Verdict | undefined {
  return read(text, (value) => {
    const parsed = Verdict.safeParse(value);
    return parsed.success ? parsed.data : undefined;
  });
}

/**
 * Reads an executor's report on its round. Its whole answer is the summary if it does not follow the form.
 */
export function readReport(text: string): ExecutorReport {
  const report = read(text, (value) => {
    const parsed = ExecutorReport.safeParse(value);
    return parsed.success ? parsed.data : undefined;
  });
  return report ?? { summary: text.slice(0, 4000), contested: [] };
}

function read<Value>(text: string, parse: (value: unknown) => Value | undefined): Value | undefined {
  for (const candidate of candidates(text)) {
    // Expected: an answer in prose, or with prose around it.
    try {
      const value = parse(withoutNulls(JSON.parse(candidate)));
      if (value !== undefined) return value;
    } catch {}
  }
  return undefined;
}

/**
 * Returns the parts of an answer that may be JSON: all of it, fenced blocks from the last one on, or from the
 * first brace to the last.
 */
function candidates(text: string): string[] {
  const fenced = [...text.matchAll(/```(?:json)?\n([\s\S]*?)```/g)].map((match) => match[1] ?? "");
  const braces = text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1);
  return [text, ...fenced.reverse(), braces];
}

/** Models that have to give every property give null for what they leave out. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).filter(([, content]) => content !== null);
  return Object.fromEntries(entries.map(([name, content]) => [name, withoutNulls(content)]));
}
