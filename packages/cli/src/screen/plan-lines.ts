import type { PlanEntry } from "@flint/protocol";
import { visible } from "@flint/view";
import { type Line, type Span, span } from "./line.ts";
import { type Look, type Marks, marksFor } from "./look.ts";

/** The steps of a plan with their marks. */
export function planLines(entries: readonly PlanEntry[], look: Look): Line[] {
  const marks = marksFor(look.unicode);
  return entries.map((entry) => [span("  "), ...stepSpans(entry, marks)]);
}

/** The steps that stand otherwise than before. All of them if the plan is another one. */
export function changedSteps(before: readonly PlanEntry[], now: readonly PlanEntry[]): readonly PlanEntry[] {
  const isSame = before.length === now.length && before.every(({ step }, place) => step === now[place]?.step);
  return isSame ? now.filter(({ status }, place) => status !== before[place]?.status) : now;
}

function stepSpans({ step, status }: PlanEntry, marks: Marks): Span[] {
  const text = ` ${visible(step).replaceAll("\n", " ")}`;
  switch (status) {
    case "completed":
      return [span(marks.done, "green"), span(text, "dim")];
    case "inProgress":
      return [span(marks.current, "cyan"), span(text, "bold")];
    case "failed":
      return [span(marks.failed, "red"), span(text)];
    case "pending":
      return [span(marks.pending, "dim"), span(text)];
  }
}
