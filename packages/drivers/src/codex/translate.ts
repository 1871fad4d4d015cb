import type { DriverEvent, TurnOutcome } from "@flint/core/ports";
import {
  type DeltaType,
  type Item,
  isKnownItem,
  type PlanEntry,
  type ThreadItem,
  type TurnError,
  type TurnKind,
} from "@flint/protocol";
import type { CodexNotification, CodexTokens, CodexTurn } from "@flint/protocol/codex";
import { itemIdOf, threadItem } from "./translate/items.ts";
import { turnError } from "./translate/turn-error.ts";
import { tokenUsage } from "./translate/usage.ts";

/** Where the translation of one turn stands. */
export interface TranslateState {
  /** The folder of the thread, from which paths are told. */
  readonly cwd: string;
  readonly kind: TurnKind;
  /** Codex's id of the turn; unknown until it began. */
  readonly turnId: string | undefined;
  /** The work that is under way, as it was last told; what it streamed so far is in it. */
  readonly open: ReadonlyMap<string, ThreadItem>;
  /** Tokens of the thread in all, as last told: the same sum again is no further use. */
  readonly totalTokens: number;
  /** Why the turn fails, told before its end. */
  readonly failure: TurnError | undefined;
  readonly outcome: TurnOutcome | undefined;
}

/** The next state, and what the core is told. */
export type Step = readonly [TranslateState, readonly DriverEvent[]];

type Params<Method extends CodexNotification["method"]> = Extract<
  CodexNotification,
  { method: Method }
>["params"];

/** The beginning of a turn of a thread that used so many tokens before. */
export function beginTurn(cwd: string, kind: TurnKind, totalTokens: number): TranslateState {
  return {
    cwd,
    kind,
    turnId: undefined,
    open: new Map(),
    totalTokens,
    failure: undefined,
    outcome: undefined,
  };
}

/** The turn has this id at Codex. */
export function adoptTurn(state: TranslateState, turnId: string): TranslateState {
  return state.turnId === undefined ? { ...state, turnId } : state;
}

/** One notification in, the next state and the events it means out. No I/O, no clock, no randomness. */
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
      return [state, remark(notification)];
  }
}

/** A compaction has no other name than this one; of a review Codex tells another here than everywhere else. */
function onStarted(state: TranslateState, { id }: CodexTurn): TranslateState {
  return state.kind === "compact" ? adoptTurn(state, id) : state;
}

/** What is told without any change of where the turn stands. */
function remark(
  notification: Exclude<CodexNotification, { method: "turn/started" | "turn/completed" | "error" }>,
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
    case "configWarning":
    case "deprecationNotice":
    case "account/rateLimits/updated":
    case "mcpServer/startupStatus/updated":
      return [{ type: "extension", method: `codex/${method}`, params: { ...params } }];
    default:
      return [];
  }
}

/** Without an id of its own yet, the turn waits for its beginning; what comes before is of an earlier one. */
function isOfAnotherTurn({ turnId }: TranslateState, { params }: CodexNotification): boolean {
  if ("turn" in params) return params.turn.id !== turnId;
  return "turnId" in params && params.turnId !== turnId;
}

/** What an earlier turn used counts in the sum of the thread, which is told again when a thread is taken up. */
function afterAnotherTurn(state: TranslateState, { method, params }: CodexNotification): TranslateState {
  if (method !== "thread/tokenUsage/updated") return state;
  return { ...state, totalTokens: params.tokenUsage.total.totalTokens };
}

/** In a turn that was worked to its end everything has one; what the agent leaves running is over for the turn. */
function onCompleted(state: TranslateState, turn: CodexTurn): Step {
  const ended = { ...state, outcome: outcomeOf(turn, state.failure) };
  return turn.status === "completed" ? closeOpen(ended, () => true) : [ended, []];
}

/** Ends what is open and will not be told of any more. */
function closeOpen(state: TranslateState, ends: (item: ThreadItem) => boolean): Step {
  const ending = [...state.open.values()].filter(ends);
  const open = new Map([...state.open].filter(([, item]) => !ends(item)));
  return [{ ...state, open }, ending.map((item) => ({ type: "item/completed", item: leftOpen(item) }))];
}

function leftOpen(item: ThreadItem): ThreadItem {
  if (!isKnownItem(item)) return item;
  switch (item.type) {
    case "agentMessage":
    case "reasoning":
    case "plan":
      return { ...item, partial: true };
    case "commandExecution":
    case "fileChange":
    case "mcpToolCall":
    case "toolCall":
      return item.status === "inProgress" ? { ...item, status: "completed" } : item;
    default:
      return item;
  }
}

function isText({ type }: ThreadItem): boolean {
  return type === "agentMessage" || type === "reasoning" || type === "plan";
}

function outcomeOf({ status, error }: CodexTurn, failure: TurnError | undefined): TurnOutcome {
  if (status === "completed" || status === "interrupted") return { status };
  const told = error === undefined || error === null ? failure : turnError(error);
  const otherwise: TurnError = { message: `Codex ended the turn as ${status}.`, errorInfo: "Other" };
  return { status: "failed", error: told ?? otherwise };
}

function onItemStarted(state: TranslateState, { item }: Params<"item/started">): Step {
  const begun = threadItem(item, state.cwd);
  if (begun === undefined || state.open.has(begun.id) || isNoted(state, begun)) return [state, []];
  return [withOpen(state, begun), [{ type: "item/started", item: begun }]];
}

/** Flint itself notes where a review begins and ends. */
function isNoted({ kind }: TranslateState, { type }: ThreadItem): boolean {
  return kind === "review" && (type === "enteredReviewMode" || type === "exitedReviewMode");
}

/** An item that ends without a beginning is begun first; Codex does that with what is over at once. */
function onItemCompleted(state: TranslateState, { item }: Params<"item/completed">): Step {
  const final = threadItem(item, state.cwd);
  if (final === undefined || isNoted(state, final)) return [state, []];
  const open = new Map(state.open);
  const begun = open.get(final.id);
  open.delete(final.id);
  const started: readonly DriverEvent[] = begun === undefined ? [{ type: "item/started", item: final }] : [];
  const whole = begun === undefined ? final : withStreamed(final, begun);
  return [{ ...state, open }, [...started, { type: "item/completed", item: whole }]];
}

/** What was streamed stands if the end does not repeat it. */
function withStreamed(final: ThreadItem, begun: ThreadItem): ThreadItem {
  const kept = KEPT_FIELDS.flatMap((field): [string, unknown][] => {
    const streamed: unknown = Reflect.get(begun, field);
    return Reflect.has(final, field) || streamed === undefined ? [] : [[field, streamed]];
  });
  return kept.length === 0 ? final : { ...final, ...Object.fromEntries(kept) };
}

const KEPT_FIELDS = ["aggregatedOutput", "summary", "content"] as const;

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
  const begun = state.open.get(itemIdOf(params.itemId));
  if (begun === undefined) return [state, []];
  const before: unknown = Reflect.get(begun, FIELD_OF[method]);
  const text = `${typeof before === "string" ? before : ""}${params.delta}`;
  return [withOpen(state, { ...begun, [FIELD_OF[method]]: text }), [delta(method, params)]];
}

/** Parts of a summary are apart by an empty line, as they are in the end. */
function onSummaryPart(state: TranslateState, params: Params<"item/reasoning/summaryPartAdded">): Step {
  if (params.summaryIndex === 0) return [state, []];
  return onDelta(state, "item/reasoning/summaryTextDelta", { ...params, delta: "\n\n" });
}

/** The changes of a patch that is still being written are kept for the question whether it may be made. */
function onPatch(state: TranslateState, params: Params<"item/fileChange/patchUpdated">): Step {
  const begun = state.open.get(itemIdOf(params.itemId));
  if (begun?.type !== "fileChange") return [state, []];
  const { changes } = params;
  const updated = threadItem({ ...begun, id: params.itemId, ...{ changes } }, state.cwd);
  return [updated === undefined ? state : withOpen(state, updated), []];
}

function onUsage(state: TranslateState, usage: Params<"thread/tokenUsage/updated">["tokenUsage"]): Step {
  const { total, last, modelContextWindow } = usage;
  if (total.totalTokens === state.totalTokens) return [state, []];
  const window = typeof modelContextWindow === "number" ? { modelContextWindow } : {};
  return [
    { ...state, totalTokens: total.totalTokens },
    [{ type: "usage", last: tokenUsage(last satisfies CodexTokens), ...window }],
  ];
}

function onError(state: TranslateState, { error, willRetry }: Params<"error">): Step {
  const told = turnError(error);
  if (!willRetry) return [{ ...state, failure: told }, []];
  // What was being said when the answer broke off is said anew, as another item.
  const [closed, events] = closeOpen(state, isText);
  return [closed, [...events, { type: "error", error: told, willRetry }]];
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

/** The changes that an item is about, as far as they are known. */
export function changesOf(state: TranslateState, itemId: string): Item<"fileChange">["changes"] {
  const item = state.open.get(itemIdOf(itemId));
  return item !== undefined && isKnownItem(item) && item.type === "fileChange" ? item.changes : [];
}
