import { isRecord } from "@flint/protocol";

type Schema = Readonly<Record<string, unknown>>;

/** Deeper schemas are recursive; an empty object ends them. */
const MAX_DEPTH = 4;

/** Formats an answer as JSON that fits the schema, with the text wherever the schema allows a free string. */
export function formatAsJson(text: string, schema: Schema | undefined): string {
  return JSON.stringify(schema === undefined ? { answer: text } : sample(schema, schema, text, 0), null, 2);
}

function sample(value: unknown, root: Schema, text: string, depth: number): unknown {
  const schema = resolve(value, root);
  if (schema === undefined || depth > MAX_DEPTH) return {};
  if ("const" in schema) return schema.const;
  const chosen = firstOf(schema.enum) ?? schema.default;
  if (chosen !== undefined) return chosen;
  const next = (child: unknown) => sample(child, root, text, depth + 1);
  const branch = firstOf(schema.anyOf) ?? firstOf(schema.oneOf);
  if (branch !== undefined) return next(branch);
  const { type, properties, items, minItems = 0, minimum, maxLength } = schema;
  switch (firstOf(type) ?? type ?? (items === undefined ? "object" : "array")) {
    case "string":
      return text.slice(0, typeof maxLength === "number" ? maxLength : undefined);
    case "number":
    case "integer":
      return typeof minimum === "number" ? Math.ceil(minimum) : 0;
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      // Objects would be made up, such as findings of a review.
      return minItems === 0 && isRecord(items) && items.type === "object"
        ? []
        : [next(items ?? { type: "string" })];
    default: {
      const fields = Object.entries(isRecord(properties) ? properties : {});
      return Object.fromEntries(fields.map(([name, child]) => [name, next(child)]));
    }
  }
}

/** Follows a reference inside the document. */
function resolve(value: unknown, root: Schema): Schema | undefined {
  if (!isRecord(value) || typeof value.$ref !== "string") return isRecord(value) ? value : undefined;
  const path = value.$ref.replace(/^#\/?/, "").split("/").filter(Boolean);
  const found = path.reduce<unknown>((step, name) => (isRecord(step) ? step[name] : undefined), root);
  return isRecord(found) ? found : undefined;
}

function firstOf(list: unknown): unknown {
  return Array.isArray(list) ? list[0] : undefined;
}
