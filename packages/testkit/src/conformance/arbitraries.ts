import { EVENTS, type EventType, isEventType, type RequestRow, type ThreadEvent } from "@flint/protocol";
import { jsonSchemaOf } from "@flint/protocol/schema";
import fc from "fast-check";

/** Any schema of the protocol. */
export type Schema = RequestRow["params"];

/** The part of JSON Schema that the protocol's schemas use. */
type JsonSchema = {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
};

const LONGEST_TEXT = 12;
const LONGEST_LIST = 3;
// Times and amounts are far below it, so a front end may calculate with them.
const LARGEST_NUMBER = 2 ** 43;

const made = new Map<Schema, Map<"input" | "output", fc.Arbitrary<unknown>>>();

/** Values that a schema accepts, as they would come from a wire (`input`) or from our own code (`output`). */
export function arbitraryOf(schema: Schema, side: "input" | "output"): fc.Arbitrary<unknown> {
  const known = made.get(schema) ?? new Map<"input" | "output", fc.Arbitrary<unknown>>();
  const arbitrary = known.get(side) ?? describedBy(schema, side);
  made.set(schema, known.set(side, arbitrary));
  return arbitrary;
}

function describedBy(schema: Schema, side: "input" | "output"): fc.Arbitrary<unknown> {
  const description: unknown = jsonSchemaOf(schema, side);
  // What zod writes is JSON Schema; a word of it that is not known here is thrown upon below.
  const node = description as JsonSchema;
  // Refinements are not in the description, so what they would refuse is left out here.
  return fromNode(node).filter((value) => schema.safeParse(value).success);
}

/** Events of one type, with everything its schema allows. */
export function eventsOf(type: EventType): fc.Arbitrary<ThreadEvent> {
  const data = arbitraryOf(EVENTS[type].data, "output");
  const at = fc.nat();
  const event = fc.oneof(
    fc.record({ type: fc.constant(type), data, at }),
    fc.record({ type: fc.constant(type), data, at, seq: fc.integer({ min: 1 }) }),
  );
  // The data was made from the schema of this very type.
  return event as fc.Arbitrary<ThreadEvent>;
}

/** The names of all events. */
export const EVENT_TYPES: readonly EventType[] = Object.keys(EVENTS).filter(isEventType);

function fromNode(node: JsonSchema): fc.Arbitrary<unknown> {
  if ("const" in node) return fc.constant(node.const);
  if (node.enum !== undefined) return fc.constantFrom(...node.enum);
  const choices = node.anyOf ?? node.oneOf;
  if (choices !== undefined) return fc.oneof(...choices.map(fromNode));
  if (Array.isArray(node.type)) return fc.oneof(...node.type.map((type) => fromNode({ ...node, type })));
  switch (node.type) {
    case "string":
      return fromText(node);
    case "number":
      return fc.double({ min: -LARGEST_NUMBER, max: LARGEST_NUMBER, noNaN: true, ...range(node) });
    case "integer":
      return fc.integer({ min: -LARGEST_NUMBER, max: LARGEST_NUMBER, ...range(node) });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(fromNode(node.items ?? {}), { minLength: node.minItems ?? 0, maxLength: LONGEST_LIST });
    case "object":
      return fromObject(node);
    case undefined:
      return fc.jsonValue({ maxDepth: 2 });
    default:
      throw new Error(`There is no arbitrary for ${JSON.stringify(node)} yet; add it here.`);
  }
}

function fromText(node: JsonSchema): fc.Arbitrary<string> {
  if (node.pattern !== undefined) return fc.stringMatching(new RegExp(node.pattern), { maxLength: 64 });
  const minLength = node.minLength ?? 0;
  const maxLength = Math.min(node.maxLength ?? Number.POSITIVE_INFINITY, minLength + LONGEST_TEXT);
  return fc.string({ unit: "binary", minLength, maxLength });
}

function range({ minimum, maximum }: JsonSchema): { min?: number; max?: number } {
  return {
    ...(minimum === undefined ? {} : { min: Math.max(minimum, -LARGEST_NUMBER) }),
    ...(maximum === undefined ? {} : { max: Math.min(maximum, LARGEST_NUMBER) }),
  };
}

function fromObject(node: JsonSchema): fc.Arbitrary<unknown> {
  if (node.properties === undefined) {
    const values = typeof node.additionalProperties === "object" ? node.additionalProperties : {};
    return fc.dictionary(fc.string({ maxLength: LONGEST_TEXT }), fromNode(values), { maxKeys: LONGEST_LIST });
  }
  const fields = Object.entries(node.properties).map(([name, field]) => [name, fromNode(field)] as const);
  const model: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(fields);
  return fc.record(model, { requiredKeys: [...(node.required ?? [])], noNullPrototype: true });
}
