import { Lexer, type Token, type Tokens } from "marked";
import type { Alignment, Inline, ListItem, MarkdownBlock } from "./blocks.ts";

/** Longer text that is not code is shown as it is: the lexer may need very long for it. */
const MAX_LEXED = 20_000;
/** Deeper lists and quotes are shown as text. */
const MAX_DEPTH = 12;

/**
 * Lines of words and nothing that Markdown could give a meaning. Most of what streams is that, with every frame again, and
 * it is read here at a small part of what the lexer takes.
 */
const WORDS =
  /^(?:[A-Za-z\u00c0-\u024f\u0370-\u052f\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3][\w ,.;?()'"/%+\u00a1-\u02ff\u0370-\u052f\u2013\u2014\u2018-\u201d\u2026\u3001-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff01-\uff5e-]*(?:\n(?!\n)|$))+$/;
const MEANT = /_|[ \t]\n|www\./i;

/** The blocks of one segment of Markdown. Anything can be lexed; what makes no sense is text. */
export function lexBlocks(source: string): MarkdownBlock[] {
  return wordsOf(source) ?? lexerBlocks(source);
}

/** A paragraph of words; undefined if only the lexer can say what the text is. */
function wordsOf(source: string): MarkdownBlock[] | undefined {
  const words = source.replace(/\n+$/, "");
  if (words.length > MAX_LEXED || !WORDS.test(words) || MEANT.test(source)) return undefined;
  return [{ kind: "paragraph", inline: [{ kind: "text", text: words }] }];
}

/** The blocks as the lexer reads them. */
export function lexerBlocks(source: string): MarkdownBlock[] {
  const text = source.replaceAll("\0", "\ufffd");
  if (text.length > MAX_LEXED && !isFenced(text)) return plain(text);
  try {
    return blocksOf(new Lexer({ gfm: true }).lex(text), 0);
  } catch {
    // The lexer recurses: text that is nested thousands of levels deep exhausts the stack.
    return plain(text);
  }
}

function isFenced(text: string): boolean {
  return /^ {0,3}(?:```|~~~)/.test(text);
}

function plain(text: string): MarkdownBlock[] {
  const lines = text.replace(/\r\n?/g, "\n").replace(/\n+$/, "").split("\n");
  return [{ kind: "paragraph", inline: lines.flatMap(plainLine) }];
}

function plainLine(text: string, at: number): Inline[] {
  const line: Inline = { kind: "text", text };
  return at === 0 ? [line] : [{ kind: "break" }, line];
}

function blocksOf(tokens: readonly Token[], depth: number): MarkdownBlock[] {
  return tokens.flatMap((token) => blockOf(token, depth));
}

/** The tokens of the lexer are an open union: `type` says which shape a token has. */
function blockOf(token: Token, depth: number): MarkdownBlock[] {
  if (depth > MAX_DEPTH) return token.raw.trim() === "" ? [] : plain(token.raw);
  switch (token.type) {
    case "space":
      return [];
    case "heading":
      return [{ kind: "heading", depth: Number(token.depth), inline: inlineOf(token.tokens, depth) }];
    case "code":
      return [{ kind: "code", language: languageOf(token.lang), text: String(token.text) }];
    case "blockquote":
      return [{ kind: "quote", blocks: blocksOf(token.tokens ?? [], depth + 1) }];
    case "list":
      return [listOf(token as Tokens.List, depth)];
    case "table":
      return [tableOf(token as Tokens.Table, depth)];
    case "hr":
      return [{ kind: "rule" }];
    case "paragraph":
    case "text":
      return paragraph(token.tokens === undefined ? [text(token.raw)] : inlineOf(token.tokens, depth));
    default:
      // HTML, definitions of links, and whatever a later version of the lexer has: nothing is hidden.
      return token.raw.trim() === "" ? [] : plain(token.raw.trim());
  }
}

function paragraph(inline: readonly Inline[]): MarkdownBlock[] {
  return inline.length === 0 ? [] : [{ kind: "paragraph", inline }];
}

/** The first word after the fence. */
function languageOf(given: unknown): string {
  return typeof given === "string" ? (/^[\w+#.-]*/.exec(given)?.[0] ?? "").toLowerCase() : "";
}

function listOf({ ordered, start, items }: Tokens.List, depth: number): MarkdownBlock {
  const first = typeof start === "number" ? start : 1;
  return { kind: "list", items: items.map((item) => itemOf(item, depth)), ...(ordered && { start: first }) };
}

function itemOf({ tokens, task, checked }: Tokens.ListItem, depth: number): ListItem {
  // The mark of a task is a token of its own, which is shown from `checked`.
  const content = tokens.filter(({ type }) => type !== "checkbox");
  const blocks = blocksOf(content, depth + 1);
  return task ? { checked: checked === true, blocks } : { blocks };
}

function tableOf({ header, align, rows }: Tokens.Table, depth: number): MarkdownBlock {
  const cells = (row: readonly Tokens.TableCell[]) => row.map((cell) => inlineOf(cell.tokens, depth));
  return { kind: "table", align: align.map(alignmentOf), head: cells(header), rows: rows.map(cells) };
}

function alignmentOf(align: string | null): Alignment | undefined {
  return align === "left" || align === "right" || align === "center" ? align : undefined;
}

function inlineOf(tokens: readonly Token[] = [], depth: number): Inline[] {
  return tokens.flatMap((token) => pieceOf(token, depth + 1));
}

function pieceOf(token: Token, depth: number): Inline[] {
  if (depth > MAX_DEPTH * 2) return [text(token.raw)];
  switch (token.type) {
    case "strong":
      return [{ kind: "strong", inline: inlineOf(token.tokens, depth) }];
    case "em":
      return [{ kind: "emphasis", inline: inlineOf(token.tokens, depth) }];
    case "del":
      return [{ kind: "struck", inline: inlineOf(token.tokens, depth) }];
    case "codespan":
      return [{ kind: "code", text: String(token.text) }];
    case "link":
      return [{ kind: "link", url: String(token.href), inline: inlineOf(token.tokens, depth) }];
    case "image":
      return [{ kind: "image", url: String(token.href), alt: String(token.text) }];
    case "br":
      return [{ kind: "break" }];
    case "escape":
      return [{ kind: "text", text: String(token.text) }];
    case "text":
      return token.tokens === undefined ? [text(token.raw)] : inlineOf(token.tokens, depth);
    case "checkbox":
      return [];
    default:
      return [text(token.raw)];
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  ...{
    amp: "&",
    lt: "<",
    gt: ">",
    quot: '"',
    apos: "'",
    nbsp: "\u00a0",
    hellip: "…",
    mdash: "—",
    ndash: "–",
  },
};

/** Text with the few character references that models write. Others stay as they are. */
function text(raw: string): Inline {
  if (!raw.includes("&")) return { kind: "text", text: raw };
  const decoded = raw.replace(/&(?:#(\d{1,6})|(\w{2,6}));/g, (whole, number, name) => {
    const code = number === undefined ? undefined : Number(number);
    if (code !== undefined) return code >= 32 && code <= 0xffff ? String.fromCharCode(code) : whole;
    return ENTITIES[String(name)] ?? whole;
  });
  return { kind: "text", text: decoded };
}
