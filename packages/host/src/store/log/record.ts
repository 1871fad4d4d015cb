import {
  DecisionScope,
  type EventBody,
  type EventType,
  isEventType,
  isRecord,
  type StoredEvent,
  type Thread,
  ThreadSettings,
} from "@flint/protocol";

/** The format of logs that this version writes; a log of a later one is not opened. */
export const LOG_VERSION = 1;

/** No record is longer, in bytes; what is longer in a file is damage and is skipped without holding it in memory. */
export const MAX_RECORD = 64 * 1024 * 1024;

/** The byte that ends each line of a log. */
export const LINE_END = 10;

/** The first line of a log. */
export interface LogHeader {
  readonly version: number;
  readonly epoch: string;
  readonly createdAtMs: number;
}

/** What one line of a log is. `foreign` records are of a later version: they count, and are left alone. */
export type Line =
  | { readonly kind: "event"; readonly event: StoredEvent }
  | { readonly kind: "foreign"; readonly seq: number }
  | { readonly kind: "header"; readonly header: LogHeader }
  | { readonly kind: "blank" }
  | { readonly kind: "damaged" };

const BLANK: Line = { kind: "blank" };
const DAMAGED: Line = { kind: "damaged" };

/** The header line, without its line end. */
export function encodeHeader(threadId: string, header: LogHeader): string {
  const { version, epoch, createdAtMs } = header;
  return JSON.stringify({ flint: "thread-log", version, epoch, threadId, createdAtMs });
}

/** The line of a record, without its line end. The order of its keys is part of the format: see `glance`. */
export function encodeRecord(seq: number, at: number, body: EventBody): string {
  return wellFormed(`{"seq":${seq},"at":${at},"type":"${body.type}","data":${JSON.stringify(body.data)}}`);
}

/**
 * JSON text in which half a surrogate pair is replaced by U+FFFD. JSON.stringify writes such halves, and only
 * them, as \udXXX; many readers refuse a text that contains one for ever after.
 */
export function wellFormed(json: string): string {
  if (!json.includes("\\ud")) return json;
  // Every escape is matched whole, so that an escaped backslash before "ud" is not taken for one.
  return json.replace(/\\(?:ud[89a-f][0-9a-f]{2}|.)/g, (match) => (match.length > 2 ? "\ufffd" : match));
}

/** What a line means. Never throws, whatever is in it. */
export function decodeLine(text: string): Line {
  const value = parse(text);
  if (value === undefined) return text.trim() === "" ? BLANK : DAMAGED;
  if (!isRecord(value)) return DAMAGED;
  if (value.flint === "thread-log") return decodeHeader(value);
  const { seq, at, type, data } = value;
  if (typeof seq !== "number" || !Number.isSafeInteger(seq) || seq < 1) return DAMAGED;
  if (typeof at !== "number" || typeof type !== "string" || !isRecord(data)) return DAMAGED;
  if (!isEventType(type)) return { kind: "foreign", seq };
  return isFoldable(type, data) ? { kind: "event", event: storedEvent(seq, at, type, data) } : DAMAGED;
}

function decodeHeader(value: Readonly<Record<string, unknown>>): Line {
  const { version, epoch, createdAtMs } = value;
  if (typeof version !== "number" || typeof epoch !== "string" || epoch === "") return DAMAGED;
  const created = typeof createdAtMs === "number" ? createdAtMs : 0;
  return { kind: "header", header: { version, epoch, createdAtMs: created } };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A cut of power can leave a block of NULs in front of a whole record.
    return text.charCodeAt(0) === 0 ? parse(withoutNuls(text)) : undefined;
  }
}

function withoutNuls(text: string): string {
  let start = 0;
  while (text.charCodeAt(start) === 0) start += 1;
  return text.slice(start);
}

function storedEvent(seq: number, at: number, type: EventType, data: object): StoredEvent {
  const event: unknown = { seq, at, type, data };
  // The type names the shape of the data, and the shape was checked as far as the fold relies on it.
  return event as StoredEvent;
}

/** What can be told of a record by its first bytes. */
export interface Glance {
  readonly seq: number;
  readonly type: string;
  readonly turnId: string | undefined;
  /** The item that it is about, or a piece of. */
  readonly itemId: string | undefined;
}

const START =
  /^\{"seq":(\d{1,15}),"at":[\d.]+,"type":"([\w/]+)","data":\{(?:"threadId":"[\w-]+"(?:,"turnId":"([\w-]+)"(?:,"item(?:Id":"|":\{"type":"\w+","id":")([\w-]+)")?)?)?/;

/** Enough bytes of a line for a glance at the longest start of a record. */
export const GLANCE_BYTES = 512;

/** Reads the start of a record without parsing it; undefined if it does not look like one of ours. */
export function glance(start: string): Glance | undefined {
  const match = START.exec(start);
  if (match === null) return undefined;
  const [, seq = "", type = "", turnId, itemId] = match;
  return { seq: Number(seq), type, turnId, itemId };
}

type Fields = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number";
const isBoolean: Check = (value) => typeof value === "boolean";

function fields(checks: Readonly<Record<string, Check>>): Check {
  const entries = Object.entries(checks);
  return (value) => isRecord(value) && entries.every(([name, check]) => check(value[name]));
}

function listOf(check: Check): Check {
  return (value) => Array.isArray(value) && value.every(check);
}

const item = fields({ type: isText, id: isText });

/** Whether a value of a file can be shown as a turn. */
export const isTurn: Check = fields({ id: isText, status: isText, items: listOf(item) });

const usage = fields({ inputTokens: isNumber, outputTokens: isNumber });

/** Whether a value of a file is the settings of a thread. Exact: a damaged policy must not read as a weaker one. */
export const isThreadSettings: Check = (value) => ThreadSettings.safeParse(value).success;

const hasThreadFields = fields({
  id: isText,
  preview: isText,
  modelProvider: isText,
  model: isText,
  cwd: isText,
  createdAt: isNumber,
  updatedAt: isNumber,
  archived: isBoolean,
  ephemeral: isBoolean,
  status: fields({ type: isText }),
});

/** Whether a value of a file can be listed as a thread. */
export function isThread(value: unknown): value is Thread {
  return hasThreadFields(value);
}

/** Exact, because a damaged scope must never read as a wider one. */
const decision = fields({ outcome: isText, scope: (value) => DecisionScope.safeParse(value).success });

const itemEvent = fields({ turnId: isText, item });
const delta = fields({ turnId: isText, itemId: isText, delta: isText, offset: isNumber });

/**
 * What the fold needs of each event, and no more: a record that was written must stay readable even if a driver
 * was careless about a detail that only its schema knows.
 */
const SHAPES: Readonly<Partial<Record<EventType, Check>>> = {
  "thread/started": fields({ thread: hasThreadFields, settings: isThreadSettings }),
  "thread/settings/updated": fields({ settings: isThreadSettings }),
  "thread/name/updated": fields({ name: isText }),
  "thread/goal/updated": fields({ goal: fields({ objective: isText, status: isText }) }),
  "thread/session/updated": fields({ agent: isText, nativeId: isText }),
  "thread/reverted": fields({ turnIds: listOf(isText) }),
  "thread/revert/undone": fields({ revertId: isText, turns: listOf(isTurn) }),
  "thread/queue/changed": fields({ queue: listOf(fields({ id: isText, input: Array.isArray })) }),
  "thread/tokenUsage/updated": fields({ usage, last: usage }),
  "turn/started": fields({ turn: isTurn }),
  "turn/completed": fields({ turn: isTurn }),
  "item/started": itemEvent,
  "item/completed": itemEvent,
  "item/agentMessage/delta": delta,
  "item/reasoning/textDelta": delta,
  "item/reasoning/summaryTextDelta": delta,
  "item/commandExecution/outputDelta": delta,
  "item/fileChange/outputDelta": delta,
  "item/plan/delta": delta,
  "approval/requested": fields({ approval: fields({ id: isText, turnId: isText, action: isRecord }) }),
  "approval/resolved": fields({ approvalId: isText, resolution: fields({ decision }) }),
  "question/requested": fields({ request: fields({ id: isText, turnId: isText, questions: Array.isArray }) }),
  "question/resolved": fields({ questionId: isText }),
  "tool/requested": fields({ request: fields({ id: isText, turnId: isText, tool: isText }) }),
  "tool/resolved": fields({ callId: isText }),
};

/** Whether the data of a record can be folded. */
export function isFoldable(type: EventType, data: Fields): boolean {
  return SHAPES[type]?.(data) ?? true;
}
