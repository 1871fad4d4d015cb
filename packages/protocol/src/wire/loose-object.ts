import * as z from "zod/mini";
import en from "zod/v4/locales/en.js";

// zod/mini ships without error messages.
z.config(en());

/** Free-form metadata that any object may carry. */
export const Meta = z.record(z.string(), z.unknown());
const optionalMeta = z.optional(Meta);
const unknownField = z.unknown();

/** A shape plus the optional `_meta`. */
export type WithMeta<Shape extends z.core.$ZodShape> = Shape & { _meta: z.ZodMiniOptional<typeof Meta> };

/**
 * An object of Flint's own protocol: known fields are validated, unknown ones pass through, so a newer peer never
 * breaks an older one. The static type lists the known fields only. Fields that a function gives are built on first
 * use: a server answers before it has built those of every module.
 */
export function looseObject<Shape extends z.core.$ZodShape>(
  shape: Shape | (() => Shape),
): z.ZodMiniObject<WithMeta<Shape>> {
  const schema: unknown =
    typeof shape === "function" ? laterObject(shape) : z.looseObject({ ...shape, _meta: optionalMeta });
  // Loose at run time, exact for the compiler: a misspelt field in our own code stays an error.
  return schema as z.ZodMiniObject<WithMeta<Shape>>;
}

function laterObject(shape: () => z.core.$ZodShape): z.ZodMiniObject {
  const fields = lazy(() => ({ ...shape(), _meta: optionalMeta }));
  return new z.ZodMiniObject({
    type: "object",
    catchall: unknownField,
    get shape() {
      return fields();
    },
  });
}

/** An object of a foreign protocol: known fields are validated, unknown ones pass through. Its `_meta` may be anything, also null. */
export function foreignObject<Shape extends z.core.$ZodShape>(shape: Shape): z.ZodMiniObject<Shape> {
  const schema: unknown = z.looseObject(shape);
  // Loose at run time, exact for the compiler: a misspelt field in our own code stays an error.
  return schema as z.ZodMiniObject<Shape>;
}

/** A field that may be null or left out; both mean the same on foreign wires. */
export const nullish = z.nullish;

/** A result or params object without any required field. */
export const Empty = looseObject({});

/** Computes a value on the first call and returns the same one from then on. */
export function lazy<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Reports whether a value is an object and not an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
