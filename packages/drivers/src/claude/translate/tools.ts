import {
  type FileUpdateChange,
  type Item,
  isKnownItem,
  isRecord,
  listOf,
  type PlanEntry,
  priorityOf,
  type ThreadItem,
} from "@flint/protocol";
import { objectOf, stringField } from "../../shared/json.ts";
import { updatePlan } from "../../shared/translate.ts";
import { newItemId, type ProcessMemory, type Step, type ToolUse, type TranslateState } from "./state.ts";

/** The presentation of the use of a tool. */
export type ToolKind = "command" | "file" | "mcp" | "search" | "plan" | "answer" | "other";

const KINDS: ReadonlyMap<string, ToolKind> = new Map<string, ToolKind>([
  ["Bash", "command"],
  ["Write", "file"],
  ["Edit", "file"],
  ["MultiEdit", "file"],
  ["NotebookEdit", "file"],
  ["WebSearch", "search"],
  ["TodoWrite", "plan"],
  ["TaskCreate", "plan"],
  ["TaskUpdate", "plan"],
  ["TaskList", "plan"],
  ["TaskGet", "plan"],
  // Gives the answer that matches an output schema.
  ["StructuredOutput", "answer"],
]);

/** Tools that only read files, ask the user themselves, or do nothing but what is asked about separately. */
const READ_ONLY: ReadonlySet<string> = new Set([
  ...["Task", "Agent", "Skill"],
  ...["Read", "Glob", "Grep", "LS", "NotebookRead", "ToolSearch"],
  ...["AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "TaskOutput", "BashOutput"],
]);

/** Returns the presentation of the use of a tool of this name. */
export function toolKind(name: string): ToolKind {
  return name.startsWith("mcp__") ? "mcp" : (KINDS.get(name) ?? "other");
}

/** Reports whether a tool changes nothing outside of Claude. An unknown tool may change anything. */
export function isReadOnly(name: string): boolean {
  return READ_ONLY.has(name) || isBookkeeping(name);
}

/** Reports whether a tool only records an answer or a plan, so that there is nothing to approve. */
export function isBookkeeping(name: string): boolean {
  const kind = toolKind(name);
  return kind === "plan" || kind === "answer";
}

/** The server and the tool in the name of an MCP tool. */
export function mcpNames(name: string): { readonly server: string; readonly tool: string } {
  const [, server = "", ...tool] = name.split("__");
  return { server, tool: tool.join("__") };
}

/** The use of a tool. */
export interface ToolCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly cwd: string;
  /** Its changes to the files, if they are known. */
  readonly changes: readonly FileUpdateChange[] | undefined;
}

/** The outcome of the use of a tool. */
export interface ToolResult {
  /** The model's input: a string or a list of blocks. */
  readonly content: unknown;
  readonly isError: boolean;
  readonly isDeclined: boolean;
  /** The tool's own result, of any shape. */
  readonly detail: unknown;
  /** The changes that it made to the files, if they are known. */
  readonly changes: readonly FileUpdateChange[] | undefined;
}

/** The item that shows the use of a tool; undefined for what is shown as a plan or as the answer of the turn. */
export function startedItem(id: string, call: ToolCall): ThreadItem | undefined {
  const { name, input, cwd, changes } = call;
  const status = "inProgress";
  switch (toolKind(name)) {
    case "command":
      return { type: "commandExecution", id, command: stringField(input, "command") ?? "", cwd, status };
    case "file":
      if (changes === undefined) return otherItem(id, call);
      return { type: "fileChange", id, changes: [...changes], status };
    case "mcp":
      return { type: "mcpToolCall", id, ...mcpNames(name), arguments: { ...input }, status };
    case "search":
      return { type: "webSearch", id, query: stringField(input, "query") ?? "" };
    case "plan":
    case "answer":
      return undefined;
    case "other":
      return otherItem(id, call);
  }
}

/** The same item with its result. */
export function finishedItem(item: ThreadItem, result: ToolResult): ThreadItem {
  if (!isKnownItem(item)) return item;
  switch (item.type) {
    case "commandExecution":
      return { ...item, status: statusOf(result), ...outputOf(result), ...backgroundOf(result) };
    case "fileChange": {
      const changes = result.changes === undefined ? {} : { changes: [...result.changes] };
      const output = result.isError && !result.isDeclined ? { output: contentText(result.content) } : {};
      return { ...item, status: statusOf(result), ...changes, ...output };
    }
    case "mcpToolCall":
      if (result.isError) return { ...item, status: "failed", error: contentText(result.content) };
      return { ...item, status: "completed", result: { content: result.content } };
    case "toolCall": {
      const text = subAgentText(result.detail) ?? contentText(result.content);
      return { ...item, status: statusOf(result), ...(result.isError ? { error: text } : { result: text }) };
    }
    // No tool result is shown in these.
    case "userMessage":
    case "agentMessage":
    case "subAgentMessage":
    case "hookRun":
    case "reasoning":
    case "plan":
    case "webSearch":
    case "contextCompaction":
    case "enteredReviewMode":
    case "exitedReviewMode":
    case "agentHandoff":
      return item;
  }
}

function otherItem(id: string, { name, input }: ToolCall): Item<"toolCall"> {
  const title = stringField(input, "description");
  return {
    ...{ type: "toolCall", id, tool: name, arguments: input, status: "inProgress" },
    ...(title === undefined ? {} : { title }),
    ...(SUB_AGENT_TOOLS.has(name) ? { subAgent: subAgentOf(input) } : {}),
  };
}

/** The tools that start a sub-agent. */
const SUB_AGENT_TOOLS: ReadonlySet<string> = new Set(["Task", "Agent"]);

function subAgentOf(input: ToolCall["input"]): NonNullable<Item<"toolCall">["subAgent"]> {
  const prompt = stringField(input, "prompt");
  const kind = stringField(input, "subagent_type");
  return { ...(prompt === undefined ? {} : { prompt }), ...(kind === undefined ? {} : { kind }) };
}

/** The answer of a sub-agent, without what Claude adds for the model. */
function subAgentText(detail: unknown): string | undefined {
  const { content } = objectOf(detail);
  return Array.isArray(content) ? contentText(content) : undefined;
}

/** The text of a tool's result. */
function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .map((block) => stringField(block, "text") ?? "")
    .join("\n");
}

function statusOf({ isError, isDeclined }: ToolResult): "completed" | "failed" | "declined" {
  if (isDeclined) return "declined";
  return isError ? "failed" : "completed";
}

/** A command that continues in the background has the id of Claude's task. */
function backgroundOf({ detail }: ToolResult): Pick<Item<"commandExecution">, "_meta"> {
  const background = stringField(detail, "backgroundTaskId");
  return background === undefined ? {} : { _meta: { background } };
}

type Output = Pick<Item<"commandExecution">, "aggregatedOutput" | "exitCode">;

/** Claude gives the exit code of a command only in the text, and only if it is not 0. */
function outputOf({ content, detail, isError, isDeclined }: ToolResult): Output {
  if (isDeclined) return {};
  const text = contentText(content);
  if (!isError) {
    const isBackground = stringField(detail, "backgroundTaskId") !== undefined;
    return {
      aggregatedOutput: isRecord(detail) ? bothStreams(detail) : text,
      ...(isBackground ? {} : { exitCode: 0 }),
    };
  }
  const [line, code] = /^Exit code (\d+)\n?/.exec(text) ?? [];
  if (line === undefined) return { aggregatedOutput: text };
  return { aggregatedOutput: text.slice(line.length), exitCode: Number(code) };
}

function bothStreams(detail: Readonly<Record<string, unknown>>): string {
  const written = [stringField(detail, "stdout"), stringField(detail, "stderr")];
  return written.filter((text) => text !== undefined && text !== "").join("\n");
}

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
