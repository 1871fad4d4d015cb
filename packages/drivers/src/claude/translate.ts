import type { DriverEvent } from "@flint/core/ports";
import { type FileUpdateChange, isRecord, type ThreadItem } from "@flint/protocol";
import { blocksOf, type ClaudeBlock, type ClaudeFrame, type ClaudeFrameOf } from "@flint/protocol/claude";
import { objectOf, stringField } from "../shared/json.ts";
import { completeText, streamText } from "../shared/translate.ts";
import { creditLimitOf, limitsOf } from "./translate/limits.ts";
import { emitDeferredUsage, modelCallCompleted, subAgentCall, turnUsage } from "./translate/result.ts";
import {
  type FileChanges,
  newItemId,
  type Step,
  type ToolUse,
  type TranslateState,
  withoutText,
  withStream,
  withTool,
} from "./translate/state.ts";
import { beginInput, streamInput } from "./translate/streamed-file.ts";
import { extension, systemStep } from "./translate/system.ts";
import { finishedItem, startedItem, taskToolEnded, toolKind } from "./translate/tools.ts";

const NO_CHANGES: FileChanges = new Map();

/**
 * Translates one frame: the next state, and the events to emit. No I/O, no clock, no randomness: what file tools do to
 * the files is given.
 */
export function step(state: TranslateState, frame: ClaudeFrame, changes: FileChanges = NO_CHANGES): Step {
  switch (frame.type) {
    case "stream_event":
      return onStreamEvent(state, frame);
    case "assistant":
      return withCreditLimit(frame, onAssistant(state, frame, changes));
    case "user":
      return onUser(state, frame, changes);
    case "system":
      return systemStep(state, frame);
    case "result":
      return onResult(state, frame);
    case "rate_limit_event":
      return [state, limitEvents(frame)];
    case "unknown":
      return [state, [extension(frame.name, frame.fields)]];
    // These are not part of the conversation.
    case "control_request":
    case "control_response":
    case "control_cancel_request":
      return [state, []];
  }
}

/** A message that fails for lack of credit names no limit of its own. */
function withCreditLimit({ error }: ClaudeFrameOf<"assistant">, [state, events]: Step): Step {
  const limits = creditLimitOf(error ?? undefined);
  return [state, limits.length === 0 ? events : [{ type: "limits", limits }, ...events]];
}

function limitEvents(frame: ClaudeFrameOf<"rate_limit_event">): readonly DriverEvent[] {
  const limits = limitsOf(frame.rate_limit_info);
  const reported = extension(frame.type, frame);
  return limits.length === 0 ? [reported] : [{ type: "limits", limits }, reported];
}

/** Marks the use of a tool that was not approved. */
export function declineTool(state: TranslateState, toolUseId: string): TranslateState {
  const tool = state.tools.get(toolUseId);
  return tool === undefined ? state : withTool(state, toolUseId, { ...tool, isDeclined: true });
}

/** Shows the use of a tool that Claude requests approval for, before the user is asked. */
export function showTool(state: TranslateState, block: ClaudeBlock, changes: FileChanges = NO_CHANGES): Step {
  return startTool(state, block, changes, undefined);
}

/** Ends a turn of which Claude will not report the end. */
export function abandonTurn(state: TranslateState): Step {
  return emitDeferredUsage(state);
}

/** Sub-agents are shown and counted by their complete messages. */
function onStreamEvent(state: TranslateState, frame: ClaudeFrameOf<"stream_event">): Step {
  const { event } = frame;
  if (frame.parent_tool_use_id != null) return [state, []];
  switch (event.type) {
    case "content_block_start":
      return [beginInput(state, event.content_block ?? { type: "" }), []];
    case "content_block_delta": {
      const { text, thinking = "", partial_json: json } = event.delta ?? {};
      if (json !== undefined) return streamInput(state, json);
      if (text !== undefined) return withStream(state, streamText(state.stream, "message", text));
      return withStream(state, streamText(state.stream, "reasoning", thinking));
    }
    case "message_delta":
      if (event.usage == null) return [state, []];
      return modelCallCompleted(state, event.usage, event.delta?.stop_reason !== "tool_use");
    case "message_start":
      return startMessage(state, event.message?.id);
    case "message_stop":
      return [{ ...state, streaming: undefined }, []];
    default:
      return [state, []];
  }
}

function startMessage(state: TranslateState, messageId: string | undefined): Step {
  const [fresh, broken] = abandonOtherMessage(state, messageId);
  // A text whose complete message never came.
  const [closed, events] = withoutText(fresh);
  return [{ ...closed, streaming: messageId }, [...broken, ...events]];
}

const STREAM_BROKE_OFF = {
  message: "The answer of the model broke off. Claude tries again.",
  errorInfo: "InternalServerError",
};

/** Ends the message that is being streamed if this is another one: the stream broke off, and Claude tries again. */
function abandonOtherMessage(state: TranslateState, messageId: string | undefined): Step {
  if (state.streaming === undefined || state.streaming === messageId) return [state, []];
  const [closed, events] = withoutText({ ...state, streaming: undefined }, true);
  return [closed, [...events, { type: "error", error: STREAM_BROKE_OFF, willRetry: true }]];
}

function onAssistant(state: TranslateState, frame: ClaudeFrameOf<"assistant">, changes: FileChanges): Step {
  const parent = frame.parent_tool_use_id ?? undefined;
  // A failure is reported by the end of the turn, and not shown as an answer.
  if (frame.error != null) return [state, []];
  const [fresh, before] =
    parent === undefined
      ? abandonOtherMessage(state, frame.message.id)
      : subAgentCall(state, frame, state.tools.get(parent)?.itemId ?? parent);
  const [next, events] = eachBlock(fresh, blocksOf(frame.message), (at, block) => {
    if (block.type === "tool_use" || block.type === "server_tool_use")
      return startTool(at, block, changes, parent);
    if (block.type.endsWith("tool_result")) return endTool(at, block, frame, changes);
    if (parent !== undefined) return subAgentMessage(at, block, parent);
    const { text = "", thinking = "" } = block;
    if (block.type === "text") return withStream(at, completeText(at.stream, "message", text, frame.aborted));
    if (block.type === "thinking")
      return withStream(at, completeText(at.stream, "reasoning", thinking, frame.aborted));
    return [at, []];
  });
  return [next, [...before, ...events]];
}

function onUser(state: TranslateState, frame: ClaudeFrameOf<"user">, changes: FileChanges): Step {
  if (frame.isReplay === true) return [state, []];
  return eachBlock(state, blocksOf(frame.message), (at, block) =>
    block.type === "tool_result" ? endTool(at, block, frame, changes) : [at, []],
  );
}

function onResult(state: TranslateState, frame: ClaudeFrameOf<"result">): Step {
  const [ended, events] = completeOpenItems(state);
  const [answered, answer] = structuredAnswer(ended, frame);
  const [next, usage] = turnUsage(answered, frame);
  return [next, [...events, ...answer, ...usage]];
}

/** Completes what is still open at the end of a turn. */
function completeOpenItems(state: TranslateState): Step {
  let [next, events] = withoutText(state);
  for (const [toolUseId, tool] of next.tools) {
    if (tool.isDone || tool.item === undefined) continue;
    const result = { content: "It gave no result.", isError: true, detail: undefined, changes: undefined };
    const item = finishedItem(tool.item, { ...result, isDeclined: tool.isDeclined });
    next = withTool(next, toolUseId, { ...tool, item, isDone: true });
    events = [...events, { type: "item/completed", item }];
  }
  for (const item of next.hooks.values())
    events = [...events, { type: "item/completed", item: { ...item, status: "failed" } }];
  next = { ...next, hooks: new Map() };
  if (next.plan === undefined) return [next, events];
  return [{ ...next, plan: undefined }, [...events, { type: "item/completed", item: next.plan }]];
}

/** An answer that matches a schema comes by a tool, and is the message of the turn all the same. */
function structuredAnswer(state: TranslateState, frame: ClaudeFrameOf<"result">): Step {
  if (frame.structured_output === undefined) return [state, []];
  const text = JSON.stringify(frame.structured_output);
  return withStream(state, completeText(state.stream, "message", text));
}

function startTool(
  state: TranslateState,
  { id: toolUseId, name, input: given }: ClaudeBlock,
  changes: FileChanges,
  parent: string | undefined,
): Step {
  if (toolUseId === undefined || name === undefined) return [state, []];
  const input = objectOf(given);
  const known = state.tools.get(toolUseId);
  if (known?.isStreaming === true)
    return completeInput(state, toolUseId, known, input, changes.get(toolUseId));
  if (known !== undefined) return [state, []];
  const [closed, before] = parent === undefined ? withoutText(state) : ([state, []] as const);
  const [next, itemId] = newItemId(closed);
  const plain = startedItem(itemId, { name, input, cwd: state.cwd, changes: changes.get(toolUseId) });
  const item = plain === undefined ? undefined : nested(plain, state, parent);
  const tool: ToolUse = { itemId, name, input, item, isDone: false, isDeclined: false };
  const started: DriverEvent[] = item === undefined ? [] : [{ type: "item/started", item }];
  return [withTool(next, toolUseId, tool), [...before, ...started]];
}

/** The input of a file tool whose item has started is complete: its changes are known now. */
function completeInput(
  state: TranslateState,
  toolUseId: string,
  streamed: ToolUse,
  input: ToolUse["input"],
  changes: readonly FileUpdateChange[] | undefined,
): Step {
  const { itemId, item, name } = streamed;
  const { isStreaming: _streaming, ...known } = streamed;
  if (changes === undefined) return [withTool(state, toolUseId, { ...known, input }), []];
  const whole = startedItem(itemId, { name, input, cwd: state.cwd, changes }) ?? item;
  const updated = { type: "item/fileChange/patchUpdated", itemId, changes } as const;
  return [withTool(state, toolUseId, { ...known, input, item: whole }), [updated]];
}

/** The tool's own result if the tool was stopped; the text for the model is not a result of the tool then. */
const REJECTED = "User rejected tool use";

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
  if (toolKind(tool.name) === "plan") return taskToolEnded(ended, tool, detail);
  if (tool.item === undefined) return [ended, []];
  const { isDeclined } = tool;
  const content = detail === REJECTED ? stoppedText(tool.item) : block.content;
  const result = { content, isError: block.is_error === true, isDeclined, detail };
  const plain = finishedItem(tool.item, { ...result, changes: changes.get(toolUseId) });
  const item = isRecord(frame._meta) ? { ...plain, _meta: { ...frame._meta, ...plain._meta } } : plain;
  const output = item.type === "commandExecution" ? stringField(item, "aggregatedOutput") : undefined;
  const completed: DriverEvent = { type: "item/completed", item };
  if (output === undefined || output === "") return [ended, [completed]];
  return [ended, [{ type: "item/commandExecution/outputDelta", itemId: item.id, delta: output }, completed]];
}

function stoppedText({ type }: ThreadItem): string {
  return type === "commandExecution" ? "" : "It was stopped.";
}

/** A sub-agent's message is not the agent's answer, so it is an item of another type. */
function subAgentMessage(state: TranslateState, { type, text = "" }: ClaudeBlock, parent: string): Step {
  if (type !== "text" || text === "") return [state, []];
  const [next, id] = newItemId(state);
  const item = nested({ type: "subAgentMessage", id, text }, state, parent);
  return [
    next,
    [
      { type: "item/started", item },
      { type: "item/completed", item },
    ],
  ];
}

/** An item of a sub-agent names the item of the tool use that started the sub-agent. */
function nested<Shown extends object>(
  item: Shown,
  { tools }: TranslateState,
  parent: string | undefined,
): Shown {
  const parentItemId = parent === undefined ? undefined : tools.get(parent)?.itemId;
  return parentItemId === undefined ? item : { ...item, parentItemId };
}

function eachBlock(
  state: TranslateState,
  blocks: readonly ClaudeBlock[],
  translate: (state: TranslateState, block: ClaudeBlock) => Step,
): Step {
  let next = state;
  const events: DriverEvent[] = [];
  for (const block of blocks) {
    const [after, emitted] = translate(next, block);
    next = after;
    events.push(...emitted);
  }
  return [next, events];
}
