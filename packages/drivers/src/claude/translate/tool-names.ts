/** How the use of a tool is shown. */
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
  // With this Claude gives the answer that fits a schema.
  ["StructuredOutput", "answer"],
]);

/** The tools that only look at files, ask the user by themselves, or do nothing but what is asked about in its turn. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...["Task", "Agent", "Skill"],
  ...["Read", "Glob", "Grep", "LS", "NotebookRead", "ToolSearch"],
  ...["AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "TaskOutput", "BashOutput"],
]);

/** How the use of a tool of this name is shown. */
export function toolKind(name: string): ToolKind {
  return name.startsWith("mcp__") ? "mcp" : (KINDS.get(name) ?? "other");
}

/** Whether a tool changes nothing outside of Claude. A tool that nobody knows may change anything. */
export function isHarmless(name: string): boolean {
  return HARMLESS.has(name) || isBookkeeping(name);
}

/** Whether a tool only writes down what Claude says or plans, so that there is nothing to ask about. */
export function isBookkeeping(name: string): boolean {
  const kind = toolKind(name);
  return kind === "plan" || kind === "answer";
}

/** The server and the tool in the name of a tool of an MCP server. */
export function mcpNames(name: string): { readonly server: string; readonly tool: string } {
  const [, server = "", ...tool] = name.split("__");
  return { server, tool: tool.join("__") };
}
