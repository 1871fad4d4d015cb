import type { TaskEvent, TaskSpec } from "@flint/protocol";
import { escapeControls } from "@flint/view";
import { taskLogLine } from "@flint/view/tasks";
import { type Line, lineOf, span, wrapLine } from "../../draw/line.ts";
import { Pager } from "../pager.ts";
import type { TaskHistory } from "./task-history.ts";

/** The columns of a time and the space after it. */
const TIME_COLUMNS = 21;

/** The lines of an event in the log of a task: the first with its time, the others below it. None if it says nothing. */
export function logLines(event: TaskEvent, spec: TaskSpec): Line[] {
  const text = taskLogLine(event, spec);
  if (text === undefined) return [];
  // The locale whose times sort, and are the same for everyone.
  const time = new Date(event.at).toLocaleString("sv");
  const [first = "", ...rest] = escapeControls(text).split("\n");
  return [
    [span(time.padEnd(TIME_COLUMNS), "dim"), span(first)],
    ...rest.map((line): Line => [span(" ".repeat(TIME_COLUMNS)), span(line)]),
  ];
}

/** The whole log of a task, with its agents' reasoning, as it grows. */
export function taskLogPage(number: number, history: Pick<TaskHistory, "state" | "events">): Pager {
  return new Pager({
    title: `Log of task ${number}`,
    fromEnd: true,
    lines: (look) => {
      const { state, events } = history;
      if (state === undefined) return [lineOf("Reading", "dim")];
      const lines = events.flatMap((event) => logLines(event, state.spec));
      return lines.flatMap((line) => wrapLine(line, look.columns - 1, TIME_COLUMNS));
    },
  });
}
