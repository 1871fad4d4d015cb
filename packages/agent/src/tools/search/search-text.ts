import { locateReadable, pathWithin } from "../files/readable-path.ts";
import { boolean, optional, string } from "../input.ts";
import { defineTool, done, INTERRUPTED, type Tool } from "../tool.ts";
import { runAsItem } from "../tool-call-item.ts";
import { inFolder, workspaceOf } from "./list-files.ts";
import { searchWithRipgrep } from "./ripgrep.ts";

/** Searches files for a regular expression, with ripgrep if it is installed. */
export const SEARCH_TEXT: Tool = defineTool({
  name: "search_text",
  description:
    "Finds lines that match a regular expression, as path:line: text. Leaves out .git, node_modules and ignored files.",
  readOnly: true,
  input: {
    pattern: string("The regular expression, for single lines.", { maxLength: 2000 }),
    path: optional(string("The folder or file to search; the workspace by default.")),
    glob: optional(string("Only files that match this glob, for example *.ts.", { maxLength: 512 })),
    ignore_case: optional(boolean("Whether to ignore case.")),
  },
  run: (input, context) =>
    runAsItem(
      { tool: "search_text", title: searchTitle(input.pattern, input.path, input.glob), input },
      context,
      async () => {
        const { path, displayPath } = await locateReadable(input.path ?? ".", "search_text", context);
        const workspace = await workspaceOf(context);
        const search = { pattern: input.pattern, glob: input.glob, ignoreCase: input.ignore_case ?? false };
        const place = [search, path, displayPath, workspace, context] as const;
        // In the sandbox some folders outside of the workspace look empty.
        const isVisible = pathWithin(workspace, path) !== undefined;
        const hits = isVisible ? await searchWithRipgrep(...place) : undefined;
        if (context.signal.aborted) return INTERRUPTED;
        if (hits !== undefined) return done(hits.text);
        // Loaded only where ripgrep is missing.
        const { searchWithoutRipgrep } = await import("./builtin-search.ts");
        return done((await searchWithoutRipgrep(...place)).text);
      },
    ),
});

function searchTitle(pattern: string, path: string | undefined, glob: string | undefined): string {
  return `Searches for ${pattern}${inFolder(path)}${glob === undefined ? "" : ` in files matching ${glob}`}`;
}
