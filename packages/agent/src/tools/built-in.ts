import type { WebAccess } from "../options.ts";
import { applyPatchTool } from "./files/apply-patch.ts";
import type { FileVersions } from "./files/file-versions.ts";
import { readFileTool } from "./files/read-file.ts";
import { editFileTool, writeFileTool } from "./files/write-tools.ts";
import { FIND_FILES, LIST_FILES } from "./search/list-files.ts";
import { SEARCH_TEXT } from "./search/search-text.ts";
import { type BackgroundCommands, shellOutputTool, shellStopTool } from "./shell/background.ts";
import { shellTool } from "./shell/shell.ts";
import type { Tool } from "./tool.ts";
import { ASK_USER } from "./user-tools.ts";
import { fetchUrlTool, searchWebTool } from "./web/web-tools.ts";

/** The state that the tools of one session share. */
export interface ToolState {
  readonly web: WebAccess;
  readonly background: BackgroundCommands;
  readonly fileVersions: FileVersions;
}

/** The tools of every session, except the plan tool, which belongs to a turn. Web tools only if the user turned them on. */
export function builtInTools({ web, background, fileVersions }: ToolState): readonly Tool[] {
  return [
    shellTool(background),
    shellOutputTool(background),
    shellStopTool(background),
    readFileTool(fileVersions),
    LIST_FILES,
    FIND_FILES,
    SEARCH_TEXT,
    writeFileTool(fileVersions),
    editFileTool(fileVersions),
    applyPatchTool(fileVersions),
    ASK_USER,
    ...(web.fetch ? [fetchUrlTool()] : []),
    ...(web.searchUrl === undefined ? [] : [searchWebTool(web.searchUrl)]),
  ];
}
