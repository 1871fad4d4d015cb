import type { TaskRow } from "@flint/protocol";
import { oneLine } from "@flint/view";
import { roundOf, statusOf, usageText } from "@flint/view/tasks";
import { type Line, type Style, span } from "../../draw/line.ts";
import { marksFor, type RenderOptions } from "../../draw/render-options.ts";

/** The rows of a list of tasks: how each stands, what it is, and behind that what fits of its round, agents and cost. */
export function taskRows(
  tasks: readonly TaskRow[],
  selected: string | undefined,
  now: number,
  look: RenderOptions,
): Line[] {
  const { current, arrow, between } = marksFor(look.unicode);
  const widthOf = (textOf: (task: TaskRow) => string) =>
    Math.max(0, ...tasks.map((task) => textOf(task).length));
  const statusWidth = widthOf((task) => statusOf(task, now));
  const numberWidth = widthOf(({ number }) => `#${number}`);
  return tasks.map((task) => {
    const isSelected = task.id === selected;
    const [mark, style] = markOf(task, look);
    const agents = task.reviewer === undefined ? task.executor : `${task.executor} ${arrow} ${task.reviewer}`;
    const facts = task.round === 0 ? [agents] : [roundOf(task), agents, usageText(task)];
    return [
      span(isSelected ? `${current} ` : "  ", "cyan"),
      span(`${mark} `, style),
      span(`${statusOf(task, now).padEnd(statusWidth)}  `, isWaiting(task) ? "yellow" : "dim"),
      span(`#${task.number}`.padEnd(numberWidth + 1), "cyan"),
      span(oneLine(task.title), isSelected ? "bold" : undefined),
      span(`  ${oneLine(facts.join(between))}`, "dim"),
    ];
  });
}

/** Reports whether a task waits for the user. */
export function isWaiting({ phase }: TaskRow): boolean {
  return phase === "asking" || phase === "approving";
}

/** The mark in front of a task, by its phase. */
export function markOf({ phase }: TaskRow, look: RenderOptions): readonly [string, Style] {
  const marks = marksFor(look.unicode);
  switch (phase) {
    case "asking":
    case "approving":
      return [marks.warning, "yellow"];
    case "running":
      return [marks.running, "green"];
    case "done":
      return [marks.done, "green"];
    case "failed":
      return [marks.failed, "red"];
    case "cancelled":
      return [marks.declined, "dim"];
    case "suspended":
    case "ready":
    case "waiting":
      return [marks.pending, "dim"];
  }
}

/** Returns the question of a task, the reason it failed, or the place of its result. */
export function detailOf({ phase, ask, error, note, merged }: TaskRow): string | undefined {
  if (phase === "asking") return ask?.message;
  if (phase === "suspended") return note;
  return error ?? merged?.ref.replace("refs/heads/", "branch ");
}
