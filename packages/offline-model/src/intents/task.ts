import type { ModelRequest, ToolResult } from "@flint/agent/model";
import type { Toolbox, ToolUse } from "./toolbox.ts";

/** What the model does at once: text, then tool calls. */
export interface Step {
  readonly say?: string;
  readonly calls: readonly ToolUse[];
}

/**
 * The work on one request, written as it happens: each step waits for its results, and the last value is the answer.
 * It runs again from the beginning for every response of the model, so it must depend on nothing but its arguments.
 */
export type Task<Result = string> = Generator<Step, Result, readonly ToolResult[]>;

/** What a task works with. */
export interface TaskContext {
  readonly request: ModelRequest;
  readonly tools: Toolbox;
}

/** Starts the work that answers a request. */
export type Reply = (context: TaskContext) => Task;

/** Where a task stands: at its next step, after so many calls, or at its answer. */
export type Progress = { readonly step: Step; readonly callsBefore: number } | { readonly answer: string };

/** Runs a task as far as the results so far reach. */
export function advance(task: Task, results: readonly ToolResult[]): Progress {
  let callsBefore = 0;
  let next = task.next();
  while (next.done !== true) {
    const end = callsBefore + next.value.calls.length;
    if (results.length < end) return { step: next.value, callsBefore };
    next = task.next(results.slice(callsBefore, end));
    callsBefore = end;
  }
  return { answer: next.value };
}

/** Calls one tool and returns its result. */
export function* call(use: ToolUse, say?: string): Task<ToolResult> {
  const [result] = yield { calls: [use], ...(say === undefined ? {} : { say }) };
  return result ?? { status: "failed", text: "" };
}

/** Answers without calling any tool. */
// biome-ignore lint/correctness/useYield: a task need not have steps.
export function* answer(text: string): Task {
  return text;
}
