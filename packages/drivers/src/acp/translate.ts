import type { DriverEvent } from "@flint/core/ports";
import { type Item, LIMITS, type PlanEntry, priorityOf } from "@flint/protocol";
import { diffsOf, type ToolCall, UNKNOWN_CALL, updatedCall } from "./translate/tool-call.ts";
import {
  formOf,
  itemOf,
  outputOf,
  type ToolForm,
  type ToolPlace,
  type ToolStatus,
} from "./translate/tool-item.ts";
import { blockText, type JsonObject, listOf, objectOf, stringOf } from "./wire.ts";

/** A text that is being streamed. */
interface OpenText {
  readonly kind: "text" | "reasoning";
  readonly id: string;
  readonly messageId: string | undefined;
  readonly text: string;
}

/** A call of a tool, and how far it was told. */
export interface ToolTrack {
  readonly itemId: string;
  readonly call: ToolCall;
  /** What it is shown as, once that is known and told. */
  readonly form: ToolForm | undefined;
  readonly isDone: boolean;
  readonly isDeclined: boolean;
  /** The output of a command that went out in pieces. */
  readonly streamed: string;
}

/** Where the translation of one turn stands. */
export interface AcpState {
  readonly turnId: string;
  readonly place: ToolPlace;
  /** How many items the turn has so far; their ids are made of it. */
  readonly items: number;
  readonly open: OpenText | undefined;
  readonly tools: ReadonlyMap<string, ToolTrack>;
  readonly plan: Item<"plan"> | undefined;
  readonly compactions: ReadonlyMap<string, Item<"contextCompaction">>;
}

/** The next state, and what the core is told. */
export type Step = readonly [AcpState, readonly DriverEvent[]];

/** The beginning of a turn. */
export function beginTurn(turnId: string, place: ToolPlace): AcpState {
  const nothing = { open: undefined, plan: undefined, tools: new Map(), compactions: new Map() };
  return { turnId, place, items: 0, ...nothing };
}

/** An id for an item, and the state in which it is taken. */
export function takeItemId(state: AcpState): readonly [AcpState, string] {
  const items = state.items + 1;
  return [{ ...state, items }, `${state.turnId}-${items}`];
}

/** One session update in, the next state and the events it means out. No I/O, no clock, no randomness. */
export function step(state: AcpState, update: JsonObject): Step {
  switch (update.sessionUpdate) {
    case "agent_message_chunk":
      return stream(state, "text", update);
    case "agent_thought_chunk":
      return stream(state, "reasoning", update);
    // What the user said is in the thread already.
    case "user_message_chunk":
      return closeText(state);
    case "tool_call":
    case "tool_call_update":
      return onToolCall(state, update);
    case "plan":
      return onPlan(state, update);
    case "compaction_update":
    case "compaction_summary_chunk":
      return onCompaction(state, update);
    // How full the context is, and what it cost, is told once, at the end of the turn.
    case "usage_update":
      return [state, []];
    default:
      return [state, [extensionOf(update)]];
  }
}

/** What only clients that know this protocol can use, kept as it is. */
export function extensionOf(update: JsonObject): DriverEvent {
  const { sessionUpdate, ...params } = update;
  const method = typeof sessionUpdate === "string" ? sessionUpdate : "unknown_update";
  return { type: "extension", method: `acp/${method}`, params };
}

/** A call that is to be asked about: the item is there afterwards, whether it was announced before or not. */
export function showToolCall(state: AcpState, update: JsonObject): Step {
  const [next, events] = onToolCall(state, { ...update, status: update.status ?? "pending" });
  const callId = stringOf(update.toolCallId) ?? "";
  const track = next.tools.get(callId);
  if (track === undefined || track.form !== undefined) return [next, events];
  const form = formOf({ ...track.call, status: "in_progress" }, next.place) ?? "tool";
  const [told, more] = tell(next, callId, { ...track, form });
  return [told, [...events, ...more]];
}

/** Notes that the user does not want a call to be made. */
export function declineToolCall(state: AcpState, callId: string): AcpState {
  const track = state.tools.get(callId);
  return track === undefined ? state : withTool(state, callId, { ...track, isDeclined: true });
}

/** The end of a turn that was worked to its end: what is still open is complete. */
export function endTurn(state: AcpState): Step {
  let [next, events] = closeText(state);
  for (const [callId, track] of next.tools) {
    if (track.form === undefined || track.isDone) continue;
    const [closed, more] = finishTool(
      next,
      callId,
      track,
      track.call.status === "pending" ? "failed" : "completed",
    );
    next = closed;
    events = [...events, ...more];
  }
  const rest = [...(next.plan === undefined ? [] : [next.plan]), ...next.compactions.values()];
  const completed = rest.map((item): DriverEvent => ({ type: "item/completed", item }));
  return [{ ...next, plan: undefined, compactions: new Map() }, [...events, ...completed]];
}

function stream(state: AcpState, kind: OpenText["kind"], update: JsonObject): Step {
  const text = blockText(update.content);
  const messageId = stringOf(update.messageId);
  if (text === "") return [state, []];
  const { open } = state;
  if (open?.kind === kind && (messageId === undefined || open.messageId === messageId)) {
    // What is beyond the limit is told to nobody, so it need not be kept either.
    const kept = open.text.length > LIMITS.text ? open.text : open.text + text;
    return [{ ...state, open: { ...open, text: kept } }, [deltaOf(kind, open.id, text)]];
  }
  const [closed, before] = closeText(state);
  const [next, id] = takeItemId(closed);
  const started: DriverEvent = { type: "item/started", item: textItem({ kind, id, text: "" }) };
  return [{ ...next, open: { kind, id, messageId, text } }, [...before, started, deltaOf(kind, id, text)]];
}

function closeText(state: AcpState): Step {
  if (state.open === undefined) return [state, []];
  return [{ ...state, open: undefined }, [{ type: "item/completed", item: textItem(state.open) }]];
}

function textItem({ kind, id, text }: Pick<OpenText, "kind" | "id" | "text">) {
  return kind === "text"
    ? ({ type: "agentMessage", id, text } as const)
    : ({ type: "reasoning", id, content: text } as const);
}

function deltaOf(kind: OpenText["kind"], itemId: string, delta: string): DriverEvent {
  const type = kind === "text" ? "item/agentMessage/delta" : "item/reasoning/textDelta";
  return { type, itemId, delta };
}

function onToolCall(state: AcpState, update: JsonObject): Step {
  const callId = stringOf(update.toolCallId);
  if (callId === undefined) return [state, [extensionOf(update)]];
  const [closed, before] = closeText(state);
  const known = closed.tools.get(callId);
  // Some agents tell about a call once more after its end.
  if (known?.isDone === true) return [closed, before];
  const [next, itemId] = known === undefined ? takeItemId(closed) : [closed, known.itemId];
  const call = updatedCall(known?.call ?? UNKNOWN_CALL, update);
  const fresh = { itemId, form: undefined, isDone: false, isDeclined: false, streamed: "" };
  const track: ToolTrack = { ...(known ?? fresh), call };
  const form = track.form ?? formOf(call, next.place);
  const [told, events] =
    form === undefined ? [withTool(next, callId, track), []] : tell(next, callId, { ...track, form }, known);
  return [told, [...before, ...events]];
}

/** Tells what is new about a call that has a form. */
function tell(state: AcpState, callId: string, track: ToolTrack, known?: ToolTrack): Step {
  const { form, call, itemId } = track;
  if (form === undefined) return [state, []];
  const isNew = known?.form === undefined;
  const item = itemOf(form, itemId, "inProgress", withoutResults(call), state.place);
  const started: readonly DriverEvent[] = isNew ? [{ type: "item/started", item }] : [];
  const [streamed, deltas] = form === "command" ? newOutput(track) : [track, []];
  const next = withTool(state, callId, streamed);
  if (call.status !== "completed" && call.status !== "failed") return [next, [...started, ...deltas]];
  const [finished, last] = finishTool(next, callId, streamed, call.status);
  return [finished, [...started, ...deltas, ...last]];
}

/** The call as it was before anything came of it. */
function withoutResults(call: ToolCall): ToolCall {
  const content = diffsOf(call);
  return { ...call, content, rawOutput: undefined, terminalOutput: "", exitCode: undefined };
}

/** The output that was not told yet, if it goes on from what was. */
function newOutput(track: ToolTrack): readonly [ToolTrack, readonly DriverEvent[]] {
  const { streamed, itemId, call } = track;
  const { terminalDelta } = call;
  const told = (delta: string): DriverEvent => ({ type: "item/commandExecution/outputDelta", itemId, delta });
  if (call.terminalOutput !== "") {
    return [track, terminalDelta === "" ? [] : [told(terminalDelta)]];
  }
  const output = outputOf(call);
  if (output.length <= streamed.length || !output.startsWith(streamed)) return [track, []];
  const delta = output.slice(streamed.length);
  return [{ ...track, streamed: output }, [told(delta)]];
}

function finishTool(state: AcpState, callId: string, track: ToolTrack, end: "completed" | "failed"): Step {
  const status: ToolStatus = track.isDeclined ? "declined" : end;
  const next = withTool(state, callId, { ...track, isDone: true });
  if (track.form === undefined) return [next, []];
  const item = itemOf(track.form, track.itemId, status, track.call, state.place);
  return [next, [{ type: "item/completed", item }]];
}

function withTool(state: AcpState, callId: string, track: ToolTrack): AcpState {
  return { ...state, tools: new Map(state.tools).set(callId, track) };
}

/** The plan is one item for the whole turn; how far it is comes with every update of the turn's plan. */
function onPlan(state: AcpState, update: JsonObject): Step {
  const entries = listOf(update.entries).map(planEntry);
  const [closed, before] = closeText(state);
  const updated: DriverEvent = { type: "turn/plan/updated", explanation: "", plan: entries };
  const text = entries.map((entry, index) => `${index + 1}. ${entry.step}`).join("\n");
  if (closed.plan !== undefined) {
    return [{ ...closed, plan: { ...closed.plan, text, entries } }, [...before, updated]];
  }
  const [next, id] = takeItemId(closed);
  const plan: Item<"plan"> = { type: "plan", id, text, entries };
  return [{ ...next, plan }, [...before, { type: "item/started", item: plan }, updated]];
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

/** A compaction is one item, with its summary as far as the agent tells it. */
function onCompaction(state: AcpState, update: JsonObject): Step {
  const compactionId = stringOf(update.compactionId);
  if (compactionId === undefined) return [state, [extensionOf(update)]];
  const known = state.compactions.get(compactionId);
  const [closed, before] = closeText(state);
  const [next, id] = known === undefined ? takeItemId(closed) : [closed, known.id];
  const whole = listOf(update.summary).map(blockText).join("");
  const more = update.content === undefined ? "" : blockText(update.content);
  const summary = whole === "" ? `${known?.summary ?? ""}${more}` : whole;
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
