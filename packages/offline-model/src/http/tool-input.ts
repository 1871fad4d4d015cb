import { isRecord } from "@flint/protocol";

/** The tools that the offline model calls. */
export type FlintTool = "shell" | "read_file" | "write_file" | "edit_file" | "update_plan" | "ask_user";

/** What agents call a tool and its fields, the likeliest first. */
interface ToolAliases {
  /** In lower case, without punctuation. */
  readonly names: readonly string[];
  readonly fields: Readonly<Record<string, readonly string[]>>;
}

const PATH = ["file_path", "path", "filePath", "absolute_path"];

/** Every tool of the offline model in the words of other agents. */
export const TOOL_ALIASES: Readonly<Record<FlintTool, ToolAliases>> = {
  shell: {
    names: [
      "shell",
      "bash",
      "execcommand",
      "shellcommand",
      "runshellcommand",
      "runcommand",
      "runterminalcmd",
    ],
    fields: { command: ["command", "cmd"] },
  },
  read_file: { names: ["readfile", "read", "view"], fields: { path: PATH } },
  write_file: {
    names: ["writefile", "write", "createfile"],
    fields: { path: PATH, content: ["content", "contents", "file_text"] },
  },
  edit_file: {
    names: ["editfile", "edit", "strreplace", "replace"],
    fields: {
      path: PATH,
      old_text: ["old_text", "old_string", "old_str", "oldString"],
      new_text: ["new_text", "new_string", "new_str", "newString"],
    },
  },
  update_plan: { names: ["updateplan"], fields: { plan: ["plan"], explanation: ["explanation"] } },
  ask_user: {
    names: ["askuser", "askuserquestion", "requestuserinput"],
    fields: { questions: ["questions"] },
  },
};

type Fields = Readonly<Record<string, unknown>>;

/** A file change in the patch format of Codex. An edit must consist of whole lines. */
export function patchFor(tool: string, { path, content, old_text, new_text }: Fields): string {
  const body =
    tool === "write_file"
      ? [`*** Add File: ${path}`, ...marked("+", content)]
      : [`*** Update File: ${path}`, "@@", ...marked("-", old_text), ...marked("+", new_text)];
  return ["*** Begin Patch", ...body, "*** End Patch", ""].join("\n");
}

function marked(mark: string, text: unknown): string[] {
  const lines = String(text).replace(/\n$/, "");
  return lines === "" ? [] : lines.split("\n").map((line) => `${mark}${line}`);
}

/** A program for Codex's code mode that makes one call and prints its result; `extra` goes with a command. */
export function programFor(tool: string, input: Fields, extra: Fields): string {
  if (tool !== "shell") return `await tools.apply_patch(${JSON.stringify(patchFor(tool, input))});\n`;
  const options = { cmd: input.command, yield_time_ms: 30_000, ...extra };
  const call = `await tools.exec_command(${JSON.stringify(options)})`;
  return `const done = ${call};\ntext(\`Exit code: \${done.exit_code}\\nOutput:\\n\${done.output}\`);\n`;
}

/** Questions with the fields that the schema of the request's tool has for them. */
export function questionsFor(questions: unknown, schema: unknown): readonly Fields[] {
  const fields = itemFields(schema);
  return objectsIn(questions).map(({ id, question, options }) => {
    const labels = objectsIn(options).map(({ label }) => label);
    const choices = (labels.length === 0 ? ["Yes", "No"] : labels).map((label) =>
      only({ label, description: label }, itemFields(fields.options)),
    );
    const header = String(question).replace(/\?$/, "").slice(0, 12);
    return only({ id, question, header, options: choices, multiSelect: false }, fields);
  });
}

function only(fields: Fields, known: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name in known));
}

function itemFields(list: unknown): Fields {
  const item = isRecord(list) ? list.items : undefined;
  return isRecord(item) && isRecord(item.properties) ? item.properties : {};
}

function objectsIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
