import * as z from "zod/mini";

/** A JSON Schema of draft 2020-12, as zod writes it. */
export type JsonSchema = z.core.JSONSchema.JSONSchema;

/** A part of a schema; `true` and `false` stand for anything and nothing. */
export type SchemaPart = JsonSchema | boolean;

const DEFINITIONS = "#/$defs/";

/** The definition that a schema only points to, or undefined if it says more than that. */
export function referredName(schema: JsonSchema): string | undefined {
  return schema.$ref?.startsWith(DEFINITIONS) ? schema.$ref.slice(DEFINITIONS.length) : undefined;
}

/** The alternatives of a union, or undefined if the schema is not one. */
export function alternativesOf(schema: JsonSchema): readonly SchemaPart[] | undefined {
  return schema.oneOf ?? schema.anyOf;
}

/** The JSON Schema of any type of a vocabulary, for whoever makes or checks values by it. */
export function jsonSchemaOf(type: z.ZodMiniType, side: "input" | "output"): JsonSchema {
  return z.toJSONSchema(type, { io: side, unrepresentable: "any" });
}
