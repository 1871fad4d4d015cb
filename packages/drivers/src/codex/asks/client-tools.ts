import type { ClientTool, ToolCallResult } from "@flint/protocol";
import type { CodexDynamicTool, CodexServerResult } from "@flint/protocol/codex";

/** The tools of a client as Codex takes them when a thread begins; it keeps them with the thread. */
export function dynamicTools(tools: readonly ClientTool[]): { readonly dynamicTools?: CodexDynamicTool[] } {
  if (tools.length === 0) return {};
  const namespaces = new Map<string, ClientTool[]>();
  const alone: CodexDynamicTool[] = [];
  for (const tool of tools) {
    const { namespace } = tool;
    if (namespace === undefined) alone.push(functionOf(tool));
    else namespaces.set(namespace, [...(namespaces.get(namespace) ?? []), tool]);
  }
  const grouped = [...namespaces].map(([name, members]): CodexDynamicTool => {
    const description = `Tools of ${name}.`;
    return { type: "namespace", name, description, tools: members.map(functionOf) };
  });
  return { dynamicTools: [...alone, ...grouped] };
}

function functionOf({ name, description, inputSchema }: ClientTool) {
  return { type: "function", name, description, inputSchema } as const;
}

/** What came of a call, in Codex's words. */
export function dynamicToolResult({ success, content }: ToolCallResult): CodexServerResult<"item/tool/call"> {
  const contentItems = content.map((piece) =>
    piece.type === "text"
      ? { type: "inputText", text: piece.text }
      : { type: "inputImage", imageUrl: piece.url },
  );
  return { success, contentItems };
}
