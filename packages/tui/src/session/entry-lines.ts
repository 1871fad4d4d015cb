import { inputText, isKnownItem, type ThreadItem } from "@flint/protocol";
import { escapeControls, rowOf } from "@flint/view";
import { drawRow } from "../draw/draw-row.ts";
import { type Line, type LineBlock, linesOf, span } from "../draw/line.ts";
import { type Look, marksFor } from "../draw/look.ts";

/** What drawing an item depends on besides the item. */
export interface EntryContext {
  readonly look: Look;
  readonly cwd: string;
  /** Whether the user has already seen it in full, in an approval. */
  readonly seen: boolean;
  /** Who sent it, if it was not this session. */
  readonly from?: string | undefined;
}

/** The blocks of a finished item. */
export function itemBlocks(item: ThreadItem, { look, cwd, seen, from }: EntryContext): LineBlock[] {
  if (isKnownItem(item) && item.type === "userMessage")
    return [userBlock(inputText(item.content), look, from)];
  if (isKnownItem(item) && item.type === "agentMessage") {
    const text = item.text.trimEnd();
    return text === "" ? [] : [{ head: messageLines(text) }];
  }
  return drawRow(rowOf(item), { look, elapsedMs: 0, cwd, seen });
}

/** A message of the user, with a mark in front. */
function userBlock(text: string, look: Look, from: string | undefined): LineBlock {
  const [first = "", ...rest] = escapeControls(text).split("\n");
  const label = from === undefined ? [] : [span(`  ${escapeControls(from)}`, "dim")];
  const head: Line = [span(`${marksFor(look.unicode).user} `, "cyan"), span(first, "bold"), ...label];
  // Without an indent it stands apart from the lines around it.
  return { head: [head, ...rest.map((line): Line => [span("  "), span(line, "bold")])] };
}

/** The lines of a message of the agent. */
export function messageLines(text: string): Line[] {
  // Spaces at the end of a line are not seen, and would be lost where a stream is cut.
  return linesOf(escapeControls(text.replace(/[^\S\n]+$/gm, "")));
}

/** What follows the printed characters, without the end of their line. */
export function afterBreak(text: string, printed: number): string {
  const rest = text.slice(printed);
  return printed === 0 ? rest : rest.replace(/^[^\S\n]*\n/, "");
}
