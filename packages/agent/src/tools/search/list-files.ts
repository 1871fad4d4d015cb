import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { FileAccessError } from "@flint/host/files";
import { Glob } from "@flint/host/globs";
import { locateReadable, type ReadablePath } from "../files/readable-path.ts";
import { integer, optional, string } from "../input.ts";
import { defineTool, done, type Tool, type ToolContext } from "../tool.ts";
import { runAsItem } from "../tool-call-item.ts";
import { FolderWalk } from "./folder-walk.ts";

/** How many names are told. */
const TOLD = 1000;

/** Shows what lies in a folder. */
export const LIST_FILES: Tool = defineTool({
  name: "list_files",
  description:
    "Lists a folder; folders end with a slash. Leaves out .git, node_modules and what .gitignore names. Depth 1 is the folder itself.",
  readOnly: true,
  input: {
    path: optional(string("The folder; the workspace if not given.")),
    depth: optional(integer("How many levels of folders to show; 2 if not given.", 1, 20)),
  },
  run: (input, context) =>
    runAsItem({ tool: "list_files", title: listTitle(input.path, input.depth), input }, context, async () => {
      const place = await locateFolder(input.path ?? ".", "list_files", context);
      return done(await tell(place, input.depth ?? 2, () => true, context));
    }),
});

/** Finds files by a pattern of their paths. */
export const FIND_FILES: Tool = defineTool({
  name: "find_files",
  description:
    "Finds files by a pattern such as *.ts or src/**/*.{js,ts}. Leaves out .git, node_modules and what .gitignore names.",
  readOnly: true,
  input: {
    pattern: string(
      "The pattern, with *, **, ?, [a-z] and {a,b}. Without a slash it is for names in any folder.",
    ),
    path: optional(string("The folder to look in; the workspace if not given.")),
  },
  run: (input, context) =>
    runAsItem(
      { tool: "find_files", title: `Looks for files like ${input.pattern}${inFolder(input.path)}`, input },
      context,
      async () => {
        const place = await locateFolder(input.path ?? ".", "find_files", context);
        const glob = Glob.search(input.pattern);
        return done(
          await tell(place, undefined, (path, kind) => kind === "file" && glob.matches(path), context),
        );
      },
    ),
});

/** Where a tool looks, in words. */
export function inFolder(path: string | undefined): string {
  return path === undefined || path === "." ? "" : ` in ${path}`;
}

function listTitle(path: string | undefined, depth: number | undefined): string {
  const place = path === undefined || path === "." ? "the workspace" : path;
  return depth === undefined || depth <= 1 ? `Lists ${place}` : `Lists ${place}, ${depth} levels deep`;
}

/** A folder that may be looked through. Throws a FileRefusal if it is none. */
export async function locateFolder(path: string, tool: string, context: ToolContext): Promise<ReadablePath> {
  const place = await locateReadable(path, tool, context);
  if (!(await stat(place.path)).isDirectory())
    throw new FileAccessError(`${place.displayPath} is not a folder.`);
  return place;
}

/** The real path of the workspace. */
export function workspaceOf({ turn }: ToolContext): Promise<string> {
  const { cwd } = turn.settings;
  return realpath(cwd).catch(() => cwd);
}

async function tell(
  place: ReadablePath,
  depth: number | undefined,
  wanted: (path: string, kind: string) => boolean,
  context: ToolContext,
): Promise<string> {
  const bound = depth === undefined ? {} : { depth };
  const workspace = await workspaceOf(context);
  const walk = new FolderWalk({ folder: place.path, workspace, signal: context.signal, ...bound });
  const found: string[] = [];
  let more = false;
  for await (const { path, kind } of walk.entries()) {
    if (!wanted(path, kind)) continue;
    more = found.length === TOLD;
    if (more) break;
    const shown = place.displayPath === "." ? path : join(place.displayPath, path);
    found.push(kind === "folder" ? `${shown}/` : kind === "link" ? `${shown}@` : shown);
  }
  const cut = more ? `more than ${TOLD}; ask for less` : walk.cut;
  return [
    ...(found.length === 0 ? ["(Nothing was found.)"] : found),
    ...(cut === undefined ? [] : [`(${cut})`]),
  ].join("\n");
}
