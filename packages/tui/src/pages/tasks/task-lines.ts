import { Approval, type TaskAsk, type TaskEvent, type TaskRow, type TaskSpec } from "@flint/protocol";
import { approvalPrompt, escapeControls, escapeExact, shortFolder } from "@flint/view";
import { reviewersText, roundOf, statusOf, usageText } from "@flint/view/tasks";
import { drawApproval } from "../../draw/draw-row.ts";
import {
  cutLine,
  indented,
  type Line,
  lineOf,
  linesOf,
  screenRows,
  span,
  wrapLine,
} from "../../draw/line.ts";
import { marksFor, type RenderOptions } from "../../draw/render-options.ts";
import type { TaskHistory } from "./task-history.ts";
import { logLines } from "./task-log.ts";
import { roundSections, type Section } from "./task-rounds.ts";

/** The data from which the page of a task is drawn. */
export interface ShownTask {
  readonly task: TaskRow;
  readonly history: Pick<TaskHistory, "state" | "events">;
  readonly now: number;
  readonly home: string | undefined;
}

/** The rows of a task's page: what it waits for, what is wanted and by whom, its rounds, and its log. */
export function taskLines(shown: ShownTask, look: RenderOptions): Line[] {
  const { state, events } = shown.history;
  const columns = look.columns - 1;
  const marks = marksFor(look.unicode);
  const rounds = state === undefined ? [] : roundSections(state, marks);
  const sections: readonly Section[] = [
    ["", waitingLines(shown.task, look)],
    ["", factLines(shown)],
    ["Prompt", linesOf(escapeControls(state?.spec.prompt ?? ""))],
    ...rounds,
    ["Log", state === undefined ? [] : events.flatMap((event) => firstLogLine(event, state.spec, look))],
  ];
  return sections
    .filter(([, lines]) => lines.length > 0)
    .flatMap(([title, lines], at): Line[] => [
      ...(at === 0 ? [] : [[]]),
      ...(title === "" ? [] : [lineOf(title, "bold")]),
      ...lines.flatMap((line) =>
        title === "" ? wrapLine(line, columns, 2) : wrapLine(indented(line, 2), columns, 6),
      ),
    ]);
}

/** The page has a row for each event; the whole log is a page of its own. */
function firstLogLine(event: TaskEvent, spec: TaskSpec, look: RenderOptions): Line[] {
  const { more } = marksFor(look.unicode);
  return logLines(event, spec)
    .slice(0, 1)
    .map((line) => cutLine(line, look.columns - 3, more));
}

/** Shows the question of the task, the reason it failed, or the place of its result. */
function waitingLines({ phase, ask, error, note, merged, cwd }: TaskRow, look: RenderOptions): Line[] {
  const place = merged === undefined ? undefined : `Result: ${merged.ref.replace("refs/heads/", "branch ")}`;
  if (phase === "approving") return [lineOf("The result needs your approval.", "yellow")];
  if (phase === "asking" && ask !== undefined) return askLines(ask, look, cwd);
  if (phase === "suspended" && note !== undefined) return linesOf(escapeControls(note), "yellow");
  if (error !== undefined) return linesOf(escapeControls(error), "red");
  const lines = [place, merged?.note].filter((line) => line !== undefined);
  return lines.flatMap((line) => linesOf(escapeControls(line), "green"));
}

/** Shows an agent's request in full, to be judged by its exact characters. */
function askLines({ reason, message, request }: TaskAsk, look: RenderOptions, cwd: string): Line[] {
  const approval = reason === "approval" ? Approval.safeParse(request) : undefined;
  if (approval?.success !== true) return linesOf(escapeExact(message), "yellow");
  const { action, suggestions } = approval.data;
  const inner = { ...look, columns: look.columns - 1 };
  return screenRows(drawApproval(approvalPrompt(action, suggestions), inner, cwd), inner);
}

function factLines({ task, history, now, home }: ShownTask): Line[] {
  const spec = history.state?.spec;
  const round = task.round === 0 ? "" : `, round ${roundOf(task)}`;
  const names = (roles: readonly { model?: string | undefined }[]) =>
    roles.map(({ model }) => model ?? "default").join(", ");
  const facts = [
    ["Status", `${statusOf(task, now)}${round}`],
    ["Folder", shortFolder(task.cwd, home)],
    ["Executor", spec === undefined ? task.executor : names(spec.executors)],
    ["Reviewer", spec === undefined ? (task.reviewer ?? "") : reviewersText(spec)],
    ["Checks", (spec?.checks ?? []).map(({ name, command }) => name ?? command).join(", ")],
    [
      "Merge",
      `${task.merge}${task.result?.commit == null ? "" : ` (commit ${task.result.commit.slice(0, 10)})`}`,
    ],
    ["Used", usageText(task)],
  ];
  return facts.map(([name = "", value = ""]) => [
    span(name.padEnd(10), "cyan"),
    value === "" ? span("none", "dim") : span(escapeControls(value)),
  ]);
}
