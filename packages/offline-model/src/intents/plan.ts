import type { ToolResult } from "@flint/agent/model";
import type { PlanEntry } from "@flint/protocol";
import type { Task } from "./task.ts";
import type { Toolbox } from "./toolbox.ts";

/** One step of a plan: its title, and its work, which starts when its turn comes. */
export interface Stage {
  readonly title: string;
  start(): Task;
}

/** How a stage ended. */
export interface StageReport {
  readonly title: string;
  readonly text: string;
  readonly worked: boolean;
}

/** Works through a plan that the user can see. Without a tool for plans, the plan is said before the first stage. */
export function* workThrough(stages: readonly Stage[], tools: Toolbox): Task<readonly StageReport[]> {
  const reports: StageReport[] = [];
  for (const stage of stages) {
    const isShown = yield* showPlan(stages, reports, tools);
    const titles = stages.map(({ title }, index) => `${index + 1}. ${title}`);
    const say = isShown || reports.length > 0 ? undefined : ["My plan:", ...titles].join("\n");
    reports.push(yield* workOn(stage, say));
  }
  yield* showPlan(stages, reports, tools);
  return reports;
}

function* showPlan(stages: readonly Stage[], reports: readonly StageReport[], tools: Toolbox): Task<boolean> {
  const entries = stages.map(({ title }, index) => ({ step: title, status: statusOf(index, reports) }));
  const use = tools.plan(`${reports.length} of ${stages.length} steps done.`, entries);
  if (use !== undefined) yield { calls: [use] };
  return use !== undefined;
}

function statusOf(index: number, reports: readonly StageReport[]): PlanEntry["status"] {
  const report = reports[index];
  if (report !== undefined) return report.worked ? "completed" : "failed";
  return index === reports.length ? "inProgress" : "pending";
}

/** Does the work of one stage; `say` goes before its first step. */
function* workOn({ title, start }: Stage, say: string | undefined): Task<StageReport> {
  const task = start();
  let worked = true;
  let before = say;
  let next = task.next();
  while (next.done !== true) {
    const step = before === undefined ? next.value : { ...next.value, say: before };
    const results: readonly ToolResult[] = yield step;
    before = undefined;
    worked = results.every(({ status }) => status === "done");
    next = task.next(results);
  }
  return { title, text: next.value, worked };
}
