import type { Given } from "../intents/given.ts";

/** The text of content that is a text, or a list of parts of which some are texts; empty if it is missing. */
export function contentText(given: Given): string {
  if (given.isMissing) return "";
  if (!given.isList) return given.text();
  return given
    .items()
    .flatMap((part) => (part.at("type").value === "text" ? [part.at("text").text()] : []))
    .join("\n");
}
