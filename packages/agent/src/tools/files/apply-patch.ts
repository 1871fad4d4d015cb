import { FileAccessError } from "@flint/host/files";
import { errorMessage } from "@flint/protocol";
import type { StructuredPatch } from "diff";
import { string } from "../input.ts";
import { defineTool, type Tool, type ToolContext } from "../tool.ts";
import { ChangeSet, markChangeFailed, type PlannedChange } from "./change-set.ts";
import type { FileVersions } from "./file-versions.ts";
import { formatOf, stripFormat, withFormat } from "./text-format.ts";
import { WorkspaceFile } from "./workspace-file.ts";

const DEV_NULL = "/dev/null";
const MAX_FILES = 100;
const MAX_HUNKS = 500;

/** Applies a unified diff to several files, all of them or none; the user sees the exact diff first. */
export function applyPatchTool(fileVersions: FileVersions): Tool {
  return defineTool({
    name: "apply_patch",
    description:
      "Applies a unified diff (--- a/file, +++ b/file, @@ hunks) to files of the workspace. /dev/null stands for a file that is added or deleted; git's rename from / rename to move one. All files change or none.",
    readOnly: false,
    input: { patch: string("The unified diff.", { maxLength: 500_000 }) },
    async run({ patch }, context) {
      let requested: Parameters<typeof markChangeFailed>[0] = [];
      // Expected: a malformed patch, one that does not apply, or a file that may not be written.
      try {
        const parts = await parse(patch);
        requested = parts.map(({ from, to }) => {
          if (to === DEV_NULL) return { path: from, kind: "delete" };
          return { path: to, kind: from === DEV_NULL ? "add" : "modify" };
        });
        const changes = await planAll(parts, fileVersions, context);
        return await new ChangeSet(changes, fileVersions, context).propose();
      } catch (thrown) {
        return markChangeFailed(requested, errorMessage(thrown), context);
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
    const from = each.isCreate === true ? DEV_NULL : withoutPrefix(oldFileName, "a/");
    const to = each.isDelete === true ? DEV_NULL : withoutPrefix(newFileName, "b/");
    if (from === DEV_NULL && to === DEV_NULL) throw notUnified();
    return { from, to, patch: each };
  });
  const hunks = parts.reduce((sum, each) => sum + each.patch.hunks.length, 0);
  if (parts.length === 0) throw notUnified();
  if (parts.length > MAX_FILES || hunks > MAX_HUNKS) {
    throw new FileAccessError(`A patch may have at most ${MAX_FILES} files and ${MAX_HUNKS} hunks.`);
  }
  return parts;
}

function parsed(patch: string, parsePatch: (text: string) => StructuredPatch[]): StructuredPatch[] {
  // Expected: hunks whose numbers do not fit their lines.
  try {
    return parsePatch(patch.endsWith("\n") ? patch : `${patch}\n`);
  } catch (cause) {
    throw new FileAccessError(
      `The patch cannot be read: ${errorMessage(cause)}. Check the line numbers after @@.`,
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

/** Checks everything before asking for approval. */
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

async function plan({ from, to, patch }: FilePatch, context: ToolContext): Promise<PlannedChange> {
  const target = await WorkspaceFile.locate(to === DEV_NULL ? from : to, context);
  if (from === DEV_NULL) {
    if ((await target.read()) !== undefined)
      throw new FileAccessError(`${target.relativePath} exists already.`);
    return { file: target, before: undefined, after: await patched("", patch, target) };
  }
  const file = from === to || to === DEV_NULL ? target : await WorkspaceFile.locate(from, context);
  const before = await file.read();
  if (before === undefined) throw new FileAccessError(`${file.relativePath} does not exist.`);
  const after = await patched(before.text, patch, file);
  if (to === DEV_NULL) {
    if (after !== "" && patch.hunks.length > 0)
      throw new FileAccessError(
        `The patch that deletes ${file.relativePath} does not remove all of its lines.`,
      );
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
  const format = formatOf(content);
  const result = applyPatch(stripFormat(content), patch, { autoConvertLineEndings: true });
  if (result === false) {
    throw new FileAccessError(
      `A hunk does not apply to ${file.relativePath}. Read the file again and copy its lines exactly.`,
    );
  }
  return withFormat(result, format);
}
