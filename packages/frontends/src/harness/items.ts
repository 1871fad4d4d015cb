import {
  type ExtensionItem,
  type FileUpdateChange,
  type HarnessData,
  type HarnessItem,
  type HarnessItemType,
  type Item,
  inputText,
  isKnownItem,
  type KnownItem,
  type ThreadItem,
} from "@flint/protocol";

/** The turn that an item belongs to. */
export type Place = { readonly threadId: string; readonly turnId: string };

/** An item of this wire, with data that fits its type. */
export function itemOf<Type extends HarnessItemType>(
  type: Type,
  { threadId, turnId, itemId }: Place & { readonly itemId: string },
  data: HarnessData<Type>,
): HarnessItem {
  return { itemId, threadId, turnId, type, data };
}

/** The items that begin with a Flint item: itself, and the log of a command. */
export function startedItems(place: Place, item: ThreadItem): HarnessItem[] {
  const main = mainItem(place, item);
  return isCommand(item) ? [main, logItem(place, item)] : [main];
}

/** The items that are final with a Flint item. Its log ends before it does; what it produced comes last. */
export function completedItems(place: Place, item: ThreadItem): HarnessItem[] {
  const main = mainItem(place, item);
  return isCommand(item) ? [logItem(place, item), main] : [main];
}

/** The files that a completed change left behind, one item each. A deleted file is no artifact. */
export function artifacts(place: Place, item: ThreadItem): HarnessItem[] {
  if (!isKnownItem(item) || item.type !== "fileChange" || item.status !== "completed") return [];
  return item.changes.flatMap((change, index) => {
    const itemId = `${item.id}.artifact-${index + 1}`;
    return change.kind === "delete" ? [] : [artifact({ ...place, itemId }, item.id, change, change.kind)];
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
  place: Place & { itemId: string },
  toolItemId: string,
  { path, movePath }: FileUpdateChange,
  change: "add" | "modify",
): HarnessItem {
  return itemOf("artifact", place, { toolItemId, path: movePath ?? path, change });
}

function logItem(place: Place, command: Item<"commandExecution">): HarnessItem {
  const { id, aggregatedOutput = "", omittedOutputBytes } = command;
  return itemOf(
    "tool_log",
    { ...place, itemId: logIdOf(id) },
    {
      toolItemId: id,
      output: aggregatedOutput,
      ...(omittedOutputBytes === undefined ? {} : { omittedOutputBytes }),
    },
  );
}

/** Everything an agent does beside talking is the use of a tool on this wire. */
type ToolItem = Exclude<KnownItem, { type: "userMessage" | "agentMessage" | "reasoning" }>;

/** What the tools are called whose items do not name one. */
const TOOL_NAMES: Readonly<Record<Exclude<ToolItem, { tool: string }>["type"], string>> = {
  commandExecution: "bash",
  fileChange: "edit",
  webSearch: "web_search",
  plan: "plan",
  enteredReviewMode: "review",
  exitedReviewMode: "review",
  contextCompaction: "compact",
  agentHandoff: "handoff",
};

function mainItem(place: Place, item: ThreadItem): HarnessItem {
  const at = { ...place, itemId: item.id };
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
      return itemOf("tool_exec", at, { ...fieldsOf(item), kind: item.type, tool: TOOL_NAMES[item.type] });
  }
}

/** The output stays out: it is with the log, and may be a megabyte. */
function commandData(item: Item<"commandExecution">): HarnessData<"tool_exec"> {
  const { aggregatedOutput: _output, omittedOutputBytes: _omitted, ...fields } = fieldsOf(item);
  return { ...fields, kind: item.type, tool: TOOL_NAMES[item.type], logItemId: logIdOf(item.id) };
}

/** An item that only the agent knows; if it names a tool itself, that is the better name. */
function extensionData(item: ExtensionItem): HarnessData<"tool_exec"> {
  const tool: unknown = Reflect.get(item, "tool");
  return { ...fieldsOf(item), kind: item.type, tool: typeof tool === "string" ? tool : item.type };
}

function fieldsOf<Of extends ThreadItem>(item: Of): Omit<Of, "id" | "type"> {
  const { id: _id, type: _type, ...fields } = item;
  return fields;
}
