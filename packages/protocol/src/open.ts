import * as z from "zod/mini";
import en from "zod/v4/locales/en.js";

// The small build of zod has no words of its own for what is wrong.
z.config(en());

/** Free metadata that any object may carry; nobody may assume anything about its values. */
export const Meta = z.record(z.string(), z.unknown());
const optionalMeta = z.optional(Meta);

/** The shape of an object that also may carry `_meta`. */
export type WithMeta<Shape extends z.core.$ZodShape> = Shape & { _meta: z.ZodMiniOptional<typeof Meta> };

/**
 * An object of the protocol: known fields are checked, unknown ones pass through untouched, so a newer peer
 * never breaks an older one. The static type lists the known fields only.
 */
export function open<Shape extends z.core.$ZodShape>(shape: Shape): z.ZodMiniObject<WithMeta<Shape>> {
  const schema: unknown = z.looseObject({ ...shape, _meta: optionalMeta });
  // Loose at run time, closed for the compiler: a misspelt field in our own code stays an error.
  return schema as z.ZodMiniObject<WithMeta<Shape>>;
}

/** A result or params object without any required field. */
export const Empty = open({});

/** Makes a value when it is first asked for, and the same one ever after. */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
