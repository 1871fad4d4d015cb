import { isRecord } from "@flint/protocol";

/** The server does not do what the check requires. The message describes what happened instead. */
export class Failed extends Error {
  override readonly name = "Failed";
}

/** The server does not offer this, or it cannot be tested here. */
export class NotOffered extends Error {
  override readonly name = "NotOffered";
}

/** A named condition on a value. */
export class Matcher {
  readonly what: string;
  readonly holds: (value: unknown) => boolean;

  constructor(what: string, holds: (value: unknown) => boolean) {
    this.what = what;
    this.holds = holds;
  }
}

/**
 * The expected form of a value: itself, a regular expression for a string, a matcher, an array of the same
 * length, or an object whose named fields match; other fields are ignored.
 */
export type Pattern =
  | string
  | number
  | boolean
  | null
  | RegExp
  | Matcher
  | readonly Pattern[]
  | { readonly [field: string]: Pattern };

const UUID_FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Any text. */
export const STRING = new Matcher("a text", (value) => typeof value === "string");
/** A text that is not empty. */
export const NON_EMPTY_STRING = new Matcher(
  "a text that is not empty",
  (value) => typeof value === "string" && value !== "",
);
/** A finite number. */
export const NUMBER = new Matcher("a number", (value) => typeof value === "number" && Number.isFinite(value));
/** True or false. */
export const BOOLEAN = new Matcher("true or false", (value) => typeof value === "boolean");
/** A list of whatever. */
export const LIST = new Matcher("a list", Array.isArray);
/** A list with something in it. */
export const NON_EMPTY_ARRAY = new Matcher(
  "a list that is not empty",
  (value) => Array.isArray(value) && value.length > 0,
);
/** An object with whatever fields. */
export const OBJECT = new Matcher("an object", isRecord);
/** A UUID as text. */
export const UUID = new Matcher("a UUID", (value) => typeof value === "string" && UUID_FORM.test(value));
/** A field that is absent or null. */
export const NULLISH = new Matcher("absent or null", (value) => value === undefined || value === null);

/** One of several. */
export function anyOf(...patterns: readonly Pattern[]): Matcher {
  const what = patterns.map(described).join(" or ");
  return new Matcher(what, (value) => patterns.some((pattern) => mismatch(value, pattern) === undefined));
}

/** Fails the check unless the value fits; `what` names the value in the sentence. */
export function expectFit(what: string, value: unknown, pattern: Pattern): void {
  const problem = mismatch(value, pattern);
  if (problem !== undefined) throw new Failed(`${what}${problem}`);
}

/** The problem with a value, as the end of a sentence that begins with its name; undefined if it fits. */
export function mismatch(value: unknown, pattern: Pattern): string | undefined {
  if (pattern instanceof Matcher) {
    return pattern.holds(value) ? undefined : isNot(value, pattern);
  }
  if (pattern instanceof RegExp) {
    return typeof value === "string" && pattern.test(value) ? undefined : isNot(value, pattern);
  }
  if (Array.isArray(pattern)) return listMismatch(value, pattern);
  if (isRecord(pattern)) return fieldMismatch(value, pattern);
  return value === pattern ? undefined : isNot(value, pattern);
}

function listMismatch(value: unknown, pattern: readonly Pattern[]): string | undefined {
  if (!Array.isArray(value) || value.length !== pattern.length) return isNot(value, pattern);
  return firstOf(pattern.map((part, place) => within(`[${place}]`, mismatch(value[place], part))));
}

function fieldMismatch(value: unknown, pattern: Readonly<Record<string, unknown>>): string | undefined {
  if (!isRecord(value)) return ` should be an object, but is ${formatValue(value)}`;
  return firstOf(
    Object.entries(pattern).map(([field, part]) =>
      // The fields of an object pattern are patterns; `isRecord` cannot say so.
      within(`.${field}`, mismatch(value[field], part as Pattern)),
    ),
  );
}

function firstOf(problems: readonly (string | undefined)[]): string | undefined {
  return problems.find((problem) => problem !== undefined);
}

function within(place: string, problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : `${place}${problem}`;
}

function isNot(value: unknown, pattern: Pattern): string {
  return ` should be ${described(pattern)}, but is ${formatValue(value)}`;
}

function described(pattern: Pattern): string {
  if (pattern instanceof Matcher) return pattern.what;
  if (pattern instanceof RegExp) return `a text like ${pattern}`;
  if (Array.isArray(pattern)) return `[${pattern.map(described).join(", ")}]`;
  if (isRecord(pattern)) return "an object like that";
  return JSON.stringify(pattern);
}

/** A value as a report shows it: JSON, not too long. */
export function formatValue(value: unknown, most = 300): string {
  if (value === undefined) return "absent";
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`;
}

/** The value at a place in an answer; undefined where the way to it ends early. */
export function at(value: unknown, ...fields: readonly (string | number)[]): unknown {
  let here = value;
  for (const field of fields) {
    if (Array.isArray(here) && typeof field === "number") here = here[field];
    else if (isRecord(here)) here = here[field];
    else return undefined;
  }
  return here;
}

/** The text at a place in an answer; fails the check if there is none. */
export function stringAt(value: unknown, ...fields: readonly (string | number)[]): string {
  const found = at(value, ...fields);
  if (typeof found === "string") return found;
  throw new Failed(`${fields.join(".")} should be a text, but is ${formatValue(found)}`);
}

/** The list at a place in an answer; fails the check if there is none. */
export function listAt(value: unknown, ...fields: readonly (string | number)[]): readonly unknown[] {
  const found = at(value, ...fields);
  if (Array.isArray(found)) return found;
  throw new Failed(`${fields.join(".")} should be a list, but is ${formatValue(found)}`);
}
