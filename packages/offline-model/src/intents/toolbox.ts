import type { ToolDescription } from "@flint/agent/model";
import type { PlanEntry, UserQuestion } from "@flint/protocol";
import type { Wish } from "./flow.ts";
import { quotedWord, shellWord } from "./shell-word.ts";

/** There is no tool for something, and no other way to do it. */
export class NoToolError extends Error {
  override readonly name = "NoToolError";
}

const HIDDEN = ["node_modules", ".git"];

/** What can be done with the tools of a request: each thing with the best of them, else through the shell. */
export class Toolbox {
  readonly #tools: ReadonlyMap<string, ToolDescription>;

  constructor(tools: readonly ToolDescription[]) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  run(command: string): Wish {
    if (!this.#tools.has("shell")) throw new NoToolError(`run \`${command}\``);
    return { tool: "shell", input: { command } };
  }

  /** Shows a folder with a command that is known to only read, so that a user sees real work. */
  show(path?: string): Wish {
    if (!this.#tools.has("shell")) return this.list(path);
    return this.run(path === undefined ? "ls -p" : `ls -p -- ${shellWord(path)}`);
  }

  list(path?: string): Wish {
    const tool = this.#tools.get("list_files");
    if (tool !== undefined) {
      const input = {
        ...(path === undefined ? {} : { path }),
        ...(hasField(tool, "depth") ? { depth: 1 } : {}),
      };
      return { tool: "list_files", input };
    }
    if (!this.#tools.has("shell")) throw new NoToolError("look into the folder");
    return this.show(path);
  }

  read(path: string): Wish {
    if (this.#tools.has("read_file")) return { tool: "read_file", input: { path } };
    if (!this.#tools.has("shell")) throw new NoToolError(`read ${path}`);
    return this.run(`cat -- ${shellWord(path)}`);
  }

  find(name: string): Wish {
    if (this.#tools.has("find_files")) return { tool: "find_files", input: { pattern: pattern(name) } };
    if (!this.#tools.has("shell")) throw new NoToolError(`find ${name}`);
    const hidden = HIDDEN.map((folder) => `-name ${folder} -prune -o`).join(" ");
    const wanted = pattern(name).split("/").at(-1) ?? name;
    return this.run(`find . ${hidden} -name ${quotedWord(wanted)} -print`);
  }

  /** Looks for the text itself, not for a pattern. */
  search(text: string): Wish {
    if (this.#tools.has("search_text")) {
      const escaped = text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
      return { tool: "search_text", input: { pattern: escaped } };
    }
    if (!this.#tools.has("shell")) throw new NoToolError(`search for ${text}`);
    const hidden = HIDDEN.map((folder) => `--exclude-dir=${folder}`).join(" ");
    return this.run(`grep -rnIF ${hidden} -e ${quotedWord(text)} .`);
  }

  write(path: string, content: string): Wish {
    if (this.#tools.has("write_file")) return { tool: "write_file", input: { path, content } };
    if (!this.#tools.has("shell")) throw new NoToolError(`write ${path}`);
    return this.run(writeCommand(path, content));
  }

  /** Changes a part of a file; `whole` is what the file holds afterwards, for where only that can be written. */
  edit(path: string, oldText: string, newText: string, whole: string): Wish {
    if (!this.#tools.has("edit_file")) return this.write(path, whole);
    return { tool: "edit_file", input: { path, old_text: oldText, new_text: newText } };
  }

  /** Shows the plan, if there is a tool for that. */
  plan(explanation: string, entries: readonly PlanEntry[]): Wish | undefined {
    const tool = this.#tools.get("update_plan");
    if (tool === undefined) return undefined;
    const names = statusNames(tool.parameters);
    const plan = entries.map(({ step, status }) => ({ step, status: statusName(status, names) }));
    return { tool: "update_plan", input: { explanation, plan } };
  }

  /** Asks the user, if there is a tool for that. */
  ask(questions: readonly UserQuestion[]): Wish | undefined {
    return this.#tools.has("ask_user") ? { tool: "ask_user", input: { questions } } : undefined;
  }
}

function hasField({ parameters }: ToolDescription, name: string): boolean {
  return isObject(parameters.properties) && name in parameters.properties;
}

/** A name without wildcards is looked for anywhere in a file's name, unless it has an ending. */
function pattern(name: string): string {
  if (/[*?[{]/.test(name)) return name.includes("/") ? name : `**/${name}`;
  return name.includes(".") ? `**/${name}` : `**/*${name}*`;
}

function writeCommand(path: string, content: string): string {
  const folder = path.includes("/")
    ? `mkdir -p -- ${quotedWord(path.replace(/\/[^/]*$/, "") || "/")} && `
    : "";
  if (content === "") return `${folder}: > ${quotedWord(path)}`;
  let mark = "END_OF_FILE";
  while (content.includes(mark)) mark = `${mark}_`;
  return `${folder}cat > ${quotedWord(path)} <<'${mark}'\n${content.replace(/\n?$/, "\n")}${mark}`;
}

/** The words that the tool itself has for how a step stands, if its schema lists them. */
function statusNames(parameters: Readonly<Record<string, unknown>>): readonly string[] {
  const path = ["properties", "plan", "items", "properties", "status", "enum"];
  const found = path.reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), parameters);
  return Array.isArray(found) ? found.filter((name) => typeof name === "string") : [];
}

function statusName(status: PlanEntry["status"], names: readonly string[]): string {
  const plain = (text: string) => text.replaceAll(/[^a-z]/gi, "").toLowerCase();
  const named = (wanted: string) => names.find((name) => plain(name) === plain(wanted));
  if (names.length === 0) return status;
  return named(status) ?? (status === "failed" ? named("completed") : undefined) ?? status;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
