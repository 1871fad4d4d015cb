import {
  type ClientTool,
  type EventData,
  failedToolCall,
  type ToolCallResult,
  type ToolContent,
} from "@flint/protocol";
import { CODEX_SERVER_REQUESTS, type CodexDynamicTool, type CodexServerParams } from "@flint/protocol/codex";
import type { CoreCall } from "../../shared/core-calls.ts";
import { type CodexAsk, requestTo } from "./approvals.ts";

/**
 * The namespace of the tools of Codex's own TUI. They control its screen and its threads; whether they work with the
 * threads of another server is not known, so no agent is offered them (0.166.0, November 2026).
 */
const TUI_TOOLS = "codex_tui";

/** The tools that a client offers, those of a namespace one by one. */
export function readClientTools(offered: readonly CodexDynamicTool[] | null | undefined): {
  tools?: ClientTool[];
} {
  if (offered === undefined || offered === null) return {};
  return { tools: offered.flatMap(clientTools) };
}

function clientTools(offered: CodexDynamicTool): ClientTool[] {
  if (!("tools" in offered)) return [clientTool(offered, offered.namespace ?? undefined)];
  if (offered.name === TUI_TOOLS) return [];
  return offered.tools.map((tool) => clientTool(tool, offered.name));
}

function clientTool(
  { name, description, inputSchema }: Omit<ClientTool, "namespace">,
  namespace: string | undefined,
): ClientTool {
  return { name, description, inputSchema, ...(namespace === undefined ? {} : { namespace }) };
}

/** A call of a client's tool. */
export function toolCallAsk(data: EventData<"tool/requested">): CodexAsk {
  const { threadId, request } = data;
  const respond = (result: ToolCallResult): CoreCall => ({
    method: "tool/respond",
    params: { threadId, callId: request.id, result },
  });
  return {
    kind: "ask",
    key: request.id,
    threadId,
    ...requestTo("item/tool/call", toolCallParams(data)),
    answered: (answer) => respond(toolCallResult(answer)),
    refused: (message) => respond(failedToolCall(message)),
  };
}

/** The params of a call; its id is that of its item. */
function toolCallParams({
  threadId,
  request,
}: EventData<"tool/requested">): CodexServerParams<"item/tool/call"> {
  const { turnId, itemId, tool, namespace } = request;
  const given = request.arguments ?? {};
  return { threadId, turnId, callId: itemId, namespace: namespace ?? null, tool, arguments: given };
}

/** The result of a call. An answer that is not one is a failure. */
function toolCallResult(answer: unknown): ToolCallResult {
  const read = CODEX_SERVER_REQUESTS["item/tool/call"].result.safeParse(answer);
  if (!read.success) return failedToolCall("The client answered with something that is not a tool result.");
  const { success, contentItems } = read.data;
  return { success, content: contentItems.map(contentOf) };
}

function contentOf(piece: unknown): ToolContent {
  const { type, text, imageUrl } = Object(piece);
  if (type === "inputText" && typeof text === "string") return { type: "text", text };
  if (type === "inputImage" && typeof imageUrl === "string") return { type: "image", url: imageUrl };
  return { type: "text", text: `The tool returned something that cannot be shown: ${String(type)}.` };
}
