import {
  alternativesOf,
  type JsonSchema,
  type NotificationSchema,
  type RequestSchema,
  referredName,
  type SchemaDocument,
  type SchemaPart,
} from "./document.ts";

const STEP = "  ";
const WIDEST = 100;

/** A schema document as the text of a `.d.ts` file. Pure; the same document always gives the same text. */
export function declarationsOf(document: SchemaDocument): string {
  const types = Object.entries(document.$defs).map(([name, schema]) => declaration(name, schema));
  const blocks = [
    `// The ${document.title} protocol. Every object may carry more fields than are declared here.`,
    ...types,
    table("Methods", "The requests of clients, by method.", requests(document.requests)),
    table("ClientNotifications", "The notifications of clients.", notifications(document.notifications)),
    table(
      "Notifications",
      "The notifications of the server, by method.",
      notifications(document.serverNotifications),
    ),
    table("ServerRequests", "The requests of the server to its clients.", requests(document.serverRequests)),
    errorKinds(document),
  ];
  return `${blocks.join("\n\n")}\n`;
}

/** A schema as a TypeScript type on one line. */
export function inlineType(schema: SchemaPart): string {
  return typeText(schema, undefined);
}

function declaration(name: string, schema: JsonSchema): string {
  const head = comment(schema.description, "");
  if (schema.properties === undefined) return `${head}export type ${name} =${topType(schema)};`;
  return `${head}export interface ${name} ${objectType(schema, "")}`;
}

/** The type after the equals sign. A union too long for one line gets a line for each alternative. */
function topType(schema: JsonSchema): string {
  const line = inlineType(schema);
  if (line.length <= WIDEST) return ` ${line}`;
  const alternatives = alternativeTypes(schema);
  if (alternatives === undefined) return ` ${typeText(schema, "")}`;
  return alternatives.map((alternative) => `\n${STEP}| ${alternative}`).join("");
}

/** `indent` is that of the line the type starts on; without one the whole type stays on that line. */
function typeText(schema: SchemaPart, indent: string | undefined): string {
  if (typeof schema === "boolean") return schema ? "unknown" : "never";
  const name = referredName(schema);
  if (name !== undefined) return name;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  return alternativeTypes(schema, indent)?.join(" | ") ?? plainType(schema, indent);
}

/** The different types of a union, or undefined if the schema is not one. */
function alternativeTypes(schema: JsonSchema, indent?: string): readonly string[] | undefined {
  const types =
    schema.enum?.map((value) => JSON.stringify(value)) ??
    alternativesOf(schema)?.map((alternative) => typeText(alternative, indent));
  return types === undefined ? undefined : [...new Set(types)];
}

function plainType(schema: JsonSchema, indent: string | undefined): string {
  switch (schema.type) {
    case "string":
    case "boolean":
    case "null":
      return schema.type;
    case "number":
    case "integer":
      return "number";
    case "array":
      return listType(schema, indent);
    case "object":
      return schema.properties === undefined ? recordType(schema, indent) : objectType(schema, indent);
    default:
      return "unknown";
  }
}

function listType({ items }: JsonSchema, indent: string | undefined): string {
  if (items === undefined || typeof items === "boolean" || Array.isArray(items)) return "unknown[]";
  const item = typeText(items, indent);
  return (alternativeTypes(items)?.length ?? 1) > 1 ? `(${item})[]` : `${item}[]`;
}

function recordType({ additionalProperties }: JsonSchema, indent: string | undefined): string {
  return `Record<string, ${typeText(additionalProperties ?? true, indent)}>`;
}

function objectType(schema: JsonSchema, indent: string | undefined): string {
  const inner = indent === undefined ? undefined : indent + STEP;
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const mark = schema.required?.includes(name) ? "" : "?";
    return `${key(name)}${mark}: ${typeText(field, inner)}`;
  });
  if (indent === undefined) return fields.length === 0 ? "{}" : `{ ${fields.join("; ")} }`;
  return ["{", ...fields.map((field) => `${inner}${field};`), `${indent}}`].join("\n");
}

function key(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function comment(text: string | undefined, indent: string): string {
  return text === undefined ? "" : `${indent}/** ${text} */\n`;
}

function table(name: string, doc: string, rows: readonly string[]): string {
  const body = rows.length === 0 ? "{}" : `{\n${rows.join("\n")}\n}`;
  return `${comment(doc, "")}export interface ${name} ${body}`;
}

function requests(rows: Readonly<Record<string, RequestSchema>>): string[] {
  return Object.entries(rows).map(([name, { doc, params, result }]) => {
    const fields = { params, result };
    const type = objectType({ properties: fields, required: Object.keys(fields) }, STEP);
    return `${comment(doc, STEP)}${STEP}${key(name)}: ${type};`;
  });
}

function notifications(rows: Readonly<Record<string, NotificationSchema>>): string[] {
  return Object.entries(rows).map(
    ([name, { doc, params }]) => `${comment(doc, STEP)}${STEP}${key(name)}: ${typeText(params, STEP)};`,
  );
}

function errorKinds({ errors }: SchemaDocument): string {
  const head = comment("Why a request failed: `data.reason` of its error.", "");
  const lines = Object.keys(errors).map((kind) => `\n${STEP}| ${JSON.stringify(kind)}`);
  return `${head}export type ErrorKind =${lines.join("")};`;
}
