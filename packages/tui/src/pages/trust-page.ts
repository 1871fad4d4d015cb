import { cannotBeTrusted, type WorkspaceFile } from "@flint/protocol";
import { escapeControls } from "@flint/view";
import { type Line, lineOf, span, wrapLine } from "../draw/line.ts";
import { hintsIn } from "./key-name.ts";
import { Pager } from "./pager.ts";

/** The files of a folder that configure Flint or steer an agent. Read to their end, they can be trusted as they are shown. */
export function trustPage(
  files: readonly WorkspaceFile[],
  trust: (shown: readonly WorkspaceFile[]) => void,
): Pager {
  const open = files.filter((file) => !file.trusted && !cannotBeTrusted(file));
  const page: Pager = new Pager({
    title: open.length === 0 ? "Nothing here is left to trust" : "Trust these files?",
    hint: (look) => {
      if (open.length === 0) return "";
      if (!page.hasShownEnd) return "read to the end to trust them";
      return hintsIn(look, [["taskApprove", `trust ${open.length === 1 ? "it" : "them"} as shown`]]).join("");
    },
    lines: (look) =>
      files.flatMap(fileLines).flatMap((line) => wrapLine(line, look.columns - 1, CONTENT.length)),
    command: (id) => {
      if (id !== "taskApprove" || open.length === 0) return false;
      if (!page.hasShownEnd) return true;
      trust(open);
      return "close";
    },
  });
  return page;
}

/** Prefix of each line of a file. */
const CONTENT = "  | ";

function fileLines({ path, content, trusted, problem, steers = ["Flint"] }: WorkspaceFile): Line[] {
  const state = trusted ? "trusted" : "not trusted";
  const fault = problem === undefined ? [] : [lineOf(escapeControls(`  ignored: ${problem}`), "yellow")];
  const lines = content.trimEnd().split("\n");
  return [
    [span(escapeControls(path), "bold"), span(escapeControls(`  ${state}; ${steers.join(", ")}`), "dim")],
    ...fault,
    ...lines.map((line): Line => [span(CONTENT, "dim"), span(escapeControls(line))]),
    [],
  ];
}
