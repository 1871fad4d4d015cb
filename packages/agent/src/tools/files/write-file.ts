import { lstat } from "node:fs/promises";
import { resolve } from "node:path";
import { errorMessage } from "@flint/host/files";
import { string } from "../input.ts";
import { defineTool, done, type Tool, type ToolContext, type ToolOutcome } from "../tool.ts";
import { ChangeSet, failChange } from "./change-set.ts";
import type { FileVersions } from "./file-versions.ts";
import { formatOf, withFormat } from "./line-endings.ts";
import { WorkspaceFile } from "./workspace-file.ts";

/** Writes a file of the workspace; the user sees the exact diff first. */
export function writeFileTool(fileVersions: FileVersions): Tool {
  return defineTool({
    name: "write_file",
    description:
      "Creates a file in the workspace, or replaces its whole content. For small changes use edit_file.",
    readOnly: false,
    input: {
      path: string("The file, relative to the workspace."),
      content: string("The whole content.", { mayBeEmpty: true, maxLength: 2_000_000 }),
    },
    async run({ path, content }, context) {
      // Expected: a file that may not be written, or that changed since the model read it.
      try {
        return await write(path, content, fileVersions, context);
      } catch (thrown) {
        const kind = (await exists(path, context)) ? "modify" : "add";
        return failChange([{ path, kind }], errorMessage(thrown), context);
      }
    },
  });
}

function exists(path: string, { turn }: ToolContext): Promise<boolean> {
  return lstat(resolve(turn.settings.cwd, path)).then(
    () => true,
    () => false,
  );
}

async function write(
  path: string,
  content: string,
  fileVersions: FileVersions,
  context: ToolContext,
): Promise<ToolOutcome> {
  const file = await WorkspaceFile.locate(path, context.turn.settings);
  const before = await file.read();
  const after = before === undefined ? content : withFormat(content, formatOf(before.text));
  if (before?.text === after) return done(`${file.relativePath} already has this content.`);
  return new ChangeSet([{ file, before, after }], fileVersions, context).propose();
}
