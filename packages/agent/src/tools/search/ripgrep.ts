import { relative } from "node:path";
import type { LaunchResult } from "@flint/core/ports";
import { FileAccessError } from "@flint/host/files";
import type { ToolContext } from "../tool.ts";
import { type SearchQuery, SearchResults } from "./search-results.ts";

const TIMEOUT_MS = 20_000;

/** What a search may print before it is stopped. */
const OUTPUT_CHARACTERS = 1_000_000;

/** Nothing here runs another program or reads a configuration; what the model wrote comes behind the double dash. */
const FIXED = [
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
 * Searches with ripgrep, in the sandbox and without the right to write anything. Undefined if that is not possible
 * here, because there is no ripgrep or no sandbox. Throws a FileRefusal if ripgrep does not understand the pattern.
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
  let complaint = "";
  const output = (text: string, stream: "stdout" | "stderr") => {
    if (stream === "stderr") complaint = (complaint + text).slice(0, 2000);
    else printed += text;
    if (printed.length > OUTPUT_CHARACTERS) enough.abort();
  };
  const signal = AbortSignal.any([context.signal, enough.signal]);
  // Expected: no sandbox on this machine. The search of our own needs none.
  const result = await context.sandbox
    .launch({
      command: ["rg", ...FIXED, ...optionsOf(search), "--", search.pattern, folder],
      cwd: workspace,
      workspace,
      policy: { type: "readOnly" },
      timeoutMs: TIMEOUT_MS,
      signal,
      onOutput: output,
    })
    .catch(() => undefined);
  if (result === undefined || result.exitCode === 126 || result.exitCode === 127) return undefined;
  refuseFailure(result, printed, complaint);
  const hits = hitsOf(printed, folder, shown);
  if (result.ended === "timedOut") hits.note(`stopped after ${TIMEOUT_MS / 1000} seconds`);
  if (enough.signal.aborted) hits.note("stopped because there was too much");
  return hits;
}

function optionsOf({ ignoreCase, glob }: SearchQuery): string[] {
  return [...(ignoreCase ? ["--ignore-case"] : []), ...(glob === undefined ? [] : [`--glob=${glob}`])];
}

/** Exit code 1 means that nothing was found, 2 that something went wrong, perhaps with a single file only. */
function refuseFailure({ exitCode, ended }: LaunchResult, printed: string, complaint: string): void {
  if (ended === "exited" && exitCode > 1 && printed === "") {
    throw new FileAccessError(complaint.trim() || `The search failed with exit code ${exitCode}.`);
  }
}

function hitsOf(printed: string, folder: string, shown: string): SearchResults {
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
