import { resolve } from "node:path";
import { exists, FileAccessError } from "@flint/host/files";
import { errorMessage } from "@flint/protocol";
import { boolean, optional, string } from "../input.ts";
import {
  defineTool,
  done,
  endStartedChange,
  type Tool,
  type ToolContext,
  type ToolOutcome,
} from "../tool.ts";
import { ChangeSet, markChangeFailed } from "./change-set.ts";
import type { FileVersions } from "./file-versions.ts";
import { formatOf, withFormat, withLineEndings } from "./text-format.ts";
import { WorkspaceFile } from "./workspace-file.ts";

/** Writes a file of the workspace; the user sees the exact diff first. */
export function writeFileTool(fileVersions: FileVersions): Tool {
  return defineTool({
    name: "write_file",
    description:
      "Creates a file in the workspace, or replaces its whole content. For small changes use edit_file.",
    readOnly: false,
    input: {
      path: string("The file, relative to the workspace; outside of it, the user is asked first."),
      content: string("The whole content.", { mayBeEmpty: true, maxLength: 2_000_000 }),
    },
    async run({ path, content }, context) {
      // Expected: a file that may not be written, or that changed since the model read it.
      try {
        return await write(path, content, fileVersions, context);
      } catch (thrown) {
        const kind = (await exists(resolve(context.turn.settings.cwd, path))) ? "modify" : "add";
        return markChangeFailed([{ path, kind }], errorMessage(thrown), context);
      }
    },
  });
}

async function write(
  path: string,
  content: string,
  fileVersions: FileVersions,
  context: ToolContext,
): Promise<ToolOutcome> {
  const file = await WorkspaceFile.locate(path, context);
  const before = await file.read();
  const after = before === undefined ? content : withFormat(content, formatOf(before.text));
  if (before?.text === after) {
    const text = `${file.relativePath} already has this content.`;
    endStartedChange(context, { status: "done", text });
    return done(text);
  }
  return new ChangeSet([{ file, before, after }], fileVersions, context).propose();
}

/** Replaces text in a file; the user sees the exact diff first. */
export function editFileTool(fileVersions: FileVersions): Tool {
  return defineTool({
    name: "edit_file",
    description:
      "Replaces text in a file. old_text must occur exactly once in the file, with its whitespace, unless replace_all is true.",
    readOnly: false,
    input: {
      path: string("The file, relative to the workspace; outside of it, the user is asked first."),
      old_text: string("The text to replace, without line numbers."),
      new_text: string("The new text.", { mayBeEmpty: true }),
      replace_all: optional(boolean("Whether to replace every occurrence.")),
    },
    async run({ path, old_text, new_text, replace_all }, context) {
      // Expected: a file that may not be written, text that does not occur in it.
      try {
        const file = await WorkspaceFile.locate(path, context);
        const before = await file.read();
        if (before === undefined) throw new FileAccessError(`${file.relativePath} does not exist.`);
        fileVersions.rejectStale(file.path, before.text, file.relativePath);
        const after = replaced(before.text, old_text, new_text, replace_all ?? false, file.relativePath);
        return await new ChangeSet([{ file, before, after }], fileVersions, context).propose();
      } catch (thrown) {
        return markChangeFailed([{ path, kind: "modify" }], errorMessage(thrown), context);
      }
    },
  });
}

function replaced(content: string, oldText: string, newText: string, all: boolean, shown: string): string {
  const format = formatOf(content);
  const target = withLineEndings(oldText, format);
  const parts = content.split(target);
  const count = parts.length - 1;
  if (oldText === newText) throw new FileAccessError("old_text and new_text are the same.");
  if (count === 0)
    throw new FileAccessError(
      `old_text does not occur in ${shown}. Read the file and copy the text exactly.`,
    );
  if (count > 1 && !all) {
    throw new FileAccessError(
      `old_text occurs ${count} times in ${shown}. Include more of the surrounding text, or set replace_all.`,
    );
  }
  return parts.join(withLineEndings(newText, format));
}
