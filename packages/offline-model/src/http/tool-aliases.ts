/** The tools that the offline model calls. */
export type FlintTool = "shell" | "read_file" | "write_file" | "edit_file" | "update_plan" | "ask_user";

/** What agents call a tool and its fields, the likeliest first. */
export interface ToolAliases {
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
