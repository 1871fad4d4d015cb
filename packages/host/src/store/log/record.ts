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

/** The version of the log format. Logs of a later version are not opened. */
export const LOG_VERSION = 1;

/** The longest record in bytes; a longer line is damage and is skipped without loading it. */
export const MAX_RECORD = 64 * 1024 * 1024;

/** The byte that ends each line of a log. */
export const LINE_END = 10;

/** The first line of a log. */
export interface LogHeader {
  readonly version: number;
  readonly epoch: string;
  readonly createdAtMs: number;
}

/** A decoded line of a log. `foreign` records are of a later version: they take a number, and are ignored. */
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

/** The line of a record, without its line end. The order of its keys is part of the format: see `parsePrefix`. */
export function encodeRecord(seq: number, at: number, body: EventBody): string {
  return wellFormed(`{"seq":${seq},"at":${at},"type":"${body.type}","data":${JSON.stringify(body.data)}}`);
}

/**
 * JSON with lone surrogates replaced by U+FFFD. JSON.stringify writes them, and only them, as \udXXX, and many readers
 * reject text that contains one.
 */
export function wellFormed(json: string): string {
  if (!json.includes("\\ud")) return json;
  // Every escape is matched whole, so that an escaped backslash before "ud" is not taken for one.
  return json.replace(/\\(?:ud[89a-f][0-9a-f]{2}|.)/g, (match) => (match.length > 2 ? "\ufffd" : match));
}

/** Decodes a line. Never throws. */
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
    // A power failure can leave a block of NULs before a complete record.
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
  // The type determines the shape of the data, which was checked as far as the fold relies on it.
  return event as StoredEvent;
}

/** The fields in the first bytes of a record. */
export interface RecordPrefix {
  readonly seq: number;
  readonly type: string;
  readonly turnId: string | undefined;
  /** The item that the event is about. */
  readonly itemId: string | undefined;
}

const PREFIX =
  /^\{"seq":(\d{1,15}),"at":[\d.]+,"type":"([\w/]+)","data":\{(?:"threadId":"[\w-]+"(?:,"turnId":"([\w-]+)"(?:,"item(?:Id":"|":\{"type":"\w+","id":")([\w-]+)")?)?)?/;

/** Enough bytes of a line for the longest prefix. */
export const PREFIX_BYTES = 512;

/** Reads the start of a record without parsing its JSON; undefined if it does not match the format. */
export function parsePrefix(start: string): RecordPrefix | undefined {
  const match = PREFIX.exec(start);
  if (match === null) return undefined;
  const [, seq = "", type = "", turnId, itemId] = match;
  return { seq: Number(seq), type, turnId, itemId };
}

type Fields = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

const isString: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number";
const isBoolean: Check = (value) => typeof value === "boolean";

function fields(checks: Readonly<Record<string, Check>>): Check {
  const rows = Object.entries(checks).map(([name, check]) => ({ name, check }));
  return (value) => {
    if (!isRecord(value)) return false;
    // The plainest loop, because it runs for every thread and record of a store before it is compiled.
    for (let at = 0; at < rows.length; at += 1) {
      const row = rows[at];
      if (row !== undefined && !row.check(value[row.name])) return false;
    }
    return true;
  };
}

function listOf(check: Check): Check {
  return (value) => Array.isArray(value) && value.every(check);
}

const item = fields({ type: isString, id: isString });

/** True if a stored value can be shown as a turn. */
export const isTurn: Check = fields({ id: isString, status: isString, items: listOf(item) });

const usage = fields({ inputTokens: isNumber, outputTokens: isNumber });

/** True if a stored value is the settings of a thread. Exact: a damaged policy must not be read as a weaker one. */
export const isThreadSettings: Check = (value) => ThreadSettings.safeParse(value).success;

const hasThreadFields = fields({
  id: isString,
  preview: isString,
  modelProvider: isString,
  model: isString,
  cwd: isString,
  createdAt: isNumber,
  updatedAt: isNumber,
  archived: isBoolean,
  ephemeral: isBoolean,
  status: fields({ type: isString }),
});

/** Reports whether a stored value can be listed as a thread. */
export function isThread(value: unknown): value is Thread {
  return hasThreadFields(value);
}

/** Exact, because a damaged scope must never be read as a wider one. */
const decision = fields({ outcome: isString, scope: (value) => DecisionScope.safeParse(value).success });

const itemEvent = fields({ turnId: isString, item });
const delta = fields({ turnId: isString, itemId: isString, delta: isString, offset: isNumber });

/**
 * The fields of each event that the fold needs, and no more: a stored record must stay readable even if a
 * driver did not follow the schema in every detail.
 */
const SHAPES: Readonly<Partial<Record<EventType, Check>>> = {
  "thread/started": fields({ thread: hasThreadFields, settings: isThreadSettings }),
  "thread/settings/updated": fields({ settings: isThreadSettings }),
  "thread/name/updated": fields({ name: isString }),
  "thread/commands/updated": fields({ agent: isString, commands: listOf(fields({ name: isString })) }),
  "thread/goal/updated": fields({ goal: fields({ objective: isString, status: isString }) }),
  "thread/session/updated": fields({ agent: isString, nativeId: isString }),
  "thread/reverted": fields({ turnIds: listOf(isString) }),
  "thread/revert/undone": fields({ revertId: isString, turns: listOf(isTurn) }),
  "thread/queue/changed": fields({ queue: listOf(fields({ id: isString, input: Array.isArray })) }),
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
  "approval/requested": fields({ approval: fields({ id: isString, turnId: isString, action: isRecord }) }),
  "approval/resolved": fields({ approvalId: isString, resolution: fields({ decision }) }),
  "question/requested": fields({
    request: fields({ id: isString, turnId: isString, questions: Array.isArray }),
  }),
  "question/resolved": fields({ questionId: isString }),
  "tool/requested": fields({ request: fields({ id: isString, turnId: isString, tool: isString }) }),
  "tool/resolved": fields({ callId: isString }),
};

/** Reports whether the data of a record can be folded. */
export function isFoldable(type: EventType, data: Fields): boolean {
  return SHAPES[type]?.(data) ?? true;
}
