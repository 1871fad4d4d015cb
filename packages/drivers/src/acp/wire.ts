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

/** The first of several members that is a text which says something. */
export function firstText(object: JsonObject, ...names: readonly string[]): string | undefined {
  return names.map((name) => textOf(object[name])).find((text) => text !== undefined && text !== "");
}

/** The text in a content block; what cannot be shown as text is named. */
export function blockText(block: unknown): string {
  const { type, text, uri, name, resource } = objectOf(block);
  switch (type) {
    case "text":
      return textOf(text) ?? "";
    case "resource_link":
      return textOf(uri) ?? textOf(name) ?? "";
    case "resource":
      return textOf(objectOf(resource).text) ?? textOf(objectOf(resource).uri) ?? "";
    default:
      return typeof type === "string" ? `[${type}]` : "";
  }
}
