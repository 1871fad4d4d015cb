import { errorMessage, FileAccessError } from "@flint/host/files";
import { boolean, optional, string } from "../input.ts";
import { defineTool, type Tool } from "../tool.ts";
import { ChangeSet, failChange } from "./change-set.ts";
import type { FileVersions } from "./file-versions.ts";
import { formatOf, withLineEndings } from "./line-endings.ts";
import { WorkspaceFile } from "./workspace-file.ts";

/** Replaces text in a file; the user sees the exact diff first. */
export function editFileTool(fileVersions: FileVersions): Tool {
  return defineTool({
    name: "edit_file",
    description:
      "Replaces text in a file. old_text must occur exactly once in the file, with its whitespace, unless replace_all is true.",
    readOnly: false,
    input: {
      path: string("The file, relative to the workspace."),
      old_text: string("The text to replace, without line numbers."),
      new_text: string("The new text.", { mayBeEmpty: true }),
      replace_all: optional(boolean("Whether to replace every occurrence.")),
    },
    async run({ path, old_text, new_text, replace_all }, context) {
      // Expected: a file that may not be written, text that does not occur in it.
      try {
        const file = await WorkspaceFile.locate(path, context.turn.settings);
        const before = await file.read();
        if (before === undefined) throw new FileAccessError(`${file.relativePath} does not exist.`);
        fileVersions.rejectStale(file.path, before.text, file.relativePath);
        const after = replaced(before.text, old_text, new_text, replace_all ?? false, file.relativePath);
        return await new ChangeSet([{ file, before, after }], fileVersions, context).propose();
      } catch (thrown) {
        return failChange([{ path, kind: "modify" }], errorMessage(thrown), context);
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
