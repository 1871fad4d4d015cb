/** An object of a message, its members not looked at yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

const NOTHING: JsonObject = {};

/** The value as an object; an empty one if it is none, because agents leave out or null what they do not know. */
export function objectOf(value: unknown): JsonObject {
  if (!isObject(value)) return NOTHING;
  return value;
}

/** Whether the value is an object, and no list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value as a list; an empty one if it is none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value if it is text. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The value if it is a number. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
