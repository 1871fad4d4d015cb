import { isRecord } from "@flint/protocol";

type Schema = Readonly<Record<string, unknown>>;

/** Deeper schemas are recursive; an empty object ends them. */
const MAX_DEPTH = 8;
/** However large a value the schema requires, no more of it is made. */
const MAX_SIZE = 10_000;

/** Formats an answer as JSON that fits the schema, with the text wherever the schema allows a free string. */
export function formatAsJson(text: string, schema: Schema | undefined): string {
  return JSON.stringify(schema === undefined ? { answer: text } : sampleOf(schema, text), null, 2);
}

/** Makes the smallest value that fits a schema, with the text wherever the schema allows a free string. */
export function sampleOf(schema: Schema, text: string): unknown {
  let made = 0;
  const sample = (value: unknown, depth: number): unknown => {
    const at = resolve(value, schema);
    made += 1;
    if (at === undefined || depth > MAX_DEPTH || made > MAX_SIZE) return {};
    if ("const" in at) return at.const;
    const chosen = firstOf(at.enum) ?? at.default;
    if (chosen !== undefined) return chosen;
    const branch = firstOf(at.anyOf) ?? firstOf(at.oneOf);
    if (branch !== undefined) return sample(branch, depth + 1);
    switch (typeOf(at)) {
      case "string":
        return [...text.padEnd(sizeOf(at.minLength, 0), ".")]
          .slice(0, sizeOf(at.maxLength, Infinity))
          .join("");
      case "number":
      case "integer":
        return typeof at.minimum === "number" ? Math.ceil(at.minimum) : 0;
      case "boolean":
        return true;
      case "null":
        return null;
      case "array": {
        const length = sizeOf(at.minItems, Math.min(1, sizeOf(at.maxItems, 1)));
        return Array.from({ length }, () => sample(at.items ?? { type: "string" }, depth + 1));
      }
      default: {
        const fields = Object.entries(isRecord(at.properties) ? at.properties : {});
        return Object.fromEntries(fields.map(([name, each]) => [name, sample(each, depth + 1)]));
      }
    }
  };
  return sample(schema, 0);
}

/** Follows references inside the document. */
function resolve(value: unknown, root: Schema): Schema | undefined {
  let at = value;
  for (let hops = 0; hops <= MAX_DEPTH && isRecord(at) && typeof at.$ref === "string"; hops += 1) {
    const path = at.$ref.replace(/^#\/?/, "").split("/").filter(Boolean);
    at = path.reduce<unknown>((step, name) => (isRecord(step) ? step[name] : undefined), root);
  }
  return isRecord(at) ? at : undefined;
}

function typeOf({ type, items }: Schema): unknown {
  if (Array.isArray(type)) return type[0];
  return type ?? (items === undefined ? "object" : "array");
}

function firstOf(list: unknown): unknown {
  return Array.isArray(list) ? list[0] : undefined;
}

function sizeOf(value: unknown, otherwise: number): number {
  return typeof value === "number" ? Math.min(Math.max(0, value), MAX_SIZE) : otherwise;
}
