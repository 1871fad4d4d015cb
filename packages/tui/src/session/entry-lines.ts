import { inputText, isKnownItem, type ThreadItem } from "@flint/protocol";
import { escapeControls, rowOf } from "@flint/view";
import { drawRow } from "../draw/draw-row.ts";
import { type Line, type LineBlock, span } from "../draw/line.ts";
import { type Look, marksFor } from "../draw/look.ts";
import { markdownLines } from "../draw/markdown.ts";

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
    return item.text.trim() === "" ? [] : [{ head: markdownLines(item.text, look) }];
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
