import { ITEMS } from "@flint/protocol";
import { itemTypeName } from "@flint/protocol/schema";
import { anchor } from "./markdown.ts";

const itemLinks = new Map(Object.keys(ITEMS).map((type) => [itemTypeName(type), `items.md#${anchor(type)}`]));

/**
 * Returns the link to a named type of the Flint wire: items have their own page, everything else is among the
 * types.
 */
export function flintType(name: string): string {
  return itemLinks.get(name) ?? `types.md#${anchor(name)}`;
}

/** Returns the link to a named type from the page of the harness protocol, which describes its own. */
export function harnessType(name: string): string {
  return name.startsWith("Harness") ? `#${anchor(name)}` : flintType(name);
}
