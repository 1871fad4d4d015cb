import type { ModelRequest, ToolDescription, ToolResult } from "@flint/agent/model";
import { shellQuote, singleQuote } from "@flint/core/text";
import type { PlanEntry, UserQuestion } from "@flint/protocol";
import type { TextEdit } from "./files.ts";

/** A tool call that has no id yet. */
export interface ToolUse {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/**
 * The work on one request: each step waits for its results, and the last value is the answer. It runs again from the
 * beginning for every response of the model, so it must depend on nothing but its arguments.
 */
export type Task<Result = string> = Generator<readonly ToolUse[], Result, readonly ToolResult[]>;

/** Dependencies of a task. */
export interface TaskContext {
  readonly request: ModelRequest;
  readonly tools: Toolbox;
}

/** Starts the work that answers a request. */
export type Reply = (context: TaskContext) => Task;

/** The next calls of a task, after so many others, or its answer. */
export type Progress =
  | { readonly calls: readonly ToolUse[]; readonly callsBefore: number }
  | { readonly answer: string };

/** Runs a task as far as the results so far reach. */
export function advance(task: Task, results: readonly ToolResult[]): Progress {
  let callsBefore = 0;
  let next = task.next();
  while (next.done !== true) {
    const end = callsBefore + next.value.length;
    if (results.length < end) return { calls: next.value, callsBefore };
    next = task.next(results.slice(callsBefore, end));
    callsBefore = end;
  }
  return { answer: next.value };
}

/** Calls one tool and returns its result. */
export function* call(use: ToolUse): Task<ToolResult> {
  const [result] = yield [use];
  return result ?? { status: "failed", text: "" };
}

/** Answers without calling any tool. */
// biome-ignore lint/correctness/useYield: a task need not have steps.
export function* answer(text: string): Task {
  return text;
}

/** No tool of the request can do what the work needs. */
export class NoToolError extends Error {
  override readonly name = "NoToolError";
}

/** The tools of a request by what they do: files with the tools made for them, everything else through the shell. */
export class Toolbox {
  readonly #tools: ReadonlyMap<string, ToolDescription>;

  constructor(tools: readonly ToolDescription[]) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  run(command: string, goal = `run \`${command}\``): ToolUse {
    if (!this.#tools.has("shell")) throw new NoToolError(goal);
    return { tool: "shell", input: { command } };
  }

  /** Runs it while the model does other things, if the tool can do that. */
  runInBackground(command: string): ToolUse {
    const { tool, input } = this.run(command);
    return { tool, input: { ...input, background: true } };
  }

  list(path?: string): ToolUse {
    return this.run(path === undefined ? "ls -p" : `ls -p -- ${shellQuote(path)}`, "look into the folder");
  }

  read(path: string): ToolUse {
    if (this.#tools.has("read_file")) return { tool: "read_file", input: { path } };
    return this.run(`cat -- ${shellQuote(path)}`, `read ${path}`);
  }

  write(path: string, content: string): ToolUse {
    if (this.#tools.has("write_file")) return { tool: "write_file", input: { path, content } };
    return this.run(writeCommand(path, content), `write ${path}`);
  }

  edit(path: string, { oldText, newText, whole }: TextEdit): ToolUse {
    if (!this.#tools.has("edit_file")) return this.write(path, whole);
    return { tool: "edit_file", input: { path, old_text: oldText, new_text: newText } };
  }

  /** Shows the plan; undefined if there is no tool for that. */
  plan(explanation: string, entries: readonly PlanEntry[]): ToolUse | undefined {
    const tool = this.#tools.get("update_plan");
    if (tool === undefined) return undefined;
    // Codex writes these as in_progress, and has no word for a step that failed.
    const isSnakeCase = JSON.stringify(tool.parameters).includes("in_progress");
    const plan = isSnakeCase
      ? entries.map((entry) => ({ ...entry, status: CODEX_STATUS[entry.status] }))
      : entries;
    return { tool: "update_plan", input: { explanation, plan } };
  }

  /** Asks the user; undefined if there is no tool for that. */
  ask(questions: readonly UserQuestion[]): ToolUse | undefined {
    return this.#tools.has("ask_user") ? { tool: "ask_user", input: { questions } } : undefined;
  }
}

const CODEX_STATUS: Readonly<Record<PlanEntry["status"], string>> = {
  pending: "pending",
  inProgress: "in_progress",
  completed: "completed",
  failed: "completed",
};

function writeCommand(path: string, content: string): string {
  const folder = /^(.*)\/[^/]*$/.exec(path)?.[1];
  const before = folder === undefined ? "" : `mkdir -p -- ${singleQuote(folder || "/")} && `;
  if (content === "") return `${before}: > ${singleQuote(path)}`;
  let delimiter = "END_OF_FILE";
  while (content.includes(delimiter)) delimiter = `${delimiter}_`;
  return `${before}cat > ${singleQuote(path)} <<'${delimiter}'\n${content.replace(/\n?$/, "\n")}${delimiter}`;
}
