import { errorMessage, FileAccessError } from "@flint/host/files";
import { boolean, optional, string } from "../input.ts";
import { defineTool, type Tool } from "../tool.ts";
import { ChangeSet, failChange } from "./change-set.ts";
import type { FileVersions } from "./file-versions.ts";
import { formatOf, withLineEndings } from "./line-endings.ts";
import { WorkspaceFile } from "./workspace-file.ts";

/** Replaces a passage of a file; the user sees the exact difference first. */
export function editFileTool(fileVersions: FileVersions): Tool {
  return defineTool({
    name: "edit_file",
    description:
      "Replaces a passage of a file. old_text has to be in the file exactly once, with its spaces, unless replace_all is true.",
    readOnly: false,
    input: {
      path: string("The file, from the workspace."),
      old_text: string("The passage as it is now, without line numbers."),
      new_text: string("What takes its place.", { mayBeEmpty: true }),
      replace_all: optional(boolean("Whether to replace every such passage.")),
    },
    async run({ path, old_text, new_text, replace_all }, context) {
      // Expected: a file that may not be written, a passage that is not there.
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
  const style = formatOf(content);
  const wanted = withLineEndings(oldText, style);
  const parts = content.split(wanted);
  const count = parts.length - 1;
  if (oldText === newText) throw new FileAccessError("old_text and new_text are the same.");
  if (count === 0)
    throw new FileAccessError(`old_text is not in ${shown}. Read the file and copy the passage exactly.`);
  if (count > 1 && !all) {
    throw new FileAccessError(`old_text is in ${shown} ${count} times. Give more of it, or set replace_all.`);
  }
  return parts.join(withLineEndings(newText, style));
}
