import { type JsonObject, objectOf, stringOf } from "../shared/json.ts";

export { type JsonObject, listOf, numberOf, objectOf, stringOf } from "../shared/json.ts";

/** The first of several members that is a text which says something. */
export function firstText(object: JsonObject, ...names: readonly string[]): string | undefined {
  return names.map((name) => stringOf(object[name])).find((text) => text !== undefined && text !== "");
}

/** The text in a content block; what cannot be shown as text is named. */
export function blockText(block: unknown): string {
  const { type, text, uri, name, resource } = objectOf(block);
  switch (type) {
    case "text":
      return stringOf(text) ?? "";
    case "resource_link":
      return stringOf(uri) ?? stringOf(name) ?? "";
    case "resource":
      return stringOf(objectOf(resource).text) ?? stringOf(objectOf(resource).uri) ?? "";
    default:
      return typeof type === "string" ? `[${type}]` : "";
  }
}
