import type { DriverEvent, TurnOutcome, WarningReason } from "@flint/core/ports";
import {
  continues,
  type DeltaType,
  type Item,
  isKnownItem,
  type PlanEntry,
  type ThreadItem,
  type TokenUsage,
  type TurnError,
  type TurnKind,
} from "@flint/protocol";
import type { CodexNotification, CodexTokens, CodexTurn } from "@flint/protocol/codex";
import { remainingTextCapacity } from "../shared/translate.ts";
import { CODEX } from "./descriptor.ts";
import {
  completedItem,
  fileChange,
  hookEvents,
  isStreamed,
  itemIdOf,
  patchText,
  threadItem,
  withStreamed,
} from "./translate/items.ts";
import { limitsOf } from "./translate/limits.ts";
import { outcomeOf, turnError } from "./translate/outcome.ts";

/** The state of the translation of one turn. */
export interface TranslateState {
  /** The folder of the thread, to which paths are relative. */
  readonly cwd: string;
  readonly kind: TurnKind;
  /** Codex's id of the turn; undefined until it has begun. */
  readonly turnId: string | undefined;
  /** The items that have started and not ended, with what was streamed of them so far. */
  readonly open: ReadonlyMap<string, ThreadItem>;
  /** The file changes among them that Codex still writes: it has not reported their start. */
  readonly written: ReadonlySet<string>;
  /** Number of characters of streamed texts that were kept. */
  readonly kept: number;
  /** The tokens of the whole thread as last reported: the same total again is not further usage. */
  readonly totalTokens: number;
  /** The reason the turn fails, as reported before its end. */
  readonly failure: TurnError | undefined;
  readonly outcome: TurnOutcome | undefined;
}

/** The next state, and the events to emit. */
export type Step = readonly [TranslateState, readonly DriverEvent[]];

type Params<Method extends CodexNotification["method"]> = Extract<
  CodexNotification,
  { method: Method }
>["params"];

/** The state at the beginning of a turn of a thread that has used this many tokens. */
export function beginTurn(cwd: string, kind: TurnKind, totalTokens: number): TranslateState {
  return {
    cwd,
    kind,
    turnId: undefined,
    open: new Map(),
    written: new Set(),
    kept: 0,
    totalTokens,
    failure: undefined,
    outcome: undefined,
  };
}

/** Sets Codex's id of the turn. */
export function adoptTurn(state: TranslateState, turnId: string): TranslateState {
  return state.turnId === undefined ? { ...state, turnId } : state;
}

/** Translates one notification: the next state, and the events to emit. No I/O, no clock, no randomness. */
export function step(state: TranslateState, notification: CodexNotification): Step {
  if (notification.method === "turn/started") return [onStarted(state, notification.params.turn), []];
  if (isOfAnotherTurn(state, notification)) return [afterAnotherTurn(state, notification), []];
  switch (notification.method) {
    case "turn/completed":
      return onCompleted(state, notification.params.turn);
    case "item/started":
      return onItemStarted(state, notification.params);
    case "item/completed":
      return onItemCompleted(state, notification.params);
    case "item/agentMessage/delta":
    case "item/plan/delta":
    case "item/commandExecution/outputDelta":
    case "item/reasoning/textDelta":
    case "item/reasoning/summaryTextDelta":
      return onDelta(state, notification.method, notification.params);
    case "item/reasoning/summaryPartAdded":
      return onSummaryPart(state, notification.params);
    case "item/fileChange/patchUpdated":
      return onPatch(state, notification.params);
    case "thread/tokenUsage/updated":
      return onUsage(state, notification.params.tokenUsage);
    case "error":
      return onError(state, notification.params);
    default:
      // What is left is a case of its own there: the compiler names a notification that is missing.
      return [state, statelessEvents(notification)];
  }
}

/** Only here a compaction has its id; a review has another id here than in all other notifications (0.166.0). */
function onStarted(state: TranslateState, { id }: CodexTurn): TranslateState {
  return state.kind === "compact" ? adoptTurn(state, id) : state;
}

/** The notifications that change the state of the translation. */
type StatefulMethod =
  | "turn/started"
  | "turn/completed"
  | "item/started"
  | "item/completed"
  | keyof typeof FIELD_OF
  | "item/reasoning/summaryPartAdded"
  | "item/fileChange/patchUpdated"
  | "thread/tokenUsage/updated"
  | "error";

/** The events of a notification that does not change the state. */
function statelessEvents(
  notification: Exclude<CodexNotification, { method: StatefulMethod }>,
): readonly DriverEvent[] {
  const { method, params } = notification;
  switch (method) {
    case "turn/plan/updated":
      return [{ type: method, explanation: params.explanation ?? "", plan: params.plan.map(planEntry) }];
    case "turn/diff/updated":
      return [{ type: method, diff: params.diff }];
    case "item/mcpToolCall/progress":
      return [{ type: method, itemId: itemIdOf(params.itemId), message: params.message }];
    case "model/rerouted": {
      const { fromModel, toModel, reason } = params;
      return [{ type: method, fromModel: `codex/${fromModel}`, toModel: `codex/${toModel}`, reason }];
    }
    case "warning":
      return [{ type: "warning", message: params.message, reason: "agent" }];
    case "configWarning":
      return [notice("configuration", params)];
    case "deprecationNotice":
      return [notice("deprecation", params)];
    case "mcpServer/startupStatus/updated":
      return [{ type: "extension", method: `${CODEX.provider}/${method}`, params: { ...params } }];
    case "hook/started":
      return hookEvents("item/started", params.run);
    case "hook/completed":
      return hookEvents("item/completed", params.run);
    case "account/rateLimits/updated": {
      const limits = limitsOf(params.rateLimits);
      const extension = {
        type: "extension",
        method: `${CODEX.provider}/${method}`,
        params: { ...params },
      } as const;
      return limits.length === 0 ? [extension] : [{ type: "limits", limits }, extension];
    }
    // These are handled by the session and the server, or repeat what Flint does itself.
    case "thread/started":
    case "thread/status/changed":
    case "thread/closed":
    case "serverRequest/resolved":
    case "account/login/completed":
    case "account/updated":
      return [];
  }
}

function notice(reason: WarningReason, { summary, details }: Params<"configWarning">): DriverEvent {
  return { type: "warning", message: summary, reason, ...(details == null ? {} : { details }) };
}

/** Before the turn has an id, everything belongs to an earlier one. */
function isOfAnotherTurn({ turnId }: TranslateState, { params }: CodexNotification): boolean {
  if ("turn" in params) return params.turn.id !== turnId;
  return "turnId" in params && params.turnId !== turnId;
}

/** The usage of an earlier turn counts in the total of the thread, which is repeated when a thread is resumed. */
function afterAnotherTurn(state: TranslateState, { method, params }: CodexNotification): TranslateState {
  if (method !== "thread/tokenUsage/updated") return state;
  return { ...state, totalTokens: params.tokenUsage.total.totalTokens };
}

/** A completed turn completes all of its items, also those that the agent leaves running. */
function onCompleted(state: TranslateState, turn: CodexTurn): Step {
  const ended = { ...state, outcome: outcomeOf(turn, state.failure) };
  return turn.status === "completed" ? closeOpen(ended, () => true) : [ended, []];
}

/** Completes the open items for which `isEnding` holds. */
function closeOpen(state: TranslateState, isEnding: (item: ThreadItem) => boolean): Step {
  const ending = [...state.open.values()].filter(isEnding);
  const open = new Map([...state.open].filter(([, item]) => !isEnding(item)));
  const ended = (item: ThreadItem) => (isWritten(item, state) ? neverApplied(item) : completedItem(item));
  return [{ ...state, open }, ending.map((item) => ({ type: "item/completed", item: ended(item) }))];
}

function onItemStarted(state: TranslateState, { item }: Params<"item/started">): Step {
  const started = threadItem(item, state.cwd);
  if (started === undefined || isReviewMarker(state, started)) return [state, []];
  const known = state.open.get(started.id);
  if (known !== undefined) return isWritten(known, state) ? wholePatch(state, known, started) : [state, []];
  return [withOpen(state, started), [{ type: "item/started", item: started }]];
}

/** Reports whether a file change was started by its patch, which Codex still writes. */
function isWritten(item: ThreadItem, { written }: TranslateState): boolean {
  return written.has(item.id);
}

/** Codex reports the change that it has finished writing. */
function wholePatch(state: TranslateState, known: ThreadItem, whole: ThreadItem): Step {
  if (!isKnownItem(whole) || whole.type !== "fileChange") return [state, []];
  const written = new Set([...state.written].filter((id) => id !== known.id));
  const { id: itemId, changes } = whole;
  return [
    { ...withOpen(state, whole), written },
    [{ type: "item/fileChange/patchUpdated", itemId, changes }],
  ];
}

/** Flint itself marks where a review begins and ends. */
function isReviewMarker({ kind }: TranslateState, { type }: ThreadItem): boolean {
  return kind === "review" && (type === "enteredReviewMode" || type === "exitedReviewMode");
}

/** An item that completes without having started is started first; Codex does that with short work. */
function onItemCompleted(state: TranslateState, params: Params<"item/completed">): Step {
  const final = threadItem(params.item, state.cwd);
  if (final === undefined || isReviewMarker(state, final)) return [state, []];
  const open = new Map(state.open);
  const known = open.get(final.id);
  open.delete(final.id);
  const started: readonly DriverEvent[] = known === undefined ? [{ type: "item/started", item: final }] : [];
  const item = known === undefined ? final : withStreamed(final, known);
  return [{ ...state, open }, [...started, { type: "item/completed", item }]];
}

/** The field of an item that each delta adds to. */
const FIELD_OF = {
  "item/agentMessage/delta": "text",
  "item/plan/delta": "text",
  "item/commandExecution/outputDelta": "aggregatedOutput",
  "item/reasoning/textDelta": "content",
  "item/reasoning/summaryTextDelta": "summary",
} as const;

function onDelta(
  state: TranslateState,
  method: keyof typeof FIELD_OF,
  params: Params<"item/agentMessage/delta">,
): Step {
  const item = state.open.get(itemIdOf(params.itemId));
  if (item === undefined) return [state, []];
  const known: unknown = Reflect.get(item, FIELD_OF[method]);
  const before = typeof known === "string" ? known : "";
  const event = delta(method, params);
  if (before.length > remainingTextCapacity(state.kept - before.length)) return [state, [event]];
  const kept = state.kept + params.delta.length;
  const longer = { ...item, [FIELD_OF[method]]: before + params.delta };
  return [{ ...withOpen(state, longer), kept }, [event]];
}

/** The parts of a summary are separated by an empty line, as in the completed item. */
function onSummaryPart(state: TranslateState, params: Params<"item/reasoning/summaryPartAdded">): Step {
  if (params.summaryIndex === 0) return [state, []];
  return onDelta(state, "item/reasoning/summaryTextDelta", { ...params, delta: "\n\n" });
}

/** A patch that Codex wrote, and did not start to apply. */
function neverApplied(item: ThreadItem): ThreadItem {
  return isKnownItem(item) && item.type === "fileChange"
    ? { ...item, changes: [], status: "failed", output: "Codex did not apply this change." }
    : item;
}

/**
 * A patch that is still being written: its changes so far, and what is new of its text. Codex reports the start of its
 * item once the patch is complete (0.166.0).
 */
function onPatch(before: TranslateState, params: Params<"item/fileChange/patchUpdated">): Step {
  const id = itemIdOf(params.itemId);
  const known = before.open.get(id);
  if (known === undefined) {
    const item: Item<"fileChange"> = { type: "fileChange", id, changes: [], status: "inProgress" };
    const written = { ...withOpen(before, item), written: new Set([...before.written, id]) };
    return withStart(item, patchStep(written, item, params));
  }
  return isKnownItem(known) && known.type === "fileChange" ? patchStep(before, known, params) : [before, []];
}

function withStart(item: Item<"fileChange">, [state, events]: Step): Step {
  return [state, [{ type: "item/started", item }, ...events]];
}

function patchStep(
  state: TranslateState,
  item: Item<"fileChange">,
  params: Params<"item/fileChange/patchUpdated">,
): Step {
  const changes = params.changes.map((change) => fileChange(change, state.cwd));
  const streamed = item.output ?? "";
  const text = patchText(params.changes, state.cwd);
  // A part that was streamed and has changed since cannot be taken back; the changes have it.
  const isLonger = text.length > streamed.length && continues(text, streamed);
  const updated = { ...item, changes, output: isLonger ? text : streamed };
  const { id: itemId } = item;
  const events: DriverEvent[] = [{ type: "item/fileChange/patchUpdated", itemId, changes }];
  if (isLonger)
    events.unshift({ type: "item/fileChange/outputDelta", itemId, delta: text.slice(streamed.length) });
  return [withOpen(state, updated), events];
}

function onUsage(state: TranslateState, usage: Params<"thread/tokenUsage/updated">["tokenUsage"]): Step {
  const { total, last, modelContextWindow } = usage;
  if (total.totalTokens === state.totalTokens) return [state, []];
  const window = typeof modelContextWindow === "number" ? { modelContextWindow } : {};
  return [
    { ...state, totalTokens: total.totalTokens },
    [{ type: "usage", last: tokenUsage(last), ...window }],
  ];
}

/** Disjoint buckets: Codex counts cached tokens with the input, and reasoning with the output. */
function tokenUsage(tokens: CodexTokens): TokenUsage {
  const { inputTokens, cachedInputTokens, cacheWriteInputTokens = 0 } = tokens;
  const { outputTokens, reasoningOutputTokens } = tokens;
  return {
    inputTokens: Math.max(0, inputTokens - cachedInputTokens - cacheWriteInputTokens),
    outputTokens: Math.max(0, outputTokens - reasoningOutputTokens),
    thinkingTokens: reasoningOutputTokens,
    cacheReadTokens: cachedInputTokens,
    cacheWriteTokens: cacheWriteInputTokens,
  };
}

function onError(state: TranslateState, { error, willRetry }: Params<"error">): Step {
  const reported = turnError(error);
  if (!willRetry) return [{ ...state, failure: reported }, []];
  // The message that broke off is repeated as another item.
  const [closed, events] = closeOpen(state, isStreamed);
  return [closed, [...events, { type: "error", error: reported, willRetry }]];
}

function withOpen(state: TranslateState, item: ThreadItem): TranslateState {
  return { ...state, open: new Map(state.open).set(item.id, item) };
}

function delta(type: DeltaType, { itemId, delta: text }: Params<"item/agentMessage/delta">): DriverEvent {
  return { type, itemId: itemIdOf(itemId), delta: text };
}

const PLAN_STATUS: Readonly<Record<string, PlanEntry["status"]>> = {
  pending: "pending",
  inProgress: "inProgress",
  completed: "completed",
};

function planEntry({ step: text, status }: { step: string; status: string }): PlanEntry {
  return { step: text, status: PLAN_STATUS[status] ?? "pending" };
}

/** The changes of a file change item, as far as they are known. */
export function changesOf(state: TranslateState, itemId: string): Item<"fileChange">["changes"] {
  const item = state.open.get(itemIdOf(itemId));
  return item !== undefined && isKnownItem(item) && item.type === "fileChange" ? item.changes : [];
}
