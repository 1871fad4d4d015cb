import type { WebAccess } from "../options.ts";
import { applyPatchTool } from "./apply-patch.ts";
import { ASK_USER } from "./ask-user.ts";
import type { BackgroundCommands } from "./background.ts";
import { shellOutputTool, shellStopTool } from "./background-tools.ts";
import { editFileTool } from "./edit-file.ts";
import type { KnownFiles } from "./known-files.ts";
import { FIND_FILES, LIST_FILES } from "./look-around.ts";
import { readFileTool } from "./read-file.ts";
import { SEARCH_TEXT } from "./search-text.ts";
import { shellTool } from "./shell.ts";
import type { Tool } from "./tool.ts";
import { fetchUrlTool } from "./web/fetch-url.ts";
import { searchWebTool } from "./web/search-web.ts";
import { writeFileTool } from "./write-file.ts";

/** What the tools of one session share. */
export interface SharedState {
  readonly web: WebAccess;
  readonly background: BackgroundCommands;
  readonly knownFiles: KnownFiles;
}

/** The tools that every session has, beside the plan, which belongs to a turn. The web only if the user wants it. */
export function builtInTools({ web, background, knownFiles }: SharedState): readonly Tool[] {
  return [
    shellTool(background),
    shellOutputTool(background),
    shellStopTool(background),
    readFileTool(knownFiles),
    LIST_FILES,
    FIND_FILES,
    SEARCH_TEXT,
    writeFileTool(knownFiles),
    editFileTool(knownFiles),
    applyPatchTool(knownFiles),
    ASK_USER,
    ...(web.fetch ? [fetchUrlTool()] : []),
    ...(web.searchUrl === undefined ? [] : [searchWebTool(web.searchUrl)]),
  ];
}
