import { isRecord } from "@flint/protocol";
/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** An answer that matches a schema, or why it does not. */
export type CheckedAnswer =
  | { readonly ok: true; readonly json: string }
  | { readonly ok: false; readonly problem: string };

/**
 * Checks that an answer is JSON and matches a schema: types, required and forbidden properties, items, constants and
 * enums. Other keywords are not checked.
 */
export function checkAnswer(text: string, schema: Schema): CheckedAnswer {
  const body = withoutFence(text);
  try {
    const value: unknown = JSON.parse(body);
    const problem = problemIn(value, schema, schema, "the answer");
    return problem === undefined ? { ok: true, json: body } : { ok: false, problem };
  } catch {
    // A model may answer something else although it was asked for JSON.
    return { ok: false, problem: "the answer is not JSON" };
  }
}

/** Many models wrap JSON in a code block. */
function withoutFence(text: string): string {
  const [, inside] = /^```(?:json)?\n([\s\S]*?)\n```$/.exec(text.trim()) ?? [];
  return (inside ?? text).trim();
}

function problemIn(value: unknown, given: unknown, root: Schema, where: string): string | undefined {
  const schema = resolved(given, root);
  if (schema === undefined) return undefined;
  if (schema === false) return `${where} is not allowed`;
  if (!hasType(value, schema.type)) return `${where} is not of type ${[schema.type].flat().join(" or ")}`;
  if ("const" in schema && !isSame(value, schema.const))
    return `${where} is not ${JSON.stringify(schema.const)}`;
  if (Array.isArray(schema.enum) && !schema.enum.some((each) => isSame(value, each)))
    return `${where} is not one of the allowed values`;
  const some = [schema.anyOf, schema.oneOf].find(Array.isArray);
  if (some?.every((each) => problemIn(value, each, root, where) !== undefined))
    return `${where} matches none of the alternatives`;
  const all = Array.isArray(schema.allOf) ? schema.allOf : [];
  const parts = [
    ...all.map((each) => () => problemIn(value, each, root, where)),
    ...partsOf(value, schema, root, where),
  ];
  return firstProblem(parts);
}

type Check = () => string | undefined;

function partsOf(value: unknown, schema: Schema, root: Schema, where: string): Check[] {
  if (Array.isArray(value)) {
    if (Array.isArray(schema.items)) return [];
    return value.map((item, place) => () => problemIn(item, schema.items, root, `${where}[${place}]`));
  }
  if (!isRecord(value)) return [];
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  return [
    () => {
      const missing = required.find((name) => typeof name === "string" && !Object.hasOwn(value, name));
      return missing === undefined ? undefined : `${where} has no ${JSON.stringify(missing)}`;
    },
    ...Object.entries(value).map(([name, each]) => () => {
      const known = Object.hasOwn(properties, name);
      if (!known && (isRecord(schema.patternProperties) || schema.additionalProperties === undefined))
        return undefined;
      return problemIn(
        each,
        known ? properties[name] : schema.additionalProperties,
        root,
        `${where}.${name}`,
      );
    }),
  ];
}

function firstProblem(checks: readonly Check[]): string | undefined {
  for (const check of checks) {
    const problem = check();
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Follows references within the document; undefined for other references and missing schemas. */
function resolved(given: unknown, root: Schema): Schema | false | undefined {
  let schema = given;
  for (let depth = 0; isRecord(schema) && typeof schema.$ref === "string"; depth += 1) {
    if (depth > 32 || !schema.$ref.startsWith("#")) return undefined;
    schema = schema.$ref
      .slice(1)
      .split("/")
      .slice(1)
      .reduce<unknown>(
        (at, name) => (isRecord(at) ? at[name.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined),
        root,
      );
  }
  return schema === false || isRecord(schema) ? schema : undefined;
}

function hasType(value: unknown, type: unknown): boolean {
  if (type === undefined) return true;
  return [type].flat().some((each) => {
    if (each === "null") return value === null;
    if (each === "array") return Array.isArray(value);
    if (each === "object") return isRecord(value);
    if (each === "integer") return Number.isInteger(value);
    return typeof value === each;
  });
}

function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

const TYPES = ["array", "boolean", "integer", "null", "number", "object", "string"];

/** Keywords whose value is one schema, a list of schemas, or schemas by name. */
const SINGLE = ["items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"];
const LISTED = ["anyOf", "oneOf", "allOf", "prefixItems", "items"];
const NAMED = ["properties", "patternProperties", "$defs", "definitions"];

/** The problem with a JSON Schema, and where; undefined if it is valid. Unknown keywords are ignored. */
export function schemaFault(schema: unknown, where = "#"): string | undefined {
  if (typeof schema === "boolean") return undefined;
  if (!isRecord(schema)) return `${where} must be an object or a boolean`;
  return ownFault(schema, where) ?? firstFault(subschemasOf(schema, where));
}

function ownFault({ type, required, enum: choices }: Schema, where: string): string | undefined {
  const types = type === undefined ? [] : [type].flat();
  const unknown = types.find((word) => typeof word !== "string" || !TYPES.includes(word));
  if (unknown !== undefined) {
    return `${where}/type is ${JSON.stringify(unknown)}, but must be one of ${TYPES.join(", ")}`;
  }
  if (required !== undefined && !isTexts(required)) return `${where}/required is not a list of names`;
  return choices === undefined || Array.isArray(choices) ? undefined : `${where}/enum is not a list`;
}

type Part = readonly [schema: unknown, where: string];

function subschemasOf(schema: Schema, where: string): Part[] {
  const single = SINGLE.flatMap((key): Part[] => {
    const value = schema[key];
    return value === undefined || Array.isArray(value) ? [] : [[value, `${where}/${key}`]];
  });
  const listed = LISTED.flatMap((key) => {
    const value = schema[key];
    return Array.isArray(value) ? value.map((each, place): Part => [each, `${where}/${key}/${place}`]) : [];
  });
  const named = NAMED.flatMap((key) => {
    const value = schema[key];
    if (!isRecord(value)) return [];
    return Object.entries(value).map(([name, each]): Part => [each, `${where}/${key}/${name}`]);
  });
  return [...single, ...listed, ...named];
}

function firstFault(parts: readonly Part[]): string | undefined {
  for (const [schema, where] of parts) {
    const fault = schemaFault(schema, where);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
