import type { DriverEvent } from "@flint/core/ports";
import { type Item, type PlanEntry, priorityOf } from "@flint/protocol";
import { isRecord, textField } from "../fields.ts";
import { type Memory, type Step, type ToolUse, type TranslateState, takeItemId } from "./state.ts";

const STATUSES: ReadonlyMap<string, PlanEntry["status"]> = new Map([
  ["pending", "pending"],
  ["in_progress", "inProgress"],
  ["completed", "completed"],
]);

/** What a tool that keeps Claude's list of tasks did to it. */
export function tasksAfter(
  tasks: Memory["tasks"],
  { name, input }: ToolUse,
  detail: unknown,
): Memory["tasks"] {
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

/** Shows the list of tasks as the plan of the turn. The plan is one item for the whole turn. */
export function showPlan(state: TranslateState): Step {
  const entries = [...state.memory.tasks.values()];
  const text = entries.map(({ step }, index) => `${index + 1}. ${step}`).join("\n");
  const updatedPlan: DriverEvent = { type: "turn/plan/updated", explanation: "", plan: entries };
  if (state.plan !== undefined) return [{ ...state, plan: { ...state.plan, text, entries } }, [updatedPlan]];
  const [next, id] = takeItemId(state);
  const plan: Item<"plan"> = { type: "plan", id, text, entries };
  return [{ ...next, plan }, [{ type: "item/started", item: plan }, updatedPlan]];
}

function created(tasks: Memory["tasks"], input: ToolUse["input"], detail: unknown): Memory["tasks"] {
  const id = textField(isRecord(detail) ? detail.task : undefined, "id");
  const step = textField(input, "subject");
  if (id === undefined || step === undefined) return tasks;
  return new Map(tasks).set(id, { step, status: "pending" });
}

function updated(tasks: Memory["tasks"], input: ToolUse["input"]): Memory["tasks"] {
  const id = textField(input, "taskId") ?? "";
  const known = tasks.get(id);
  if (known === undefined) return tasks;
  const status = textField(input, "status") ?? "";
  const next = new Map(tasks);
  if (status === "deleted") next.delete(id);
  else
    next.set(id, {
      step: textField(input, "subject") ?? known.step,
      status: STATUSES.get(status) ?? known.status,
    });
  return next;
}

function todosOf(todos: unknown): PlanEntry[] {
  if (!Array.isArray(todos)) return [];
  return todos.map((todo: unknown) => ({
    step: textField(todo, "content") ?? "",
    status: STATUSES.get(textField(todo, "status") ?? "") ?? "pending",
    ...priorityOf(textField(todo, "priority")),
  }));
}
