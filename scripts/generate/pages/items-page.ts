import { ITEMS, type ItemType } from "@flint/protocol";
import { itemTypeName, type SchemaDocument } from "@flint/protocol/schema";
import { fieldTable } from "../fields.ts";
import { flintType } from "../links.ts";
import { anchor, code, GENERATED, nameHeading, page, table } from "../markdown.ts";

/** Every item type and the events that extend it. */
export function itemsPage(document: SchemaDocument): string {
  // The keys of a table of ours; Object.keys forgets that.
  const types = Object.keys(ITEMS) as ItemType[];
  return page([
    GENERATED,
    "# Items",
    "A turn is made of items. Each starts whole with `item/started`, may grow by deltas, and is final with `item/completed`: that version counts. The union is open. An item of a type that is not listed here passes through unchanged; show its id and whatever text it has.",
    table(
      ["Type", "What it is"],
      types.map((type) => [`[${code(type)}](#${anchor(type)})`, ITEMS[type].doc]),
    ),
    ...types.flatMap((type) => itemSection(type, document)),
  ]);
}

function itemSection(type: ItemType, document: SchemaDocument): string[] {
  const schema = document.$defs[itemTypeName(type)];
  if (schema === undefined) throw new Error(`The schema document does not define the item type ${type}.`);
  const { doc, deltas } = ITEMS[type];
  const rows = Object.entries<string>(deltas).map(([event, field]) => [
    `[${code(event)}](events.md#${anchor(event)})`,
    code(field),
  ]);
  return [
    nameHeading(2, type),
    doc,
    fieldTable(schema, "Always there", flintType),
    rows.length === 0 ? "" : table(["Event", "Extends"], rows),
  ];
}
