import { isRecord } from "@flint/protocol";
import { dropPrototypeKeys, findExcess } from "@flint/rpc";

/** A line of a session's file. */
export type TranscriptLine = Readonly<Record<string, unknown>>;

/** The session that a file should hold. */
export interface TranscriptClaim {
  readonly id: string;
  /** The path of the file in the folder of sessions. */
  readonly path: string;
  /** The workspace of its thread. */
  readonly cwd: string;
  /** True if the lines are the rest of a session whose beginning is known. */
  readonly isContinued: boolean;
}

/** The files with an agent's sessions that the agent resumes also outside of Flint. */
export interface Transcripts {
  /** The name of their folder in the agent's folder. */
  readonly folder: string;
  /** The number of folders above each file. */
  readonly depth: number;
  /** Matches the name of a file; its first group is the id of the session. */
  readonly name: RegExp;
  /**
   * Lines of a session as an agent outside of every sandbox may read them: none of them makes it start in another mode than
   * its strictest, in another folder, or with work that the user did not ask for. Undefined if the file does not hold what is claimed.
   */
  published(lines: readonly TranscriptLine[], claim: TranscriptClaim): readonly TranscriptLine[] | undefined;
}

/** The text to publish of lines that a sandboxed agent has written; undefined if they are not what they should be. */
export function publishedText(
  { published }: Pick<Transcripts, "published">,
  text: string,
  claim: TranscriptClaim,
): string | undefined {
  const lines = parsedLines(text);
  const found = lines && published(lines, claim);
  return found?.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** Undefined if one of them cannot be parsed. The last line has no end if the agent was killed while it wrote it. */
function parsedLines(text: string): TranscriptLine[] | undefined {
  const texts = text.split("\n");
  const lines: TranscriptLine[] = [];
  for (const line of texts.slice(0, -1)) {
    if (line.trim() === "") continue;
    const parsed = parsedLine(line);
    if (parsed === undefined) return undefined;
    lines.push(parsed);
  }
  const last = parsedLine(texts.at(-1) ?? "");
  return last === undefined ? lines : [...lines, last];
}

/** Expected: it is not JSON, or nested too deeply for it to be walked. */
function parsedLine(line: string): TranscriptLine | undefined {
  try {
    if (findExcess(line) !== undefined) return undefined;
    const value: unknown = JSON.parse(line);
    dropPrototypeKeys(value);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Values that replace fields, by the name of the field; undefined removes it. */
export type FieldModes = ReadonlyMap<string, unknown>;

/** A copy of a line in which fields that decide what an agent may do have their strictest value, however deep they are. */
export function lineWithModes(line: TranscriptLine, modes: FieldModes): TranscriptLine {
  const changed = withModes(line, modes);
  return isRecord(changed) ? changed : {};
}

function withModes(value: unknown, modes: FieldModes): unknown {
  if (Array.isArray(value)) return value.map((each: unknown) => withModes(each, modes));
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).flatMap(([name, field]) => {
    const key = fieldKey(name);
    if (!modes.has(key)) return [[name, withModes(field, modes)]];
    const mode = modes.get(key);
    return mode === undefined || field === null ? [] : [[name, mode]];
  });
  return Object.fromEntries(fields);
}

/** Names are written in several ways: `approval_policy`, `approvalPolicy`. */
function fieldKey(name: string): string {
  return name.replaceAll(/[_-]/g, "").toLowerCase();
}
