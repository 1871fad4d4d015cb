import type { DriverEvent } from "@flint/core/ports";
import type { ThreadItem } from "@flint/protocol";
import { blocksOf, type ClaudeBlock, type ClaudeFrame, type ClaudeFrameOf } from "@flint/protocol/claude";
import { isRecord, textField } from "./fields.ts";
import { extension } from "./translate/extension.ts";
import {
  type FileChanges,
  type Step,
  type ToolUse,
  type TranslateState,
  takeItemId,
  withTool,
} from "./translate/state.ts";
import { systemStep } from "./translate/system.ts";
import { showPlan, tasksAfter } from "./translate/tasks.ts";
import { closeText, otherMessage, settleText, stream } from "./translate/texts.ts";
import { finishedItem, startedItem } from "./translate/tool-items.ts";
import { toolKind } from "./translate/tool-names.ts";
import { callEnded, tellHeldUsage, turnUsage } from "./translate/usage.ts";

const NO_CHANGES: FileChanges = new Map();

/**
 * One frame in, the next state and the events it means out. No I/O, no clock, no randomness: what file tools do to the
 * files is given.
 */
export function step(state: TranslateState, frame: ClaudeFrame, changes: FileChanges = NO_CHANGES): Step {
  switch (frame.type) {
    case "stream_event":
      return onStreamEvent(state, frame);
    case "assistant":
      return onAssistant(state, frame, changes);
    case "user":
      return onUser(state, frame, changes);
    case "system":
      return systemStep(state, frame);
    case "result":
      return onResult(state, frame);
    case "unknown":
      return [state, [extension(frame.name, frame.fields)]];
    // These are no part of what happens in the turn.
    case "control_request":
    case "control_response":
    case "control_cancel_request":
      return [state, []];
  }
}

/** The use of a tool that Claude was not allowed. */
export function declineTool(state: TranslateState, toolUseId: string): TranslateState {
  const tool = state.tools.get(toolUseId);
  return tool === undefined ? state : withTool(state, toolUseId, { ...tool, isDeclined: true });
}

/** A use of a tool that Claude asks about; it is shown before anybody is asked. */
export function showTool(state: TranslateState, block: ClaudeBlock, changes: FileChanges = NO_CHANGES): Step {
  return startTool(state, block, changes, undefined);
}

/** The end of a turn that Claude will not tell of any more. */
export function abandonTurn(state: TranslateState): Step {
  return tellHeldUsage(state);
}

/** The end of a turn that was worked to its end: what is still open is complete. */
export function endTurn(state: TranslateState): Step {
  let [next, events] = closeText(state);
  for (const [toolUseId, tool] of next.tools) {
    if (tool.isDone || tool.item === undefined) continue;
    const result = { content: "It gave no result.", isError: true, detail: undefined, changes: undefined };
    const item = finishedItem(tool.item, { ...result, isDeclined: tool.isDeclined });
    next = withTool(next, toolUseId, { ...tool, item, isDone: true });
    events = [...events, { type: "item/completed", item }];
  }
  if (next.plan === undefined) return [next, events];
  return [{ ...next, plan: undefined }, [...events, { type: "item/completed", item: next.plan }]];
}

/** What sub-agents stream is told when it is whole. */
function onStreamEvent(state: TranslateState, frame: ClaudeFrameOf<"stream_event">): Step {
  const { event } = frame;
  if (frame.parent_tool_use_id != null) return [state, []];
  switch (event.type) {
    case "content_block_delta":
      if (event.delta?.text !== undefined) return stream(state, "text", event.delta.text);
      return stream(state, "thinking", event.delta?.thinking ?? "");
    case "message_delta":
      if (event.usage == null) return [state, []];
      return callEnded(state, event.usage, event.delta?.stop_reason !== "tool_use");
    case "message_start":
      return startMessage(state, event.message?.id);
    case "message_stop":
      return [{ ...state, streaming: undefined }, []];
    default:
      return [state, []];
  }
}

function startMessage(state: TranslateState, messageId: string | undefined): Step {
  const [fresh, broken] = otherMessage(state, messageId);
  // A text that no whole message came for.
  const [closed, events] = closeText(fresh);
  return [{ ...closed, streaming: messageId }, [...broken, ...events]];
}

function onAssistant(state: TranslateState, frame: ClaudeFrameOf<"assistant">, changes: FileChanges): Step {
  const parent = frame.parent_tool_use_id ?? undefined;
  // What fails is told by the end of the turn, as a failure and not as an answer.
  if (frame.error != null) return [state, []];
  const [fresh, broken] =
    parent === undefined ? otherMessage(state, frame.message.id) : ([state, []] as const);
  const [next, events] = eachBlock(fresh, blocksOf(frame.message), (at, block) => {
    if (block.type === "tool_use" || block.type === "server_tool_use")
      return startTool(at, block, changes, parent);
    if (block.type.endsWith("tool_result")) return endTool(at, block, frame, changes);
    if (parent !== undefined) return tellSubAgent(at, block, parent);
    if (block.type === "text") return settleText(at, "text", block.text ?? "", frame.aborted);
    if (block.type === "thinking") return settleText(at, "thinking", block.thinking ?? "", frame.aborted);
    return [at, []];
  });
  return [next, [...broken, ...events]];
}

function onUser(state: TranslateState, frame: ClaudeFrameOf<"user">, changes: FileChanges): Step {
  if (frame.isReplay === true) return [state, []];
  return eachBlock(state, blocksOf(frame.message), (at, block) =>
    block.type === "tool_result" ? endTool(at, block, frame, changes) : [at, []],
  );
}

function onResult(state: TranslateState, frame: ClaudeFrameOf<"result">): Step {
  const [ended, events] = endTurn(state);
  const [answered, answer] = structuredAnswer(ended, frame);
  const [next, used] = turnUsage(answered, frame);
  return [next, [...events, ...answer, ...used]];
}

/** An answer that fits a schema is given with a tool, and is what Claude says in this turn all the same. */
function structuredAnswer(state: TranslateState, frame: ClaudeFrameOf<"result">): Step {
  if (frame.structured_output === undefined) return [state, []];
  const [next, id] = takeItemId(state);
  const item = { type: "agentMessage", id, text: JSON.stringify(frame.structured_output) } as const;
  const events: DriverEvent[] = [
    { type: "item/started", item: { ...item, text: "" } },
    { type: "item/agentMessage/delta", itemId: id, delta: item.text },
    { type: "item/completed", item },
  ];
  return [next, events];
}

function startTool(
  state: TranslateState,
  { id: toolUseId, name, input: given }: ClaudeBlock,
  changes: FileChanges,
  parent: string | undefined,
): Step {
  if (toolUseId === undefined || name === undefined || state.tools.has(toolUseId)) return [state, []];
  const input = isRecord(given) ? given : {};
  const [closed, before] = parent === undefined ? closeText(state) : ([state, []] as const);
  const [next, itemId] = takeItemId(closed);
  const plain = startedItem(itemId, { name, input, cwd: state.cwd, changes: changes.get(toolUseId) });
  const item = plain === undefined ? undefined : nested(plain, state, parent);
  const tool: ToolUse = { itemId, name, input, item, isDone: false, isDeclined: false };
  const started: DriverEvent[] = item === undefined ? [] : [{ type: "item/started", item }];
  return [withTool(next, toolUseId, tool), [...before, ...started]];
}

function endTool(
  state: TranslateState,
  block: ClaudeBlock,
  frame: ClaudeFrameOf<"user"> | ClaudeFrameOf<"assistant">,
  changes: FileChanges,
): Step {
  const toolUseId = block.tool_use_id ?? "";
  const tool = state.tools.get(toolUseId);
  if (tool === undefined || tool.isDone) return [state, []];
  const detail = frame.type === "user" ? frame.tool_use_result : undefined;
  const ended = withTool(state, toolUseId, { ...tool, isDone: true });
  if (toolKind(tool.name) === "plan") return planStep(ended, tool, detail);
  if (tool.item === undefined) return [ended, []];
  const { isDeclined } = tool;
  const content = detail === REJECTED ? stopped(tool.item) : block.content;
  const result = { content, isError: block.is_error === true, isDeclined, detail };
  const plain = finishedItem(tool.item, { ...result, changes: changes.get(toolUseId) });
  const item = isRecord(frame._meta) ? { ...plain, _meta: { ...frame._meta, ...plain._meta } } : plain;
  const output = item.type === "commandExecution" ? textField(item, "aggregatedOutput") : undefined;
  const completed: DriverEvent = { type: "item/completed", item };
  if (output === undefined || output === "") return [ended, [completed]];
  return [ended, [{ type: "item/commandExecution/outputDelta", itemId: item.id, delta: output }, completed]];
}

/** What Claude says of a tool that was kept from its end; what it tells the model about that is no result of the tool. */
const REJECTED = "User rejected tool use";

function stopped({ type }: ThreadItem): string {
  return type === "commandExecution" ? "" : "It was stopped.";
}

function planStep(state: TranslateState, tool: ToolUse, detail: unknown): Step {
  const tasks = tasksAfter(state.memory.tasks, tool, detail);
  if (tasks === state.memory.tasks) return [state, []];
  return showPlan({ ...state, memory: { ...state.memory, tasks } });
}

/** What a sub-agent says is not what the agent answers, so it is an item of its own kind. */
function tellSubAgent(state: TranslateState, { type, text = "" }: ClaudeBlock, parent: string): Step {
  if (type !== "text" || text === "") return [state, []];
  const [next, id] = takeItemId(state);
  const item = nested({ type: "subAgentMessage", id, text }, state, parent);
  return [
    next,
    [
      { type: "item/started", item },
      { type: "item/completed", item },
    ],
  ];
}

/** An item that belongs to a sub-agent says to which use of a tool. */
function nested<Shown extends object>(
  item: Shown,
  { tools }: TranslateState,
  parent: string | undefined,
): Shown {
  const parentItemId = parent === undefined ? undefined : tools.get(parent)?.itemId;
  return parentItemId === undefined ? item : { ...item, _meta: { parentItemId } };
}

function eachBlock(
  state: TranslateState,
  blocks: readonly ClaudeBlock[],
  one: (state: TranslateState, block: ClaudeBlock) => Step,
): Step {
  let next = state;
  const events: DriverEvent[] = [];
  for (const block of blocks) {
    const [after, told] = one(next, block);
    next = after;
    events.push(...told);
  }
  return [next, events];
}
