import type { ToolResult } from "@flint/agent/model";
import type { PlanEntry } from "@flint/protocol";
import type { Answer, Flow, Step } from "./flow.ts";
import type { Toolbox } from "./toolbox.ts";

/** One step of a plan: its name, and the work, which is begun only when its turn comes. */
export interface Stage {
  readonly title: string;
  begin(): Flow;
}

/** What a stage said, and whether everything in it worked. */
export interface StageReport {
  readonly title: string;
  readonly text: string;
  readonly worked: boolean;
}

/** Works through a plan that the user can see, stage by stage, and gives what each of them said. */
export function* workThrough(stages: readonly Stage[], tools: Toolbox): Flow<readonly StageReport[]> {
  const reports: StageReport[] = [];
  for (const stage of stages) {
    const told = yield* showPlan(stages, reports, tools);
    reports.push(yield* workOn(stage, told || reports.length > 0 ? undefined : planText(stages)));
  }
  yield* showPlan(stages, reports, tools);
  return reports;
}

/** Tells the plan as it stands with the tool for it; false if there is none. */
function* showPlan(stages: readonly Stage[], reports: readonly StageReport[], tools: Toolbox): Flow<boolean> {
  const entries = stages.map(({ title }, index) => ({ step: title, status: statusOf(index, reports) }));
  const wish = tools.plan(`${reports.length} of ${stages.length} steps done.`, entries);
  if (wish === undefined) return false;
  yield { wishes: [wish] };
  return true;
}

function planText(stages: readonly Stage[]): string {
  return `My plan:\n${stages.map(({ title }, index) => `${index + 1}. ${title}`).join("\n")}`;
}

function statusOf(index: number, reports: readonly StageReport[]): PlanEntry["status"] {
  const report = reports[index];
  if (report !== undefined) return report.worked ? "completed" : "failed";
  return index === reports.length ? "inProgress" : "pending";
}

/** Does the work of one stage; `say` goes before the first thing it does. */
function* workOn({ title, begin }: Stage, say: string | undefined): Flow<StageReport> {
  let worked = true;
  const flow = begin();
  let turn: IteratorResult<Step, Answer> = flow.next();
  let before = say;
  while (turn.done !== true) {
    const results: readonly ToolResult[] = yield before === undefined
      ? turn.value
      : { ...turn.value, say: before };
    before = undefined;
    worked = results.every(({ status }) => status === "done");
    turn = flow.next(results);
  }
  return { title, text: turn.value.text, worked };
}
