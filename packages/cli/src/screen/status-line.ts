import { cutLine } from "./fit.ts";
import { type Line, span, textOf } from "./line.ts";
import type { Look } from "./look.ts";
import { marksFor } from "./marks.ts";
import { textWidth } from "./width.ts";

/** What the last line of a live screen says. */
export interface Status {
  readonly activity: string;
  /** Figures, the most telling first; what does not fit is left out from the end. */
  readonly figures: readonly string[];
  readonly hint: string;
  /** Counts up; each is another picture of the spinner. */
  readonly tick: number;
}

/** The last line of a live screen, never longer than the terminal is wide. */
export function statusLine({ activity, figures, hint, tick }: Status, look: Look): Line {
  const marks = marksFor(look.unicode);
  const spinner = marks.spinner[tick % marks.spinner.length] ?? "";
  // The last column stays free: some terminals break the line there.
  const room = look.columns - 1;
  const head: Line = [span(spinner, "cyan"), span(` ${activity}`)];
  let width = textWidth(textOf(head));
  const shown: string[] = [];
  for (const part of [...figures, hint]) {
    width += textWidth(marks.between + part);
    if (width > room) break;
    shown.push(part);
  }
  const rest = shown.map((part) => marks.between + part).join("");
  return cutLine([...head, span(rest, "dim")], room, marks.more);
}
