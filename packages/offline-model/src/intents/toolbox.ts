import type { ToolDescription } from "@flint/agent/model";
import { shellQuote, singleQuote } from "@flint/core/text";
import type { PlanEntry, UserQuestion } from "@flint/protocol";
import type { TextEdit } from "./file-text.ts";

/** A tool call that has no id yet. */
export interface ToolUse {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** No tool of the request can do what the work needs. */
export class NoToolError extends Error {
  override readonly name = "NoToolError";
}

/** What can be done with the tools of a request: files with the tools made for them, everything else through the shell. */
export class Toolbox {
  readonly #tools: ReadonlyMap<string, ToolDescription>;

  constructor(tools: readonly ToolDescription[]) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  run(command: string, goal = `run \`${command}\``): ToolUse {
    if (!this.#tools.has("shell")) throw new NoToolError(goal);
    return { tool: "shell", input: { command } };
  }

  list(path?: string): ToolUse {
    return this.run(path === undefined ? "ls -p" : `ls -p -- ${shellQuote(path)}`, "look into the folder");
  }

  /** A name without wildcards matches anywhere in a file's name, unless it has an extension. */
  find(name: string): ToolUse {
    const glob = /[*?[.]/.test(name) ? name : `*${name}*`;
    const skipped = "-name node_modules -prune -o -name .git -prune -o";
    return this.run(`find . ${skipped} -name ${singleQuote(glob)} -print`, `find ${name}`);
  }

  /** Searches for the literal text, not for a pattern. */
  search(text: string): ToolUse {
    const skipped = "--exclude-dir=node_modules --exclude-dir=.git";
    return this.run(`grep -rnIF ${skipped} -e ${singleQuote(text)} .`, `search for ${text}`);
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
  let mark = "END_OF_FILE";
  while (content.includes(mark)) mark = `${mark}_`;
  return `${before}cat > ${singleQuote(path)} <<'${mark}'\n${content.replace(/\n?$/, "\n")}${mark}`;
}
