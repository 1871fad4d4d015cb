import { type Block, escapeControls, type ImageBlock, type Row, size } from "@flint/view";
import { markdownOf } from "@flint/view/markdown";
import { metaSpans, oneLine } from "./draw-blocks.ts";
import { indented, type Line, type LineBlock, span } from "./line.ts";
import { type Look, marksFor } from "./look.ts";
import { markdownRows } from "./markdown.ts";

/** A message of the user, with who sent it and its images. */
export function userBlock({ body, meta }: Row, look: Look): LineBlock {
  const mark = `${marksFor(look.unicode).user} `;
  const [first = [], ...rest] = body.flatMap(userLines);
  const sender = meta.length === 0 ? [] : [span(" "), ...metaSpans(meta)];
  const head: Line = [span(mark, "cyan"), ...first, ...sender];
  return { head: [head, ...rest.map((line) => indented(line, mark.length))], indent: mark.length };
}

function userLines(block: Block): Line[] {
  if (block.kind === "image") return [imageLine(block)];
  const text = block.kind === "text" ? escapeControls(block.text) : "";
  return text.split("\n").map((line) => [span(line, "bold")]);
}

/** The name and the size of an image. */
export function imageLine({ name, bytes }: ImageBlock): Line {
  const end = bytes === undefined ? "" : ` (${size(bytes)})`;
  return [span("[image] ", "dim"), span(oneLine(name)), span(end, "dim")];
}

/** A message of an agent as Markdown. */
export function messageBlocks({ body }: Row, look: Look): LineBlock[] {
  return body.flatMap((block) => {
    if (block.kind !== "markdown" || block.text.trim() === "") return [];
    return [{ head: markdownRows(markdownOf(block), look, look.columns) }];
  });
}
