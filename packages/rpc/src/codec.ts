import { isRecord, STANDARD_CODES } from "@flint/protocol";
import {
  dropPrototypeKeys,
  findExcess,
  mayHoldPrototypeKey,
  rawMember,
  replaceLoneSurrogates,
} from "./json-text.ts";

/** Any value that JSON can hold. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A number that a JavaScript number would change (2^70, 1e400), preserved as the text it was received as. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** The digits as they were received. */
  toString(): string {
    return this.text;
  }
}

/** The id of a request: any JSON value, echoed as it was received; numbers preserve their exact value. */
export type Id = Json | ExactNumber;

/** The id as JSON text: goes on the wire, and serves as a key where ids of any type are compared. */
export function idText(id: Id): string {
  if (typeof id === "number") return Number.isFinite(id) ? String(id) : "null";
  if (id instanceof ExactNumber) return id.text;
  return JSON.stringify(id);
}

/** The id to echo for a parsed one, given how to get its text when the number may have lost digits. */
export function exactId(parsed: Json, text: () => string | undefined): Id {
  if (typeof parsed !== "number" || Number.isSafeInteger(parsed)) return parsed;
  const original = text();
  return original === undefined || original === String(parsed) ? parsed : new ExactNumber(original);
}

/** The error of a failed request, as JSON-RPC writes it. */
export type RpcError = { code: number; message: string; data?: unknown };

/** A line that is not a message. `answer` marks one with an id and no method, which was meant as a response. */
export type BadMessage = {
  kind: "bad";
  id: Id | null;
  fault: "parse" | "invalid";
  message: string;
  answer?: true;
};

/** One decoded line. */
export type Incoming =
  | { kind: "request"; id: Id; method: string; params: unknown }
  | { kind: "notification"; method: string; params: unknown }
  | { kind: "response"; id: Id; result: unknown }
  | { kind: "failure"; id: Id; error: RpcError }
  | BadMessage;

/** The envelope of messages: with `header` they carry the `jsonrpc` member. Both kinds are always read. */
export type Envelope = { header: boolean };

/**
 * Strictness of reading calls. `params`: objects and arrays only, as JSON-RPC requires, or any value, for an
 * owner with its own error messages. `ids`: any JSON value, or strings and integers only.
 */
export type Reading = { readonly params: "structured" | "any"; readonly ids: "any" | "plain" };

const USUAL: Reading = { params: "structured", ids: "any" };

const LONGEST_SALVAGED_ID = 1024;

// A vocabulary has a few hundred methods, and quoting one again costs a tenth of a whole notification.
const MOST_QUOTED_METHODS = 1024;
const quotedMethods = new Map<string, string>();

/**
 * Reads one line. Never throws: what is not a message comes back as `bad` with the id to answer, if it shows one.
 * Own `__proto__` keys are dropped, escaped lone surrogates become U+FFFD, `params: null` reads as no params.
 */
export function decode(text: string, reading: Reading = USUAL): Incoming {
  const excess = findExcess(text);
  if (excess !== undefined) return overLimit(text, excess);
  let value: unknown;
  try {
    value = parse(text);
  } catch {
    // Not JSON is ordinary input; the parser's own words would quote the line.
    return { kind: "bad", id: null, fault: "parse", message: "the line is not valid JSON" };
  }
  if (!isMembers(value)) return invalid(null, describe(value));
  return value.method === undefined ? decodeAnswer(value, text) : decodeCall(value, text, reading);
}

function parse(text: string): unknown {
  const escapes = text.includes("\\u");
  const value: unknown = JSON.parse(escapes ? replaceLoneSurrogates(text) : text);
  if (mayHoldPrototypeKey(text, escapes)) dropPrototypeKeys(value);
  return value;
}

type Members = { [name: string]: Json | undefined };

function isMembers(value: unknown): value is Members {
  return isRecord(value);
}

function decodeCall(members: Members, text: string, reading: Reading): Incoming {
  const { method, params } = members;
  const id = idOf(members, text);
  if (typeof method !== "string") return invalid(id ?? null, "the method is not a string");
  if (id === null) return invalid(null, "a request must not have the id null");
  if (reading.ids === "plain" && id !== undefined && !isPlain(id)) {
    return invalid(null, "the id is neither a text nor a whole number");
  }
  if (reading.params === "structured" && typeof params !== "object" && params !== undefined) {
    return invalid(id ?? null, "params is neither an object nor an array");
  }
  const given = params ?? undefined;
  if (id === undefined) return { kind: "notification", method, params: given };
  return { kind: "request", id, method, params: given };
}

function isPlain(id: Id): boolean {
  return typeof id === "string" || Number.isSafeInteger(id);
}

function decodeAnswer(members: Members, text: string): Incoming {
  const { result, error } = members;
  const id = idOf(members, text);
  if (id === undefined) return invalid(null, "the message has neither a method nor an id");
  if (error !== undefined && error !== null) return { kind: "failure", id, error: readError(error) };
  if (result !== undefined) return { kind: "response", id, result };
  return { ...invalid(id, "the message has no method, no result and no error"), answer: true };
}

function idOf(members: Members, text: string): Id | undefined {
  const id = members.id;
  return id === undefined ? undefined : exactId(id, () => rawMember(text, "id"));
}

/** A failure must reach the one who asked, so an error of any shape counts as one. */
function readError(error: Json): RpcError {
  if (!isMembers(error)) {
    return {
      code: STANDARD_CODES.internalError,
      message: typeof error === "string" ? error : "unknown error",
      data: error,
    };
  }
  const { code, message, data } = error;
  return {
    code: typeof code === "number" ? code : STANDARD_CODES.internalError,
    message: typeof message === "string" ? message : "unknown error",
    ...(data === undefined ? {} : { data }),
  };
}

function overLimit(text: string, excess: string): BadMessage {
  const id = salvageId(text);
  const bad = invalid(id, excess);
  const isAnswer = id !== null && rawMember(text, "method") === undefined;
  return isAnswer ? { ...bad, answer: true } : bad;
}

/** The id of a message that is not going to be parsed, when it is short enough to be an honest one. */
function salvageId(text: string): Id | null {
  const raw = rawMember(text, "id");
  if (raw === undefined || raw.length > LONGEST_SALVAGED_ID) return null;
  try {
    // JSON.parse can only give JSON.
    const parsed = JSON.parse(raw) as Json;
    return typeof parsed === "object" ? null : exactId(parsed, () => raw);
  } catch {
    // The member is not JSON either: there is no id to echo.
    return null;
  }
}

function invalid(id: Id | null, message: string): BadMessage {
  return { kind: "bad", id, fault: "invalid", message };
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return "batches are not supported: send one message per line";
  return "the message is not an object";
}

/** A request as a line, without the newline. */
export function encodeRequest(id: Id, method: string, params: unknown, envelope: Envelope): string {
  return `${opening(envelope)}"id":${idText(id)},"method":${quote(method)}${paramsMember(params)}}`;
}

/** A notification as a line, without the newline. */
export function encodeNotification(method: string, params: unknown, envelope: Envelope): string {
  return `${opening(envelope)}"method":${quote(method)}${paramsMember(params)}}`;
}

/** A notification around params that are JSON text already, so that one text can serve many peers. */
export function encodeNotificationRaw(method: string, paramsJson: string, envelope: Envelope): string {
  // Between tokens a line break is only space, inside strings JSON has none: a space keeps the line one line.
  const params = paramsJson.includes("\n") ? paramsJson.replaceAll("\n", " ") : paramsJson;
  return `${opening(envelope)}"method":${quote(method)},"params":${replaceLoneSurrogates(params)}}`;
}

/** A successful answer as a line, without the newline. No result is written as null. */
export function encodeResult(id: Id, result: unknown, envelope: Envelope): string {
  return `${opening(envelope)}"id":${idText(id)},"result":${write(result) ?? "null"}}`;
}

/** A successful answer around a result that is JSON text on one line already. */
export function encodeResultRaw(id: Id, resultJson: string, envelope: Envelope): string {
  return `${opening(envelope)}"id":${idText(id)},"result":${resultJson}}`;
}

/** A failed answer as a line, without the newline. */
export function encodeError(id: Id, error: RpcError, envelope: Envelope): string {
  const { code, message, data } = error;
  return `${opening(envelope)}"id":${idText(id)},"error":${write({ code, message, data })}}`;
}

function opening(envelope: Envelope): string {
  return envelope.header ? '{"jsonrpc":"2.0",' : "{";
}

function paramsMember(params: unknown): string {
  const json = write(params);
  return json === undefined ? "" : `,"params":${json}`;
}

function write(value: unknown): string | undefined {
  // The library type leaves out that undefined and functions give undefined.
  const json = JSON.stringify(value) as string | undefined;
  return json === undefined ? undefined : replaceLoneSurrogates(json);
}

function quote(method: string): string {
  const known = quotedMethods.get(method);
  if (known !== undefined) return known;
  const quoted = replaceLoneSurrogates(JSON.stringify(method));
  if (quotedMethods.size < MOST_QUOTED_METHODS) quotedMethods.set(method, quoted);
  return quoted;
}
