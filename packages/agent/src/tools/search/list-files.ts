import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { FileAccessError } from "@flint/host/files";
import { FolderWalk, Glob } from "@flint/host/globs";
import { locateReadable, type ReadablePath } from "../files/readable-path.ts";
import { integer, optional, string } from "../input.ts";
import { defineTool, done, runAsItem, type Tool, type ToolContext } from "../tool.ts";

/** The number of names that are returned. */
const MAX_NAMES = 1000;

/** Lists a folder. */
export const LIST_FILES: Tool = defineTool({
  name: "list_files",
  description:
    "Lists a folder; folders end with a slash. Leaves out .git, node_modules and ignored files. Depth 1 is the folder itself.",
  readOnly: true,
  input: {
    path: optional(string("The folder; the workspace by default.")),
    depth: optional(integer("How many levels of folders to list; 2 by default.", 1, 20)),
  },
  run: (input, context) =>
    runAsItem({ tool: "list_files", title: listTitle(input.path, input.depth), input }, context, async () => {
      const folder = await locateFolder(input.path ?? ".", "list_files", context);
      return done(await listEntries(folder, input.depth ?? 2, () => true, context));
    }),
});

/** Finds files by a glob. */
export const FIND_FILES: Tool = defineTool({
  name: "find_files",
  description:
    "Finds files by a pattern such as *.ts or src/**/*.{js,ts}. Leaves out .git, node_modules and ignored files.",
  readOnly: true,
  input: {
    pattern: string(
      "The glob, with *, **, ?, [a-z] and {a,b}. Without a slash it matches names in any folder.",
    ),
    path: optional(string("The folder to search; the workspace by default.")),
  },
  run: (input, context) =>
    runAsItem(
      { tool: "find_files", title: `Finds files matching ${input.pattern}${inFolder(input.path)}`, input },
      context,
      async () => {
        const folder = await locateFolder(input.path ?? ".", "find_files", context);
        const glob = Glob.search(input.pattern);
        return done(
          await listEntries(
            folder,
            undefined,
            (path, kind) => kind === "file" && glob.matches(path),
            context,
          ),
        );
      },
    ),
});

/** The folder part of a title. */
export function inFolder(path: string | undefined): string {
  return path === undefined || path === "." ? "" : ` in ${path}`;
}

function listTitle(path: string | undefined, depth: number | undefined): string {
  const folder = path === undefined || path === "." ? "the workspace" : path;
  return depth === undefined || depth <= 1 ? `Lists ${folder}` : `Lists ${folder}, ${depth} levels deep`;
}

/** Finds a folder that may be read. Throws a FileAccessError if it is not a folder. */
export async function locateFolder(path: string, tool: string, context: ToolContext): Promise<ReadablePath> {
  const folder = await locateReadable(path, tool, context);
  if (!(await stat(folder.path)).isDirectory())
    throw new FileAccessError(`${folder.displayPath} is not a folder.`);
  return folder;
}

/** The workspace with all links resolved. */
export function workspaceOf({ turn }: ToolContext): Promise<string> {
  const { cwd } = turn.settings;
  return realpath(cwd).catch(() => cwd);
}

async function listEntries(
  folder: ReadablePath,
  depth: number | undefined,
  matches: (path: string, kind: string) => boolean,
  context: ToolContext,
): Promise<string> {
  const bound = depth === undefined ? {} : { depth };
  const workspace = await workspaceOf(context);
  const walk = new FolderWalk({ folder: folder.path, workspace, signal: context.signal, ...bound });
  const found: string[] = [];
  let more = false;
  for await (const { path, kind } of walk.entries()) {
    if (!matches(path, kind)) continue;
    more = found.length === MAX_NAMES;
    if (more) break;
    const shown = folder.displayPath === "." ? path : join(folder.displayPath, path);
    found.push(kind === "folder" ? `${shown}/` : kind === "link" ? `${shown}@` : shown);
  }
  const cut = more ? `more than ${MAX_NAMES}; narrow the request` : walk.cut;
  return [
    ...(found.length === 0 ? ["(Nothing found.)"] : found),
    ...(cut === undefined ? [] : [`(${cut})`]),
  ].join("\n");
}
