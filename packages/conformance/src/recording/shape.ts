import { isRecord } from "@flint/protocol";

/**
 * What a value looks like: kinds of plain values as words, several of them joined by a bar; a list as the shape of its
 * parts; an object by its fields. An object that may be null has the field "null?".
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
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const NULLABLE = "null?";
const NULL = "null";

/** What a value looks like. */
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
  if (typeof value === "string" && !WORDS.has(field)) return UUID.test(value) ? "<uuid>" : "<text>";
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

/** Whether a value of this shape may be null. */
export function mayBeNull(shape: Shape): boolean {
  if (typeof shape === "string") return shape.split("|").includes(NULL);
  return isFields(shape) && NULLABLE in shape;
}

/** The fields of a shape that are those of the value. */
export function fieldsOf(shape: { readonly [field: string]: Shape }): readonly (readonly [string, Shape])[] {
  return Object.entries(shape).filter(([name]) => name !== NULLABLE);
}

/** Whether a shape is that of a list. */
export function isList(shape: Shape | undefined): shape is readonly Shape[] {
  return Array.isArray(shape);
}

/** Whether a shape is that of an object. */
export function isFields(shape: Shape | undefined): shape is { readonly [field: string]: Shape } {
  return isRecord(shape);
}

/** Ids as names of fields belong to the run. */
function keyOf(name: string): string {
  return UUID.test(name) ? "<uuid>" : name;
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
