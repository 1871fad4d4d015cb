/**
 * A part of Markdown that means the same on its own. Cuts are after a blank line, or before a line that
 * begins something new. Text that is added at the end moves no cut that has a complete line after it.
 */
export interface Segment {
  readonly start: number;
  readonly end: number;
  /** True if no text that follows can change its end. */
  readonly isFinal: boolean;
}

const FENCE = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?<fence>`{3,}|~{3,})(?<info>.*)$/;
const MARKER = /^(?:[-*+]|\d{1,9}[.)]?)(?:[ \t]|$)/;
const RAW_HTML = /^<(?<tag>pre|script|style|textarea|!--|\?|!\[CDATA\[|![a-z])/i;

/** Cuts Markdown into segments. */
export function segmentsOf(text: string): Segment[] {
  const cuts = new Cuts();
  cuts.lines(text);
  return cuts.end(text);
}

/** Finds the cuts line by line, in a text that may grow at its end. */
export class Cuts {
  readonly #segments: Segment[] = [];
  /** Offset of the first line that was incomplete. */
  #at = 0;
  /** Offset of the segment that is still open. */
  #start = 0;
  #first: string | undefined;
  #fence: string | undefined;
  #wasBlank = false;
  #rawHtml: string | undefined;

  /** The segments whose end no text that follows can change; the array only grows. */
  get final(): readonly Segment[] {
    return this.#segments;
  }

  /** Reads the lines that are complete by now. The text continues the one of the last call. */
  lines(text: string): void {
    for (let newline = text.indexOf("\n", this.#at); newline !== -1; newline = text.indexOf("\n", this.#at)) {
      const at = this.#at;
      this.#at = newline + 1;
      this.#line(text.slice(at, text[newline - 1] === "\r" ? newline - 1 : newline), at, true);
    }
  }

  /** All segments of the text, the open one last. Nothing can be added afterwards. */
  end(text: string): Segment[] {
    if (this.#at < text.length) this.#line(text.slice(this.#at), this.#at, false);
    const isOpen = this.#start < text.length;
    return isOpen
      ? [...this.#segments, { start: this.#start, end: text.length, isFinal: false }]
      : this.#segments;
  }

  #line(text: string, start: number, isComplete: boolean): void {
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

  #canCut(text: string, isBlank: boolean): boolean {
    if (isBlank || !this.#wasBlank || this.#first === undefined) return false;
    if (this.#fence !== undefined || this.#rawHtml !== undefined || /^[ \t]/.test(text)) return false;
    // A list continues after a blank line; another kind of marker is left to the lexer.
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
    if (!text.includes("```") && !text.includes("~~~")) return;
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
