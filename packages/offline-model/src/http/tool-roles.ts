/** The tools that the offline model knows. */
export type FlintTool =
  | "shell"
  | "read_file"
  | "write_file"
  | "edit_file"
  | "list_files"
  | "find_files"
  | "search_text"
  | "update_plan"
  | "ask_user";

/** What other agents call a tool and its fields. Names are compared without case and punctuation. */
export interface Role {
  readonly tool: FlintTool;
  /** The likeliest first. */
  readonly names: readonly string[];
  /** A name that at least sounds like it, where the fields fit. */
  readonly sounds?: RegExp;
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** Fields that a tool may lack. */
  readonly optional?: readonly string[];
  /** A tool that takes patches does as well. */
  readonly isPatchable?: boolean;
}

const PATH = ["file_path", "path", "filePath", "filename", "file", "absolute_path", "target_file", "uri"];

/** All of Flint's tools in the words of others. */
export const ROLES: readonly Role[] = [
  {
    tool: "shell",
    names: [
      ...["shell", "bash", "execcommand", "shellcommand", "localshell", "runshellcommand", "runcommand"],
      ...["executecommand", "runterminalcmd", "runinterminal", "executebash", "terminal", "execute", "exec"],
      ...["run", "command", "cmd", "sh"],
    ],
    sounds: /shell|bash|command|terminal|exec/i,
    fields: { command: ["command", "cmd", "script", "commandLine", "command_line"] },
  },
  {
    tool: "read_file",
    names: ["readfile", "read", "viewfile", "openfile", "view", "catfile", "fsread"],
    fields: { path: PATH },
  },
  {
    tool: "write_file",
    names: ["writefile", "write", "createfile", "writetofile", "savefile", "fswrite"],
    fields: { path: PATH, content: ["content", "contents", "text", "file_text", "code", "data"] },
    isPatchable: true,
  },
  {
    tool: "edit_file",
    names: [
      "editfile",
      "edit",
      "strreplace",
      "replace",
      "searchreplace",
      "replaceinfile",
      "strreplaceeditor",
    ],
    fields: {
      path: PATH,
      old_text: ["old_text", "old_string", "old_str", "oldText", "oldString", "search"],
      new_text: ["new_text", "new_string", "new_str", "newText", "newString", "replace"],
    },
    isPatchable: true,
  },
  {
    tool: "list_files",
    names: ["listfiles", "ls", "listdirectory", "listdir", "list", "readdirectory"],
    fields: { path: ["path", "dir_path", "directory", "dir", "target_directory"] },
    optional: ["path"],
  },
  {
    tool: "find_files",
    names: ["findfiles", "glob", "globfiles", "globtool", "filesearch"],
    fields: { pattern: ["pattern", "glob_pattern", "glob", "query"] },
  },
  {
    tool: "search_text",
    names: ["searchtext", "grep", "grepfiles", "greptool", "ripgrep", "searchfilecontent", "searchfiles"],
    fields: { pattern: ["pattern", "query", "regex", "search"] },
  },
  {
    tool: "update_plan",
    names: ["updateplan", "todowrite", "writetodos", "updatetodolist", "settodos"],
    fields: { plan: ["plan", "todos", "steps", "items"] },
  },
  {
    tool: "ask_user",
    names: ["askuser", "askuserquestion", "requestuserinput", "question", "askquestions"],
    fields: { questions: ["questions"] },
  },
];
