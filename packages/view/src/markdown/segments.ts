/**
 * Where Markdown can be cut so that each part means the same on its own: after a blank line, before a line that begins
 * something new. Text that is added at the end moves no cut that has a complete line after it.
 */
export interface Segment {
  readonly start: number;
  readonly end: number;
  /** Whether no text that follows can change where it ends. */
  readonly isFinal: boolean;
}

const FENCE = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?<fence>`{3,}|~{3,})(?<info>.*)$/;
const MARKER = /^(?:[-*+]|\d{1,9}[.)]?)(?:[ \t]|$)/;
const RAW_HTML = /^<(?<tag>pre|script|style|textarea|!--|\?|!\[CDATA\[|![a-z])/i;

/** Cuts Markdown into segments. */
export function segmentsOf(text: string, from = 0): Segment[] {
  const cuts = new Cuts(from);
  for (let start = from; start < text.length; ) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline + 1;
    cuts.line(
      text.slice(start, newline === -1 ? text.length : newline).replace(/\r$/, ""),
      start,
      newline !== -1,
    );
    start = end;
  }
  return cuts.end(text.length);
}

/** Finds the cuts line by line. */
class Cuts {
  readonly #segments: Segment[] = [];
  #start: number;
  #first: string | undefined;
  #fence: string | undefined;
  #wasBlank = false;
  #rawHtml: string | undefined;

  constructor(start: number) {
    this.#start = start;
  }

  line(text: string, start: number, isComplete: boolean): void {
    const isBlank = text.trim() === "";
    if (this.#canCut(text, isBlank)) {
      this.#segments.push({ start: this.#start, end: start, isFinal: isComplete });
      this.#start = start;
      this.#first = undefined;
      this.#rawHtml = undefined;
    }
    if (!isBlank) this.#note(text);
    this.#wasBlank = isBlank;
  }

  end(length: number): Segment[] {
    if (this.#start < length) this.#segments.push({ start: this.#start, end: length, isFinal: false });
    return this.#segments;
  }

  #canCut(text: string, isBlank: boolean): boolean {
    if (isBlank || !this.#wasBlank || this.#first === undefined) return false;
    if (this.#fence !== undefined || this.#rawHtml !== undefined || /^[ \t]/.test(text)) return false;
    // A list goes on after a blank line; another kind of marker is left to the lexer.
    return !(MARKER.test(this.#first) && MARKER.test(text));
  }

  #note(text: string): void {
    if (this.#first === undefined) {
      this.#first = text.trimStart();
      this.#rawHtml = RAW_HTML.exec(this.#first)?.groups?.tag?.toLowerCase();
    }
    if (this.#rawHtml !== undefined && endsRawHtml(this.#rawHtml, text)) this.#rawHtml = undefined;
    this.#noteFence(text);
  }

  #noteFence(text: string): void {
    const { fence, info = "" } = FENCE.exec(text)?.groups ?? {};
    if (fence === undefined) return;
    if (this.#fence === undefined) {
      // Backticks after the fence make it a code span.
      if (!(fence.startsWith("`") && info.includes("`"))) this.#fence = fence;
    } else if (fence.startsWith(this.#fence) && info.trim() === "") this.#fence = undefined;
  }
}

function endsRawHtml(tag: string, line: string): boolean {
  if (tag === "!--") return line.includes("-->");
  if (tag === "?") return line.includes("?>");
  if (tag === "![cdata[") return line.includes("]]>");
  return tag.startsWith("!") ? line.includes(">") : line.toLowerCase().includes(`</${tag}>`);
}
