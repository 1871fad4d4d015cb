import { METHODS, type Method, type Scope } from "@flint/protocol";
import type { SchemaDocument } from "@flint/protocol/schema";
import { fieldBlock } from "../fields.ts";
import { flintType } from "../links.ts";
import { anchor, code, GENERATED, nameHeading, page, table } from "../markdown.ts";

const QUEUE: Readonly<Record<Scope, string>> = {
  thread: "in order with the other requests of its thread",
  none: "immediately, in parallel with other requests",
};

/** Every method of the Flint protocol. */
export function methodsPage(document: SchemaDocument): string {
  // The keys of a table of ours; Object.keys forgets that.
  const names = Object.keys(METHODS) as Method[];
  return page([
    GENERATED,
    "# Methods",
    "Requests of the [Flint protocol](flint.md). A response always comes before the events the request causes. Any object may carry `_meta` and fields not listed here; both pass through.",
    table(
      ["Method", "What it does"],
      names.map((name) => [`[${code(name)}](#${anchor(name)})`, METHODS[name].doc]),
    ),
    ...names.flatMap((name) => methodSection(name, document)),
  ]);
}

function methodSection(name: Method, document: SchemaDocument): string[] {
  const schema = document.requests[name];
  if (schema === undefined) throw new Error(`The schema document has no request ${name}.`);
  const { doc, scope, experimental } = METHODS[name];
  return [
    nameHeading(2, name),
    doc,
    `Runs ${QUEUE[scope]}.${experimental ? " Experimental: only for clients that initialize with the capability `experimentalApi`." : ""}`,
    fieldBlock("Params", schema.params, "Required", flintType),
    fieldBlock("Result", schema.result, "Always there", flintType),
  ];
}
