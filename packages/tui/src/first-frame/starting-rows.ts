import { escapeControls, shortFolder } from "@flint/view";
import { cutLine, type Line, span } from "../draw/line.ts";
import { marksFor, type RenderOptions } from "../draw/render-options.ts";

/** The facts about a session that are known before its server answers. */
export interface StartingFolder {
  readonly cwd: string;
  readonly home: string | undefined;
  readonly branch: string | undefined;
}

/** The columns of the mark in front of the composer. */
export const COMPOSER_MARGIN = 2;

/** The header while the agent and its settings are not known yet. */
export function startingHeader({ cwd, home, branch }: StartingFolder, look: RenderOptions): Line {
  const { between, more } = marksFor(look.unicode);
  const line = [span("Flint", "bold"), span(between + folderAndBranch(cwd, home, branch), "dim")];
  return cutLine(line, look.columns - 1, more);
}

/** An empty composer. */
export function emptyComposer(hint: string, look: RenderOptions): Line {
  const { user, more } = marksFor(look.unicode);
  return cutLine([span(`${user} `, "cyan"), span(hint, "dim")], look.columns - 1, more);
}

/** Returns the hint in an empty composer until the server answers. */
export function startingHint(look: RenderOptions): string {
  return `Starting${marksFor(look.unicode).more}`;
}

/** A folder and its branch, as the header shows them. */
export function folderAndBranch(cwd: string, home: string | undefined, branch: string | undefined): string {
  return escapeControls(`${shortFolder(cwd, home)}${branch === undefined ? "" : ` (${branch})`}`);
}
