import { isRecord } from "@flint/protocol";
import type { CheckResult } from "./check.ts";
import { at } from "./wire/pattern.ts";
import type { Entry, Message } from "./wire/wire.ts";

/** The messages of a server in a run, without what differs from run to run. */
export interface Recording {
  /** The messages of the server by the sentence of the check, one list for each connection, in order. */
  readonly conversations: Readonly<Record<string, readonly (readonly string[])[]>>;
  /** The shape of each kind of message, all of that kind together. */
  readonly shapes: Readonly<Record<string, Shape>>;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
/** Pieces of streams: how many there are, and where between other messages, is a matter of time. */
const PIECES = /[dD]elta$|_chunk$|tool_call_update$|summaryPartAdded$/;
const MOST_REFUSAL = 160;

/** The conversations of a run, normalised: the same from run to run and from machine to machine. */
export function recordingOf(findings: readonly CheckResult[]): Recording {
  const shapes = new Map<string, Shape>();
  const conversations = findings.map(({ name, conversations }) => {
    const own = subjectsOf(conversations.flat());
    const steps = conversations.map((entries) => serverSteps(entries, own));
    for (const { what, body } of steps.flat()) {
      const known = shapes.get(what);
      shapes.set(what, known === undefined ? shapeOf(body) : joinedShapes(known, shapeOf(body)));
    }
    return [
      name,
      steps.map((list) => list.map(({ line }) => line).filter((line) => !PIECES.test(line))),
    ] as const;
  });
  const sorted = [...shapes].sort(([one], [other]) => (one < other ? -1 : 1));
  return { conversations: Object.fromEntries(conversations), shapes: Object.fromEntries(sorted) };
}

interface ServerStep {
  /** The kind of message. */
  readonly what: string;
  /** The same, and for a refusal its number and text. */
  readonly line: string;
  readonly body: unknown;
}

/** The threads or sessions that a check is about: it names them, or was given them. */
function subjectsOf(entries: readonly Entry[]): ReadonlySet<unknown> {
  const messages = entries.flatMap(({ direction, message }) =>
    direction === "sent" || !("method" in (message ?? {})) ? [message] : [],
  );
  return new Set(messages.flatMap((message) => [subjectOf(message?.params), subjectOf(message?.result)]));
}

function subjectOf(body: unknown): unknown {
  return at(body, "threadId") ?? at(body, "sessionId") ?? at(body, "thread", "id");
}

/**
 * Returns the messages of the server. Late ones about the thread of an earlier check on the same connection
 * are not part of this one.
 */
function serverSteps(entries: readonly Entry[], own: ReadonlySet<unknown>): ServerStep[] {
  const asked = new Map<unknown, string>();
  return entries.flatMap(({ direction, message }) => {
    if (message !== undefined && "method" in message && !own.has(subjectOf(message.params))) {
      if (direction === "came") return [];
    }
    if (direction === "came") return [message === undefined ? NO_MESSAGE : stepOf(message, asked)];
    if (message !== undefined && "method" in message) asked.set(message.id, String(message.method));
    return [];
  });
}

const NO_MESSAGE: ServerStep = { what: "(no message)", line: "(no message)", body: null };

function stepOf(message: Message, asked: ReadonlyMap<unknown, string>): ServerStep {
  if (typeof message.method === "string") {
    const what = nameOf(message.method, message);
    return { what, line: what, body: message.params };
  }
  const method = asked.get(message.id) ?? "a request";
  if (!("error" in message)) {
    const what = `answer to ${method}`;
    return { what, line: what, body: message.result };
  }
  const line = `refusal of ${method}: ${String(at(message.error, "code"))} ${refusalText(message.error)}`;
  return { what: "refusal", line, body: isRecord(message.error) ? { ...message.error, data: null } : null };
}

/** The fields that distinguish kinds of one notification. */
function nameOf(method: string, { params }: Message): string {
  const kind =
    at(params, "update", "sessionUpdate") ?? at(params, "item", "type") ?? at(params, "status", "type");
  return typeof kind === "string" ? `${method} ${kind}` : method;
}

/** The text of a refusal counts, but for what belongs to the run. */
function refusalText(error: unknown): string {
  const text = String(at(error, "message")).replaceAll(UUID, "<uuid>");
  return text.replace(/(, expected one of `[^`]*`, `[^`]*`,).*$/s, "$1 …").slice(0, MOST_REFUSAL);
}

/**
 * The shape of a value: kinds of plain values as words, several of them joined by a bar; a list as the shape
 * of its parts; an object by its fields. An object that may be null has the field "null?".
 */
export type Shape = string | readonly Shape[] | { readonly [field: string]: Shape };

/** Fields whose value is a word of the protocol and not of one run. */
const WORDS = new Set([
  "type",
  "status",
  "itemsView",
  "code",
  "sessionUpdate",
  "stopReason",
  "approvalPolicy",
]);
const UUID_ONLY = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const NULLABLE = "null?";
const NULL = "null";

/** Returns the shape of a value. */
export function shapeOf(value: unknown, field = ""): Shape {
  if (Array.isArray(value)) {
    const parts = value.map((part) => shapeOf(part));
    return parts.length === 0 ? [] : [parts.reduce(joinedShapes)];
  }
  if (isRecord(value)) {
    const fields = Object.entries(value).map(([name, part]) => [keyOf(name), shapeOf(part, name)] as const);
    return Object.fromEntries(fields.sort(([one], [other]) => (one < other ? -1 : 1)));
  }
  if (value === null || value === undefined) return NULL;
  if (typeof value === "string" && !WORDS.has(field)) return UUID_ONLY.test(value) ? "<uuid>" : "<text>";
  return WORDS.has(field) ? String(value) : `<${typeof value}>`;
}

/** The shape of what looks like either. A field that one of them lacks may be null. */
export function joinedShapes(one: Shape, other: Shape): Shape {
  if (typeof one === "string" && typeof other === "string") return joinedWords(one, other);
  if (one === NULL) return nullable(other);
  if (other === NULL) return nullable(one);
  if (isList(one) && isList(other)) return joinedLists(one, other);
  if (isFields(one) && isFields(other)) return joinedFields(one, other);
  // Kinds that have nothing in common: the first stands for both, and a comparison shows the rest.
  return one;
}

/** Reports whether a value of this shape may be null. */
export function mayBeNull(shape: Shape): boolean {
  if (typeof shape === "string") return shape.split("|").includes(NULL);
  return isFields(shape) && NULLABLE in shape;
}

/** The fields of a shape that are those of the value. */
export function fieldsOf(shape: { readonly [field: string]: Shape }): readonly (readonly [string, Shape])[] {
  return Object.entries(shape).filter(([name]) => name !== NULLABLE);
}

/** Reports whether a shape is that of a list. */
export function isList(shape: Shape | undefined): shape is readonly Shape[] {
  return Array.isArray(shape);
}

/** Reports whether a shape is that of an object. */
export function isFields(shape: Shape | undefined): shape is { readonly [field: string]: Shape } {
  return isRecord(shape);
}

/** Ids as names of fields belong to the run. */
function keyOf(name: string): string {
  return UUID_ONLY.test(name) ? "<uuid>" : name;
}

function joinedWords(one: string, other: string): string {
  return [...new Set([...one.split("|"), ...other.split("|")])].sort().join("|");
}

function nullable(shape: Shape): Shape {
  if (isList(shape)) return shape;
  return typeof shape === "string" ? joinedWords(shape, NULL) : { [NULLABLE]: "", ...shape };
}

function joinedLists([one]: readonly Shape[], [other]: readonly Shape[]): Shape {
  if (one === undefined || other === undefined) return [one ?? other].flatMap((part) => part ?? []);
  return [joinedShapes(one, other)];
}

function joinedFields(
  one: { readonly [field: string]: Shape },
  other: { readonly [field: string]: Shape },
): Shape {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])].sort();
  const fields = names.map((name) => {
    const joined = name === NULLABLE ? "" : joinedShapes(one[name] ?? NULL, other[name] ?? NULL);
    return [name, joined] as const;
  });
  return Object.fromEntries(fields);
}
