import { FileAccessError, readPlainFile } from "@flint/host/files";
import { LIMITS } from "@flint/protocol";
import { integer, optional, string } from "../input.ts";
import { defineTool, done, runAsItem, type Tool } from "../tool.ts";
import { ClientText } from "./client-text.ts";
import type { FileVersions } from "./file-versions.ts";
import { locateReadable } from "./readable-path.ts";

/** The number of lines that are returned by default. */
const DEFAULT_LINES = 2000;
const MAX_LINE = 2000;
const MAX_CHARACTERS = 60_000;
const BYTE_ORDER_MARK = "\ufeff";

/** Reads the lines of a text file with their numbers. */
export function readFileTool(fileVersions: FileVersions): Tool {
  return defineTool({
    name: "read_file",
    description: `Reads a text file, with line numbers. Returns ${DEFAULT_LINES} lines by default.`,
    readOnly: true,
    input: {
      path: string("The file, relative to the workspace or absolute."),
      offset: optional(integer("The first line to read, counted from 1.", 1, 10_000_000)),
      limit: optional(integer("How many lines to read.", 1, 10_000)),
    },
    run: (input, context) =>
      runAsItem(
        {
          tool: "read_file",
          title: `Reads ${input.path}${input.offset === undefined ? "" : ` from line ${input.offset}`}`,
          input,
        },
        context,
        async () => {
          const { path, displayPath } = await locateReadable(input.path, "read_file", context);
          const bytes = await readPlainFile(path, LIMITS.text, displayPath);
          const files = context.turn.clientFiles?.();
          const shown = files && (await new ClientText(files, path, context.signal).read());
          const content = shown ?? decodeLoosely(bytes, displayPath);
          fileVersions.set(path, shown ?? bytes);
          return done(numbered(content, input.offset ?? 1, input.limit ?? DEFAULT_LINES));
        },
      ),
  });
}

/** Text in another encoding is decoded as well as possible; binary content is rejected. */
function decodeLoosely(bytes: Buffer, shown: string): string {
  if (bytes.subarray(0, 8192).includes(0)) {
    throw new FileAccessError(`${shown} is not text (${bytes.length} bytes).`);
  }
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function numbered(content: string, offset: number, limit: number): string {
  const hasByteOrderMark = content.startsWith(BYTE_ORDER_MARK);
  const lines = (hasByteOrderMark ? content.slice(1) : content).split("\n");
  const endsWithNewline = lines.at(-1) === "";
  if (endsWithNewline) lines.pop();
  if (lines.length === 0) return "(The file is empty.)";
  if (offset > lines.length) return `(The file has only ${lines.length} lines.)`;
  const shown = takeLines(lines, offset, limit);
  const last = offset + shown.length - 1;
  const notes = [
    ...(last < lines.length || offset > 1 ? [`lines ${offset} to ${last} of ${lines.length}`] : []),
    ...(last < lines.length ? [`continue with offset ${last + 1}`] : []),
    ...(lines[0]?.endsWith("\r") === true ? ["lines end with CRLF"] : []),
    ...(hasByteOrderMark ? ["begins with a byte order mark"] : []),
    ...(endsWithNewline || last < lines.length ? [] : ["no newline at the end"]),
  ];
  return [...shown, ...(notes.length === 0 ? [] : [`(${notes.join("; ")})`])].join("\n");
}

/** As many of the requested lines as fit, at least one. */
function takeLines(lines: readonly string[], offset: number, limit: number): string[] {
  const taken: string[] = [];
  let size = 0;
  for (const [index, line] of lines.slice(offset - 1, offset - 1 + limit).entries()) {
    const shown = `${offset + index}\t${shortLine(line.replace(/\r$/, ""))}`;
    size += shown.length + 1;
    if (size > MAX_CHARACTERS && taken.length > 0) break;
    taken.push(shown);
  }
  return taken;
}

function shortLine(line: string): string {
  if (line.length <= MAX_LINE) return line;
  return `${line.slice(0, MAX_LINE)} … (${line.length - MAX_LINE} more characters)`;
}
