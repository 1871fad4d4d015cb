import type { ToolResult } from "@flint/agent/model";
import { reviewCommands } from "@flint/agent/review-commands";
import type { PlanEntry } from "@flint/protocol";
import {
  count,
  describeListing,
  describeReview,
  describeRun,
  describeText,
  failure,
} from "./descriptions.ts";
import { fileText, replaceIn } from "./files.ts";
import { call, type Task, type TaskContext, type Toolbox } from "./task.ts";

/** Lists a folder. */
export function* list(path: string | undefined, { tools }: TaskContext): Task {
  return describeListing(yield* call(tools.list(path)), path);
}

/** Runs a command. */
export function* run(command: string, { tools }: TaskContext): Task {
  return describeRun(command, yield* call(tools.run(command)));
}

/** Starts a command that continues while the agent does other things. */
export function* runInBackground(command: string, { tools }: TaskContext): Task {
  const result = yield* call(tools.runInBackground(command));
  if (result.status !== "done") return failure(`start \`${command}\``, result);
  return `I started \`${command}\` in the background.`;
}

/** Describes a file. */
export function* explain(path: string, { tools }: TaskContext): Task {
  const result = yield* call(tools.read(path));
  return result.status === "done" ? describeText(path, fileText(result)) : failure(`read ${path}`, result);
}

/** Writes a whole file. */
export function* write(path: string, content: string, { tools }: TaskContext): Task {
  const result = yield* call(tools.write(path, content));
  if (result.status !== "done") return failure(`write ${path}`, result);
  return `Done: ${result.text.trim() || `wrote ${path}.`}`;
}

/** Replaces a text everywhere in a file. */
export function* replace(path: string, from: string, to: string, { tools }: TaskContext): Task {
  const read = yield* call(tools.read(path));
  if (read.status !== "done") return failure(`read ${path}`, read);
  const edit = replaceIn(fileText(read), from, to);
  if (edit === undefined) return `I changed nothing: ${path} does not contain \`${from}\`.`;
  const result = yield* call(tools.edit(path, edit));
  if (result.status !== "done") return failure(`change ${path}`, result);
  return `I replaced \`${from}\` with \`${to}\` in ${path} (${count(edit.occurrences, "place")}).`;
}

/** Asks the user. Without a tool to ask with, the question is the answer. */
export function* ask(question: string, options: readonly string[], { tools }: TaskContext): Task {
  const choices = options.length === 0 ? {} : { options: options.map((label) => ({ label })) };
  const use = tools.ask([{ id: "answer", question, ...choices }]);
  if (use === undefined) return [question, options.join(", ")].join(" ").trim();
  const result = yield* call(use);
  return result.status === "done" ? `You answered: ${result.text}` : "No one answered, so I stop here.";
}

/** Shows the changes with git, one command after the other, then describes what they touch. */
export function* review({ request, tools }: TaskContext): Task {
  const results = [];
  for (const command of reviewCommands(request.review)) {
    const result = yield* call(tools.run(command));
    results.push(result);
    if (result.status !== "done") break;
  }
  return describeReview(results);
}

/** One step of a plan, and its work, which starts when the steps before it are done. */
export interface Stage {
  readonly title: string;
  start(): Task;
}

interface StageReport {
  readonly title: string;
  readonly text: string;
  readonly succeeded: boolean;
}

/** Works through a plan that the user can see, and reports how each step ended. `end` closes the answer. */
export function* plan(stages: readonly Stage[], { tools }: TaskContext, end?: string): Task {
  const reports: StageReport[] = [];
  for (const stage of stages) {
    yield* showPlan(stages, reports, tools);
    reports.push(yield* workOn(stage));
  }
  yield* showPlan(stages, reports, tools);
  return [
    reports.every(({ succeeded }) => succeeded)
      ? "The plan is done."
      : "The plan is done, but some steps did not succeed.",
    ...reports.map(({ title, text }, index) => `${index + 1}. ${title}: ${text}`),
    ...(end === undefined ? [] : [end]),
  ].join("\n\n");
}

/** Updates the plan that the user sees, if there is a tool for that. */
function* showPlan(stages: readonly Stage[], reports: readonly StageReport[], tools: Toolbox): Task<void> {
  const entries = stages.map(({ title }, index) => ({ step: title, status: statusOf(index, reports) }));
  const use = tools.plan(`${reports.length} of ${stages.length} steps done.`, entries);
  if (use !== undefined) yield [use];
}

function statusOf(index: number, reports: readonly StageReport[]): PlanEntry["status"] {
  const report = reports[index];
  if (report !== undefined) return report.succeeded ? "completed" : "failed";
  return index === reports.length ? "inProgress" : "pending";
}

function* workOn({ title, start }: Stage): Task<StageReport> {
  const task = start();
  let succeeded = true;
  let next = task.next();
  while (next.done !== true) {
    const results: readonly ToolResult[] = yield next.value;
    succeeded = results.every(({ status }) => status === "done");
    next = task.next(results);
  }
  return { title, text: next.value, succeeded };
}
