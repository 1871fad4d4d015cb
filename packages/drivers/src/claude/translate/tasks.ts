import { type PlanEntry, priorityOf } from "@flint/protocol";
import { listOf, objectOf, stringField } from "../../shared/json.ts";
import { updatePlan } from "../../shared/streamed-items.ts";
import { newItemId, type ProcessMemory, type Step, type ToolUse, type TranslateState } from "./state.ts";

type Tasks = ProcessMemory["tasks"];

const STATUSES: ReadonlyMap<string, PlanEntry["status"]> = new Map([
  ["pending", "pending"],
  ["in_progress", "inProgress"],
  ["completed", "completed"],
]);

/** The end of a tool that changes Claude's list of tasks. The list is shown as the plan of the turn. */
export function taskToolEnded(state: TranslateState, tool: ToolUse, detail: unknown): Step {
  const tasks = tasksAfter(state.memory.tasks, tool, detail);
  if (tasks === state.memory.tasks) return [state, []];
  const [next, id] = state.plan === undefined ? newItemId(state) : [state, state.plan.id];
  const [plan, events] = updatePlan(state.plan, id, [...tasks.values()]);
  return [{ ...next, plan, memory: { ...state.memory, tasks } }, events];
}

/** The list of tasks after a tool changed it; the same list if it did not. */
export function tasksAfter(tasks: Tasks, { name, input }: ToolUse, detail: unknown): Tasks {
  switch (name) {
    case "TodoWrite":
      return new Map(todosOf(input.todos).map((todo, index) => [String(index + 1), todo]));
    case "TaskCreate":
      return created(tasks, input, detail);
    case "TaskUpdate":
      return updated(tasks, input);
    default:
      return tasks;
  }
}

function created(tasks: Tasks, input: ToolUse["input"], detail: unknown): Tasks {
  const id = stringField(objectOf(detail).task, "id");
  const step = stringField(input, "subject");
  if (id === undefined || step === undefined) return tasks;
  return new Map(tasks).set(id, { step, status: "pending" });
}

function updated(tasks: Tasks, input: ToolUse["input"]): Tasks {
  const id = stringField(input, "taskId") ?? "";
  const known = tasks.get(id);
  if (known === undefined) return tasks;
  const status = stringField(input, "status") ?? "";
  const next = new Map(tasks);
  if (status === "deleted") next.delete(id);
  else
    next.set(id, {
      step: stringField(input, "subject") ?? known.step,
      status: STATUSES.get(status) ?? known.status,
    });
  return next;
}

function todosOf(todos: unknown): PlanEntry[] {
  return listOf(todos).map((todo) => ({
    step: stringField(todo, "content") ?? "",
    status: STATUSES.get(stringField(todo, "status") ?? "") ?? "pending",
    ...priorityOf(stringField(todo, "priority")),
  }));
}
