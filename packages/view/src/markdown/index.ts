export {
  type Alignment,
  type Inline,
  inlineText,
  isWebLink,
  type ListItem,
  type MarkdownBlock,
} from "./blocks.ts";
export { type CodePiece, type CodeState, highlightLine, START_OF_CODE } from "./highlight.ts";
export { MarkdownStream, markdownOf, parseMarkdown } from "./stream.ts";
