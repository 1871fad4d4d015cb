import { type EventBody, type EventType, isEventType, isRecord, type StoredEvent } from "@flint/protocol";
import { isFoldable } from "./record-shape.ts";

/** The format of logs that this version writes; a log of a later one is not opened. */
export const LOG_VERSION = 1;

/** No record is longer, in bytes; what is longer in a file is damage and is skipped without holding it in memory. */
export const MAX_RECORD = 64 * 1024 * 1024;

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
