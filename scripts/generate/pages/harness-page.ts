import { HARNESS_ITEMS, type HarnessItemType } from "@flint/protocol";
import { harnessDataName, type SchemaDocument } from "@flint/protocol/schema";
import { fieldBlock } from "../fields.ts";
import { harnessType } from "../links.ts";
import { anchor, code, nameHeading, page, table } from "../markdown.ts";
import { fillProse } from "../prose.ts";
import { type TypeDocs, typeSection } from "./types-page.ts";

/** Parts of the page of the harness protocol. */
export interface HarnessPageParts {
  readonly prose: string;
  readonly document: SchemaDocument;
  readonly docs: TypeDocs;
  /** The help text of the commands of this protocol. */
  readonly help: string;
}

/** The page of the harness protocol. */
export function harnessPage({ prose, document, docs, help }: HarnessPageParts): string {
  return fillProse(prose, {
    commands: ["```", help.trimEnd(), "```"].join("\n"),
    methods: methods(document),
    notifications: notifications(document),
    items: items(),
    errors: errors(document),
    types: types(document, docs),
  });
}

function methods(document: SchemaDocument): string {
  const rows = Object.entries(document.requests);
  const overview = rows.map(([name, { doc }]) => [`[${code(name)}](#${anchor(name)})`, doc]);
  const sections = rows.flatMap(([name, { doc, params, result }]) => [
    nameHeading(3, name),
    doc,
    fieldBlock("Params", params, "Required", harnessType),
    fieldBlock("Result", result, "Always there", harnessType),
  ]);
  return page([table(["Method", "What it does"], overview), ...sections]).trimEnd();
}

function notifications(document: SchemaDocument): string {
  const sections = Object.entries(document.serverNotifications).flatMap(([name, { doc, params }]) => [
    nameHeading(3, name),
    doc,
    fieldBlock("Params", params, "Always there", harnessType),
  ]);
  return page(sections).trimEnd();
}

function items(): string {
  // The keys of a table of ours; Object.keys forgets that.
  const names = Object.keys(HARNESS_ITEMS) as HarnessItemType[];
  const rows = names.map((type) => {
    const data = harnessDataName(type);
    return [code(type), HARNESS_ITEMS[type].doc, `[${data}](${harnessType(data)})`];
  });
  return table(["Type", "What it is", "Its `data`"], rows);
}

function errors({ errors: kinds }: SchemaDocument): string {
  const byCode = Object.entries(kinds).sort(([, left], [, right]) => right.code - left.code);
  return table(
    ["Code", "Reason", "Meaning"],
    byCode.map(([kind, { code: number, doc }]) => [String(number), code(kind), doc]),
  );
}

function types(document: SchemaDocument, docs: TypeDocs): string {
  const own = Object.entries(document.$defs).filter(([name]) => name.startsWith("Harness"));
  return page(own.flatMap((type) => typeSection(3, type, docs, harnessType))).trimEnd();
}
