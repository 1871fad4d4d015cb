import { isAbsolute, relative } from "node:path";
import type { DriverEvent } from "@flint/core/ports";
import type { UsageLimitStatus } from "@flint/protocol";
import { continues, type Item, LIMITS, type PlanEntry, planOf, type TurnErrorInfo } from "@flint/protocol";

/** A message or a reasoning that is being streamed. */
export interface OpenText {
  readonly kind: "message" | "reasoning";
  readonly id: string;
  /** The agent's own id of the message, if it has one: another id begins another item. */
  readonly messageId: string | undefined;
  /** The text that was streamed so far, up to the limit of what clients are sent. */
  readonly text: string;
  /** The length of all that was streamed. */
  readonly length: number;
}

/** The part of a translator's state that numbers the items of a turn and joins streamed pieces to items. */
export interface ItemStream {
  readonly turnId: string;
  /** The number of items that the turn has so far; their ids are derived from it. */
  readonly items: number;
  /** Number of characters of its closed texts that were kept. */
  readonly kept: number;
  readonly open: OpenText | undefined;
}

/** The next state, and the events to emit. */
export type StreamStep = readonly [ItemStream, readonly DriverEvent[]];

/** The state at the beginning of a turn. */
export function beginStream(turnId: string): ItemStream {
  return { turnId, items: 0, kept: 0, open: undefined };
}

/** An id for an item, and the state in which it is taken. */
export function takeItemId({ turnId, items, kept, open }: ItemStream): readonly [ItemStream, string] {
  return [{ turnId, items: items + 1, kept, open }, `${turnId}-${items + 1}`];
}

/**
 * Returns the number of characters of a text that are worth keeping in a turn that has kept this many: no
 * more of it is stored.
 */
export function remainingTextCapacity(kept: number): number {
  return Math.min(LIMITS.text, Math.max(LIMITS.turnText - kept, LIMITS.lateText));
}

/**
 * A streamed piece: it continues the open item if it is of the same kind and message, and begins another one if not.
 * It runs for every piece of text, and naming the fields is much faster there than copying them.
 */
export function streamText(
  stream: ItemStream,
  kind: OpenText["kind"],
  piece: string,
  messageId?: string,
): StreamStep {
  if (piece === "") return [stream, []];
  const { turnId, items, kept, open } = stream;
  if (open?.kind === kind && (messageId === undefined || open.messageId === messageId)) {
    const { id, text, length } = open;
    const streamed = text.length > remainingTextCapacity(kept) ? text : text + piece;
    const longer = { kind, id, messageId: open.messageId, text: streamed, length: length + piece.length };
    return [{ turnId, items, kept, open: longer }, [deltaOf(open, piece)]];
  }
  const [closed, ended] = closeText(stream);
  const [next, id] = takeItemId(closed);
  const begun: OpenText = { kind, id, messageId, text: piece, length: piece.length };
  const started: DriverEvent = { type: "item/started", item: itemOf({ ...begun, text: "" }) };
  return [{ ...next, open: begun }, [...ended, started, deltaOf(begun, piece)]];
}

/** A complete text of which a part may have been streamed. Its item ends with the complete text. */
export function completeText(
  stream: ItemStream,
  kind: OpenText["kind"],
  text: string,
  partial = false,
): StreamStep {
  const streamed = stream.open?.kind === kind ? stream.open : undefined;
  if (streamed !== undefined && !continues(text, streamed.text)) {
    return closeText({ ...stream, open: { ...streamed, text } }, partial);
  }
  const [{ turnId, items, kept, open }, events] = streamText(stream, kind, text.slice(streamed?.length ?? 0));
  const complete = open?.kind === kind ? { ...open, text } : open;
  const [closed, ended] = closeText({ turnId, items, kept, open: complete }, partial);
  return [closed, [...events, ...ended]];
}

/** Completes the open item, if there is one. */
export function closeText({ turnId, items, kept, open }: ItemStream, partial = false): StreamStep {
  if (open === undefined) return [{ turnId, items, kept, open }, []];
  const item = { ...itemOf(open), ...(partial ? { partial } : {}) };
  const all = kept + Math.min(open.text.length, remainingTextCapacity(kept));
  return [{ turnId, items, kept: all, open: undefined }, [{ type: "item/completed", item }]];
}

/** A plan with these entries. It is one item for the whole turn; the id is used if there is none yet. */
export function updatePlan(
  known: Item<"plan"> | undefined,
  id: string,
  entries: readonly PlanEntry[],
  explanation = "",
): readonly [Item<"plan">, readonly DriverEvent[]] {
  const updated: DriverEvent = { type: "turn/plan/updated", explanation, plan: entries };
  if (known !== undefined) return [{ ...known, ...planOf(entries) }, [updated]];
  const plan: Item<"plan"> = { type: "plan", id, ...planOf(entries) };
  return [plan, [{ type: "item/started", item: plan }, updated]];
}

function itemOf({ kind, id, text }: OpenText): Item<"agentMessage"> | Item<"reasoning"> {
  return kind === "message" ? { type: "agentMessage", id, text } : { type: "reasoning", id, content: text };
}

function deltaOf({ kind, id: itemId }: OpenText, delta: string): DriverEvent {
  const type = kind === "message" ? "item/agentMessage/delta" : "item/reasoning/textDelta";
  return { type, itemId, delta };
}

/** A path as it is shown to users: relative to the workspace if the file is in it. */
export function displayPath(path: string, cwd: string): string {
  if (!isAbsolute(path)) return path;
  const inside = relative(cwd, path);
  return inside === "" || inside.startsWith("..") || isAbsolute(inside) ? path : inside;
}

/** Returns the kind of failure for an HTTP status of a model's provider. */
export function errorInfoOfStatus(status: number | undefined): TurnErrorInfo {
  if (status === undefined || status < 400) return "Other";
  if (status === 401 || status === 403) return "Unauthorized";
  if (status === 429) return "UsageLimitExceeded";
  return status >= 500 ? "InternalServerError" : "BadRequest";
}

/** Above this, clients should warn. */
const WARNING_PERCENT = 90;

/** The name of the window of a limit, the same for every agent: "5 hours", "7 days". */
export function windowName(minutes: number): string {
  const [count, unit] =
    minutes % 1440 === 0
      ? [minutes / 1440, "day"]
      : minutes % 60 === 0
        ? [minutes / 60, "hour"]
        : [minutes, "minute"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** A time as agents report it, in unix seconds or milliseconds, as unix milliseconds. */
export function unixMilliseconds(time: unknown): number | undefined {
  if (typeof time !== "number" || !Number.isFinite(time) || time <= 0) return undefined;
  return time > 100_000_000_000 ? time : time * 1000;
}

/** Returns the status of a limit at a used percentage. */
export function statusAt(usedPercent: number): UsageLimitStatus {
  if (usedPercent >= 100) return "reached";
  return usedPercent >= WARNING_PERCENT ? "warning" : "ok";
}
