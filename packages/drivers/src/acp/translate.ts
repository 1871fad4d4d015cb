import type { DriverEvent } from "@flint/core/ports";
import {
  continues,
  type Item,
  isKnownItem,
  listOf,
  type PlanEntry,
  priorityOf,
  stringOf,
  type ThreadItem,
} from "@flint/protocol";
import { type JsonObject, objectOf } from "../shared/json.ts";
import {
  beginStream,
  closeText,
  type ItemStream,
  type OpenText,
  type StreamStep,
  streamText,
  takeItemId,
  updatePlan,
} from "../shared/translate.ts";
import { blockText, diffsOf, type ToolCall, UNKNOWN_CALL, updatedCall } from "./translate/tool-call.ts";
import {
  formOf,
  itemOf,
  outputOf,
  type ToolContext,
  type ToolForm,
  type ToolStatus,
} from "./translate/tool-item.ts";

/** A tool call, and what was emitted of it. */
export interface TrackedCall {
  readonly itemId: string;
  readonly call: ToolCall;
  /** The form of its item; undefined until the item has started. */
  readonly form: ToolForm | undefined;
  readonly isDone: boolean;
  readonly isDeclined: boolean;
  /** The output of a command that was emitted in deltas. */
  readonly streamed: string;
  /** The diffs of a file change as they were emitted last. */
  readonly diffs: string;
}

/** The state of the translation of one turn. */
export interface AcpState {
  readonly stream: ItemStream;
  readonly context: ToolContext;
  readonly tools: ReadonlyMap<string, TrackedCall>;
  readonly plan: Item<"plan"> | undefined;
  readonly compactions: ReadonlyMap<string, Item<"contextCompaction">>;
}

/** The next state, and the events to emit. */
export type Step = readonly [AcpState, readonly DriverEvent[]];

/** The state at the beginning of a turn. */
export function beginTurn(turnId: string, context: ToolContext): AcpState {
  const stream = beginStream(turnId);
  return { stream, context, tools: new Map(), plan: undefined, compactions: new Map() };
}

/** An id for an item, and the state in which it is taken. */
export function newItemId(state: AcpState): readonly [AcpState, string] {
  const [stream, id] = takeItemId(state.stream);
  return [{ ...state, stream }, id];
}

/** Translates one session update: the next state, and the events to emit. No I/O, no clock, no randomness. */
export function step(state: AcpState, update: JsonObject): Step {
  switch (update.sessionUpdate) {
    case "agent_message_chunk":
      return onChunk(state, "message", update);
    case "agent_thought_chunk":
      return onChunk(state, "reasoning", update);
    // The thread has the user's message already.
    case "user_message_chunk":
      return withoutText(state);
    case "tool_call":
    case "tool_call_update":
      return onToolCall(state, update);
    case "plan":
      return onPlan(state, update);
    case "compaction_update":
    case "compaction_summary_chunk":
      return onCompaction(state, update);
    case "available_commands_update":
      return [state, [commandsIn(update)]];
    // Usage is emitted once, at the end of the turn.
    case "usage_update":
      return [state, []];
    default:
      return [state, [extensionOf(update)]];
  }
}

/** The slash commands that an agent offers now. */
function commandsIn({ availableCommands }: JsonObject): DriverEvent {
  const commands = listOf(availableCommands).flatMap((each) => {
    const { name, description, input } = objectOf(each);
    if (typeof name !== "string" || name === "") return [];
    const hint = stringOf(objectOf(input).hint);
    const about = stringOf(description);
    return [
      {
        name,
        ...(about === undefined ? {} : { description: about }),
        ...(hint === undefined ? {} : { hint }),
      },
    ];
  });
  return { type: "commands", commands };
}

/** An update that only clients which know this protocol can use, as it is; a warning is for every client. */
export function extensionOf(update: JsonObject): DriverEvent {
  const { sessionUpdate, ...params } = update;
  const title = stringOf(params.title);
  if (sessionUpdate === "available_commands_update") return commandsIn(update);
  if (sessionUpdate === "notice" && params.severity !== "info" && title !== undefined)
    return { type: "warning", message: title, reason: "agent" };
  const method = typeof sessionUpdate === "string" ? sessionUpdate : "unknown_update";
  return { type: "extension", method: `acp/${method}`, params };
}

/** An event with the provider of the agent in the place of the protocol's name. */
export function ofProvider(event: DriverEvent, provider: string): DriverEvent {
  if (event.type !== "extension") return event;
  return { ...event, method: event.method.replace(/^acp\//, `${provider}/`) };
}

/** Starts the item of a call that needs approval, whether the call was announced before or not. */
export function showToolCall(state: AcpState, update: JsonObject): Step {
  const [next, events] = onToolCall(state, { ...update, status: update.status ?? "pending" });
  const callId = stringOf(update.toolCallId) ?? "";
  const tracked = next.tools.get(callId);
  if (tracked === undefined || tracked.form !== undefined) return [next, events];
  const form = formOf({ ...tracked.call, status: "in_progress" }, next.context) ?? "tool";
  const [shown, more] = showCall(next, callId, { ...tracked, form });
  return [shown, [...events, ...more]];
}

/** Marks a call that was not approved. */
export function declineToolCall(state: AcpState, callId: string): AcpState {
  const tracked = state.tools.get(callId);
  return tracked === undefined ? state : withTool(state, callId, { ...tracked, isDeclined: true });
}

/** Completes what is still open at the end of a turn. */
export function endTurn(state: AcpState): Step {
  let [next, events] = withoutText(state);
  for (const [callId, tracked] of next.tools) {
    if (tracked.form === undefined || tracked.isDone) continue;
    const status = tracked.call.status === "pending" ? "failed" : "completed";
    const [closed, more] = finishTool(next, callId, tracked, status);
    next = closed;
    events = [...events, ...more];
  }
  const rest = [...(next.plan === undefined ? [] : [next.plan]), ...next.compactions.values()];
  const completed = rest.map((item): DriverEvent => ({ type: "item/completed", item }));
  return [{ ...next, plan: undefined, compactions: new Map() }, [...events, ...completed]];
}

function onChunk(state: AcpState, kind: OpenText["kind"], update: JsonObject): Step {
  const text = blockText(update.content);
  return withStream(state, streamText(state.stream, kind, text, stringOf(update.messageId)));
}

/** The state after a step of its item stream. It runs for every chunk, where naming the fields beats copying them. */
function withStream({ context, tools, plan, compactions }: AcpState, [stream, events]: StreamStep): Step {
  return [{ stream, context, tools, plan, compactions }, events];
}

function withoutText(state: AcpState): Step {
  return withStream(state, closeText(state.stream));
}

function onToolCall(state: AcpState, update: JsonObject): Step {
  const callId = stringOf(update.toolCallId);
  if (callId === undefined) return [state, [extensionOf(update)]];
  const [closed, before] = withoutText(state);
  const known = closed.tools.get(callId);
  // Some agents send another update of a call after its end.
  if (known?.isDone === true) return [closed, before];
  const [next, itemId] = known === undefined ? newItemId(closed) : [closed, known.itemId];
  const call = updatedCall(known?.call ?? UNKNOWN_CALL, update);
  const fresh = { itemId, form: undefined, isDone: false, isDeclined: false, streamed: "", diffs: "" };
  const tracked: TrackedCall = { ...(known ?? fresh), call };
  const form = tracked.form ?? formOf(call, next.context);
  const [shown, events] =
    form === undefined
      ? [withTool(next, callId, tracked), []]
      : showCall(next, callId, { ...tracked, form }, known);
  return [shown, [...before, ...events]];
}

/** Emits what is new about a call that has a form. */
function showCall(state: AcpState, callId: string, tracked: TrackedCall, known?: TrackedCall): Step {
  const { form, call, itemId } = tracked;
  if (form === undefined) return [state, []];
  const isNew = known?.form === undefined;
  const item = itemOf(form, itemId, "inProgress", withoutResults(call), state.context);
  const started: readonly DriverEvent[] = isNew ? [{ type: "item/started", item }] : [];
  const [streamed, deltas] =
    form === "command"
      ? newOutput(tracked)
      : form === "fileChange"
        ? newDiffs(tracked, item, isNew)
        : [tracked, []];
  const next = withTool(state, callId, streamed);
  if (call.status !== "completed" && call.status !== "failed") return [next, [...started, ...deltas]];
  const [finished, last] = finishTool(next, callId, streamed, call.status);
  return [finished, [...started, ...deltas, ...last]];
}

/** The changes of a call that the agent has added to since its item started. */
function newDiffs(
  tracked: TrackedCall,
  item: ThreadItem,
  isNew: boolean,
): readonly [TrackedCall, readonly DriverEvent[]] {
  if (!isKnownItem(item) || item.type !== "fileChange") return [tracked, []];
  const { id: itemId, changes } = item;
  const diffs = changes.map(({ path, diff }) => `${path}\n${diff}`).join("");
  const isChanged = !isNew && diffs !== tracked.diffs && changes.length > 0;
  return [
    { ...tracked, diffs },
    isChanged ? [{ type: "item/fileChange/patchUpdated", itemId, changes }] : [],
  ];
}

/** The call as it was before it had any result. */
function withoutResults(call: ToolCall): ToolCall {
  const content = diffsOf(call);
  return { ...call, content, rawOutput: undefined, terminalOutput: "", exitCode: undefined };
}

/** The output that was not emitted yet, if it continues what was. */
function newOutput(tracked: TrackedCall): readonly [TrackedCall, readonly DriverEvent[]] {
  const { streamed, itemId, call } = tracked;
  const { terminalDelta } = call;
  const outputDelta = (delta: string): DriverEvent => ({
    ...{ type: "item/commandExecution/outputDelta", itemId, delta },
  });
  if (call.terminalOutput !== "") {
    return [tracked, terminalDelta === "" ? [] : [outputDelta(terminalDelta)]];
  }
  const output = outputOf(call);
  if (output.length <= streamed.length || !continues(output, streamed)) return [tracked, []];
  return [{ ...tracked, streamed: output }, [outputDelta(output.slice(streamed.length))]];
}

function finishTool(
  state: AcpState,
  callId: string,
  tracked: TrackedCall,
  end: "completed" | "failed",
): Step {
  const status: ToolStatus = tracked.isDeclined ? "declined" : end;
  const next = withTool(state, callId, { ...tracked, isDone: true });
  if (tracked.form === undefined) return [next, []];
  const item = itemOf(tracked.form, tracked.itemId, status, tracked.call, state.context);
  return [next, [{ type: "item/completed", item }]];
}

function withTool(state: AcpState, callId: string, tracked: TrackedCall): AcpState {
  return { ...state, tools: new Map(state.tools).set(callId, tracked) };
}

function onPlan(state: AcpState, update: JsonObject): Step {
  const [closed, before] = withoutText(state);
  const [next, id] = closed.plan === undefined ? newItemId(closed) : [closed, closed.plan.id];
  const [plan, events] = updatePlan(closed.plan, id, listOf(update.entries).map(planEntry));
  return [{ ...next, plan }, [...before, ...events]];
}

function planEntry(entry: unknown): PlanEntry {
  const { content, status, priority } = objectOf(entry);
  const known = status === "completed" || status === "pending" ? status : undefined;
  return {
    step: stringOf(content) ?? "",
    status: known ?? (status === "in_progress" ? "inProgress" : "pending"),
    ...priorityOf(priority),
  };
}

/** A compaction is one item, with its summary as far as the agent sends it. */
function onCompaction(state: AcpState, update: JsonObject): Step {
  const compactionId = stringOf(update.compactionId);
  if (compactionId === undefined) return [state, [extensionOf(update)]];
  const known = state.compactions.get(compactionId);
  const [closed, before] = withoutText(state);
  const [next, id] = known === undefined ? newItemId(closed) : [closed, known.id];
  const complete = listOf(update.summary).map(blockText).join("");
  const chunk = update.content === undefined ? "" : blockText(update.content);
  const summary = complete === "" ? `${known?.summary ?? ""}${chunk}` : complete;
  const item: Item<"contextCompaction"> = {
    type: "contextCompaction",
    id,
    ...(summary === "" ? {} : { summary }),
  };
  const started: DriverEvent[] =
    known === undefined ? [{ type: "item/started", item: { type: "contextCompaction", id } }] : [];
  const compactions = new Map(next.compactions).set(compactionId, item);
  const { status } = update;
  if (status === undefined || status === "in_progress") {
    return [{ ...next, compactions }, [...before, ...started]];
  }
  compactions.delete(compactionId);
  const failed = status === "completed" ? [] : [extensionOf(update)];
  return [{ ...next, compactions }, [...before, ...started, { type: "item/completed", item }, ...failed]];
}
