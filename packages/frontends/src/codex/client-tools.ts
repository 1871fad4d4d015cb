import {
  type ClientTool,
  type EventData,
  failedToolCall,
  type ToolCallResult,
  type ToolContent,
} from "@flint/protocol";
import { CODEX_SERVER_REQUESTS, type CodexDynamicTool, type CodexServerParams } from "@flint/protocol/codex";

/**
 * The tools of the terminal of Codex itself. They steer its own screen and its own threads; whether they do so with the
 * threads of another server is not known, so no agent is offered them (0.166.0, November 2026).
 */
const OWN_OF_THE_TERMINAL = "codex_tui";

/** The tools that a client of Codex offers, those of a namespace one by one. */
export function toolsOffered(offered: readonly CodexDynamicTool[] | null | undefined): {
  tools?: ClientTool[];
} {
  if (offered === undefined || offered === null) return {};
  return { tools: offered.flatMap(clientTools) };
}

function clientTools(offered: CodexDynamicTool): ClientTool[] {
  if (!("tools" in offered)) return [clientTool(offered, offered.namespace ?? undefined)];
  if (offered.name === OWN_OF_THE_TERMINAL) return [];
  return offered.tools.map((tool) => clientTool(tool, offered.name));
}

function clientTool(
  { name, description, inputSchema }: Omit<ClientTool, "namespace">,
  namespace: string | undefined,
): ClientTool {
  return { name, description, inputSchema, ...(namespace === undefined ? {} : { namespace }) };
}

/** A call as Codex makes it: it has the id of its item. */
export function toolCallParams({
  threadId,
  request,
}: EventData<"tool/requested">): CodexServerParams<"item/tool/call"> {
  const { turnId, itemId, tool, namespace } = request;
  const given = request.arguments ?? {};
  return { threadId, turnId, callId: itemId, namespace: namespace ?? null, tool, arguments: given };
}

/** What a client says came of a call. What it says in other words has failed. */
export function toolCallResult(answer: unknown): ToolCallResult {
  const read = CODEX_SERVER_REQUESTS["item/tool/call"].result.safeParse(answer);
  if (!read.success) return failedToolCall("The client answered with something that is no result of a tool.");
  const { success, contentItems } = read.data;
  return { success, content: contentItems.map(contentOf) };
}

function contentOf(piece: unknown): ToolContent {
  const { type, text, imageUrl } = Object(piece);
  if (type === "inputText" && typeof text === "string") return { type: "text", text };
  if (type === "inputImage" && typeof imageUrl === "string") return { type: "image", url: imageUrl };
  return { type: "text", text: `The tool gave something that cannot be shown: ${String(type)}.` };
}
