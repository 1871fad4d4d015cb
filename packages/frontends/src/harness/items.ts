import {
  type Decision,
  type EventData,
  type ExtensionItem,
  type FileUpdateChange,
  FlintError,
  type HarnessData,
  type HarnessDecision,
  type HarnessItem,
  type HarnessItemType,
  type Item,
  inputText,
  isId,
  isKnownItem,
  type KnownItem,
  type ThreadItem,
} from "@flint/protocol";

/** The turn that an item belongs to. */
export type TurnIds = { readonly threadId: string; readonly turnId: string };

/** An item of this wire, with data of its type. */
export function itemOf<Type extends HarnessItemType>(
  type: Type,
  { threadId, turnId, itemId }: TurnIds & { readonly itemId: string },
  data: HarnessData<Type>,
): HarnessItem {
  return { itemId, threadId, turnId, type, data };
}

/** The items that start with a Flint item: itself, and the log of a command. */
export function startedItems(turn: TurnIds, item: ThreadItem): HarnessItem[] {
  const main = mainItem(turn, item);
  return isCommand(item) ? [main, logItem(turn, item)] : [main];
}

/** The items that complete with a Flint item; the log of a command completes before it. */
export function completedItems(turn: TurnIds, item: ThreadItem): HarnessItem[] {
  const main = mainItem(turn, item);
  return isCommand(item) ? [logItem(turn, item), main] : [main];
}

/** The files that a completed change added or modified, one item each. */
export function artifacts(turn: TurnIds, item: ThreadItem): HarnessItem[] {
  if (!isKnownItem(item) || item.type !== "fileChange" || item.status !== "completed") return [];
  return item.changes.flatMap((change, index) => {
    const itemId = `${item.id}.artifact-${index + 1}`;
    return change.kind === "delete" ? [] : [artifact({ ...turn, itemId }, item.id, change, change.kind)];
  });
}

/** The item id of the log of a command. */
export function logIdOf(commandItemId: string): string {
  return `${commandItemId}.log`;
}

function isCommand(item: ThreadItem): item is Item<"commandExecution"> {
  return item.type === "commandExecution";
}

function artifact(
  at: TurnIds & { itemId: string },
  toolItemId: string,
  { path, movePath }: FileUpdateChange,
  change: "add" | "modify",
): HarnessItem {
  return itemOf("artifact", at, { toolItemId, path: movePath ?? path, change });
}

function logItem(turn: TurnIds, command: Item<"commandExecution">): HarnessItem {
  const { id, aggregatedOutput = "", omittedOutputBytes } = command;
  return itemOf(
    "tool_log",
    { ...turn, itemId: logIdOf(id) },
    {
      toolItemId: id,
      output: aggregatedOutput,
      ...(omittedOutputBytes === undefined ? {} : { omittedOutputBytes }),
    },
  );
}

/** Everything an agent does besides messages is a tool call on this wire. */
type ToolItem = Exclude<KnownItem, { type: "userMessage" | "agentMessage" | "reasoning" }>;

/** The tool names of items that do not have one. */
const TOOL_NAMES: Readonly<Record<Exclude<ToolItem, { tool: string }>["type"], string>> = {
  commandExecution: "bash",
  fileChange: "edit",
  webSearch: "web_search",
  plan: "plan",
  enteredReviewMode: "review",
  exitedReviewMode: "review",
  contextCompaction: "compact",
  agentHandoff: "handoff",
  subAgentMessage: "sub_agent",
  hookRun: "hook",
};

function mainItem(turn: TurnIds, item: ThreadItem): HarnessItem {
  const at = { ...turn, itemId: item.id };
  if (!isKnownItem(item)) return itemOf("tool_exec", at, extensionData(item));
  switch (item.type) {
    case "userMessage":
      return itemOf("user_message", at, { ...fieldsOf(item), text: inputText(item.content) });
    case "agentMessage":
      return itemOf("assistant_message", at, fieldsOf(item));
    case "reasoning": {
      const { content = "", ...fields } = fieldsOf(item);
      return itemOf("assistant_message", at, { ...fields, reasoning: content });
    }
    case "commandExecution":
      return itemOf("tool_exec", at, commandData(item));
    case "mcpToolCall":
    case "toolCall":
      return itemOf("tool_exec", at, { ...fieldsOf(item), kind: item.type });
    case "fileChange":
    case "webSearch":
    case "plan":
    case "enteredReviewMode":
    case "exitedReviewMode":
    case "contextCompaction":
    case "agentHandoff":
    case "subAgentMessage":
    case "hookRun":
      return itemOf("tool_exec", at, { ...fieldsOf(item), kind: item.type, tool: TOOL_NAMES[item.type] });
  }
}

/** Without the output, which is in the log and may be a megabyte. */
function commandData(item: Item<"commandExecution">): HarnessData<"tool_exec"> {
  const { aggregatedOutput: _output, omittedOutputBytes: _omitted, ...fields } = fieldsOf(item);
  return { ...fields, kind: item.type, tool: TOOL_NAMES[item.type], logItemId: logIdOf(item.id) };
}

/** An item of the agent's own type; if it names a tool, that is the tool's name. */
function extensionData(item: ExtensionItem): HarnessData<"tool_exec"> {
  const tool: unknown = Reflect.get(item, "tool");
  return { ...fieldsOf(item), kind: item.type, tool: typeof tool === "string" ? tool : item.type };
}

function fieldsOf<Of extends ThreadItem>(item: Of): Omit<Of, "id" | "type"> {
  const { id: _id, type: _type, ...fields } = item;
  return fields;
}

/** Not part of any id, so that a request id can be taken apart in one way only. */
const SEPARATOR = ".";

/** The id of an approval on this wire, where the answer does not name the thread. Opaque to clients. */
export function requestIdOf(threadId: string, approvalId: string): string {
  return `${threadId}${SEPARATOR}${approvalId}`;
}

/** The approval of a request id. Throws `approvalNotFound` for anything that is not one. */
export function approvalOf(requestId: string): { threadId: string; approvalId: string } {
  const [threadId = "", approvalId = "", ...rest] = requestId.split(SEPARATOR);
  if (isId(threadId) && isId(approvalId) && rest.length === 0) return { threadId, approvalId };
  throw new FlintError(
    "approvalNotFound",
    "No approval has this requestId; send it back exactly as `approval.requested` gave it.",
  );
}

/** An approval as an item, while it is open. */
export function openApproval({ threadId, approval }: EventData<"approval/requested">): HarnessItem {
  const { turnId, action } = approval;
  const requestId = requestIdOf(threadId, approval.id);
  const data = { requestId, toolItemId: action.itemId, action };
  return itemOf("approval", { threadId, turnId, itemId: requestId }, data);
}

/** An approval as an item, with its answer and who gave it. */
export function resolvedApproval(event: EventData<"approval/resolved">): HarnessItem {
  const { threadId, turnId, approvalId, itemId, resolution } = event;
  const requestId = requestIdOf(threadId, approvalId);
  const { decision, by } = resolution;
  const data = {
    requestId,
    toolItemId: itemId,
    decision: harnessDecision(decision),
    by,
    resolution: decision,
  };
  return itemOf("approval", { threadId, turnId, itemId: requestId }, data);
}

/** The nearest decision of this wire to one of Flint. */
export function harnessDecision({ outcome, scope }: Decision): HarnessDecision {
  if (outcome !== "allow") return "reject";
  return scope === "once" ? "once" : "always";
}
