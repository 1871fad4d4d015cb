import { relative } from "node:path";
import type { LaunchResult } from "@flint/core/ports";
import { FileAccessError } from "@flint/host/files";
import { pathWithin } from "@flint/host/globs";
import { locateReadable } from "../files/readable-path.ts";
import { boolean, optional, string } from "../input.ts";
import { defineTool, done, INTERRUPTED, runAsItem, type Tool, type ToolContext } from "../tool.ts";
import { inFolder, workspaceOf } from "./list-files.ts";
import { type SearchQuery, SearchResults } from "./search-results.ts";

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
        const scope = [search, path, displayPath, workspace, context] as const;
        // In the sandbox some folders outside of the workspace look empty.
        const isVisible = pathWithin(workspace, path) !== undefined;
        const hits = isVisible ? await searchWithRipgrep(...scope) : undefined;
        if (context.signal.aborted) return INTERRUPTED;
        if (hits !== undefined) return done(hits.text);
        // Loaded only where ripgrep is missing.
        const { searchWithoutRipgrep } = await import("./builtin-search.ts");
        return done((await searchWithoutRipgrep(...scope)).text);
      },
    ),
});

function searchTitle(pattern: string, path: string | undefined, glob: string | undefined): string {
  return `Searches for ${pattern}${inFolder(path)}${glob === undefined ? "" : ` in files matching ${glob}`}`;
}

const TIMEOUT_MS = 20_000;

/** Amount of output at which a search is stopped. */
const MAX_OUTPUT = 1_000_000;

/** None of these runs another program or reads a configuration; the model's input comes after the double dash. */
const OPTIONS = [
  ...[
    "--no-config",
    "--color=never",
    "--no-heading",
    "--with-filename",
    "--line-number",
    "--null",
    "--sort=path",
  ],
  ...["--max-columns=2000", "--max-columns-preview", "--max-filesize=8M", "--max-count=200"],
  ...["--hidden", "--no-require-git", "--glob=!.git", "--glob=!node_modules"],
];

/**
 * Searches with ripgrep in a read-only sandbox. Undefined if that is not possible, because there is no ripgrep or no
 * sandbox. Throws a FileAccessError if ripgrep rejects the pattern.
 */
export async function searchWithRipgrep(
  search: SearchQuery,
  folder: string,
  shown: string,
  workspace: string,
  context: ToolContext,
): Promise<SearchResults | undefined> {
  const enough = new AbortController();
  let printed = "";
  let stderr = "";
  const output = (text: string, stream: "stdout" | "stderr") => {
    if (stream === "stderr") stderr = (stderr + text).slice(0, 2000);
    else printed += text;
    if (printed.length > MAX_OUTPUT) enough.abort();
  };
  const signal = AbortSignal.any([context.signal, enough.signal]);
  // Expected: no sandbox on this machine. The built-in search needs none.
  const result = await context.sandbox
    .launch({
      command: ["rg", ...OPTIONS, ...optionsOf(search), "--", search.pattern, folder],
      cwd: workspace,
      workspace,
      policy: { type: "readOnly" },
      timeoutMs: TIMEOUT_MS,
      signal,
      onOutput: output,
    })
    .catch(() => undefined);
  if (result === undefined || result.exitCode === 126 || result.exitCode === 127) return undefined;
  rejectFailure(result, printed, stderr);
  const hits = resultsOf(printed, folder, shown);
  if (result.ended === "timedOut") hits.note(`stopped after ${TIMEOUT_MS / 1000} seconds`);
  if (enough.signal.aborted) hits.note("stopped because there were too many matches");
  return hits;
}

function optionsOf({ ignoreCase, glob }: SearchQuery): string[] {
  return [...(ignoreCase ? ["--ignore-case"] : []), ...(glob === undefined ? [] : [`--glob=${glob}`])];
}

/** Exit code 1 means no match, 2 an error, perhaps with a single file only. */
function rejectFailure({ exitCode, ended }: LaunchResult, printed: string, stderr: string): void {
  if (ended === "exited" && exitCode > 1 && printed === "") {
    throw new FileAccessError(stderr.trim() || `The search failed with exit code ${exitCode}.`);
  }
}

function resultsOf(printed: string, folder: string, shown: string): SearchResults {
  const hits = new SearchResults();
  for (const line of printed.split("\n")) {
    const found = /^([^\0]+)\0(\d+):(.*)$/s.exec(line);
    if (found === null) continue;
    const [, path = "", number = "", text = ""] = found;
    const inside = relative(folder, path);
    hits.add(shown === "." ? inside : `${shown}${inside === "" ? "" : `/${inside}`}`, Number(number), text);
  }
  return hits;
}
