import { errorMessage, FileAccessError } from "@flint/host/files";
import type { StructuredPatch } from "diff";
import { string } from "../input.ts";
import { defineTool, type Tool, type ToolContext } from "../tool.ts";
import { ChangeSet, failChange, type PlannedChange } from "./change-set.ts";
import type { FileVersions } from "./file-versions.ts";
import { formatOf, withFormat, withoutFormat } from "./line-endings.ts";
import { WorkspaceFile } from "./workspace-file.ts";

const NOWHERE = "/dev/null";
const FILES = 100;
const HUNKS = 500;

/** Changes several files by a unified diff, all of them or none; the user sees the exact differences first. */
export function applyPatchTool(fileVersions: FileVersions): Tool {
  return defineTool({
    name: "apply_patch",
    description:
      "Applies a unified diff (--- a/file, +++ b/file, @@ hunks) to files of the workspace. /dev/null stands for a file that is added or deleted; git's rename from / rename to move one. All files change or none.",
    readOnly: false,
    input: { patch: string("The unified diff.", { maxLength: 500_000 }) },
    async run({ patch }, context) {
      let wanted: Parameters<typeof failChange>[0] = [];
      // Expected: what is no patch, or does not fit, or may not be written.
      try {
        const parts = await parse(patch);
        wanted = parts.map(({ from, to }) => {
          if (to === NOWHERE) return { path: from, kind: "delete" };
          return { path: to, kind: from === NOWHERE ? "add" : "modify" };
        });
        const changes = await planAll(parts, fileVersions, context);
        return await new ChangeSet(changes, fileVersions, context).propose();
      } catch (thrown) {
        return failChange(wanted, errorMessage(thrown), context);
      }
    },
  });
}

/** The part of a patch that is about one file. */
interface FilePatch {
  readonly from: string;
  readonly to: string;
  readonly patch: StructuredPatch;
}

async function parse(patch: string): Promise<FilePatch[]> {
  const { parsePatch } = await import("diff");
  const parts = parsed(patch, parsePatch).map((each) => {
    const { oldFileName, newFileName, isBinary, isCopy } = each;
    if (oldFileName === undefined || newFileName === undefined) throw notUnified();
    if (isBinary === true) throw new FileAccessError("A patch cannot change binary files.");
    if (isCopy === true)
      throw new FileAccessError("A patch cannot copy files; add the new one with all its lines.");
    const from = each.isCreate === true ? NOWHERE : withoutPrefix(oldFileName, "a/");
    const to = each.isDelete === true ? NOWHERE : withoutPrefix(newFileName, "b/");
    if (from === NOWHERE && to === NOWHERE) throw notUnified();
    return { from, to, patch: each };
  });
  const hunks = parts.reduce((sum, each) => sum + each.patch.hunks.length, 0);
  if (parts.length === 0) throw notUnified();
  if (parts.length > FILES || hunks > HUNKS) {
    throw new FileAccessError(`A patch is for at most ${FILES} files and has at most ${HUNKS} hunks.`);
  }
  return parts;
}

function parsed(patch: string, parsePatch: (text: string) => StructuredPatch[]): StructuredPatch[] {
  // Expected: hunks whose numbers do not fit their lines.
  try {
    return parsePatch(patch.endsWith("\n") ? patch : `${patch}\n`);
  } catch (cause) {
    throw new FileAccessError(
      `The patch cannot be read: ${errorMessage(cause)}. Check the numbers behind @@.`,
      {
        cause,
      },
    );
  }
}

function notUnified(): FileAccessError {
  return new FileAccessError("This is not a unified diff. Each file begins with --- a/path and +++ b/path.");
}

function withoutPrefix(name: string, prefix: string): string {
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

/** Everything is checked before anything is asked for. */
async function planAll(
  parts: readonly FilePatch[],
  fileVersions: FileVersions,
  context: ToolContext,
): Promise<PlannedChange[]> {
  const changes: PlannedChange[] = [];
  const touched = new Set<string>();
  for (const part of parts) {
    const change = await plan(part, context);
    const { file, before, movedTo } = change;
    if (before !== undefined) fileVersions.rejectStale(file.path, before.text, file.relativePath);
    for (const { path, relativePath } of movedTo === undefined ? [file] : [file, movedTo]) {
      if (touched.has(path))
        throw new FileAccessError(`The patch has two parts for ${relativePath}. Join them.`);
      touched.add(path);
    }
    changes.push(change);
  }
  return changes;
}

async function plan({ from, to, patch }: FilePatch, { turn }: ToolContext): Promise<PlannedChange> {
  const target = await WorkspaceFile.locate(to === NOWHERE ? from : to, turn.settings);
  if (from === NOWHERE) {
    if ((await target.read()) !== undefined)
      throw new FileAccessError(`${target.relativePath} exists already.`);
    return { file: target, before: undefined, after: await patched("", patch, target) };
  }
  const file = from === to || to === NOWHERE ? target : await WorkspaceFile.locate(from, turn.settings);
  const before = await file.read();
  if (before === undefined) throw new FileAccessError(`${file.relativePath} does not exist.`);
  const after = await patched(before.text, patch, file);
  if (to === NOWHERE) {
    if (after !== "" && patch.hunks.length > 0)
      throw new FileAccessError(`Lines of ${file.relativePath} are missing in the patch that deletes it.`);
    return { file, before, after: undefined };
  }
  if (file === target) return { file, before, after };
  if ((await target.read()) !== undefined)
    throw new FileAccessError(`${target.relativePath} exists already.`);
  return { file, before, after, movedTo: target };
}

async function patched(content: string, patch: StructuredPatch, file: WorkspaceFile): Promise<string> {
  if (patch.hunks.length === 0) return content;
  const { applyPatch } = await import("diff");
  const style = formatOf(content);
  const result = applyPatch(withoutFormat(content), patch, { autoConvertLineEndings: true });
  if (result === false) {
    throw new FileAccessError(
      `A hunk does not fit ${file.relativePath}. Read the file again and copy its lines exactly.`,
    );
  }
  return withFormat(result, style);
}
