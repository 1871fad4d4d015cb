import * as z from "zod/mini";
import { lazy } from "./loose-object.ts";

/** An object of a foreign wire: known fields are checked, others pass. Unlike ours, its `_meta` may be anything, also null. */
export function foreignObject<Shape extends z.core.$ZodShape>(shape: Shape): z.ZodMiniObject<Shape> {
  const schema: unknown = z.looseObject(shape);
  // Loose at run time, closed for the compiler: a misspelt field in our own code stays an error.
  return schema as z.ZodMiniObject<Shape>;
}

/** A field that may be null or left out, which mean the same on foreign wires. */
export const nullish = z.nullish;

/** A request of this wire, its schemas made when they are first needed. */
export function request<Params extends z.ZodMiniType, Result extends z.ZodMiniType>(
  doc: string,
  makeParams: () => Params,
  makeResult: () => Result,
) {
  const params = lazy(makeParams);
  const result = lazy(makeResult);
  return {
    doc,
    get params() {
      return params();
    },
    get result() {
      return result();
    },
  };
}

/** A notification of this wire, its schema made when it is first needed. */
export function notification<Params extends z.ZodMiniType>(doc: string, makeParams: () => Params) {
  const params = lazy(makeParams);
  return {
    doc,
    get params() {
      return params();
    },
  };
}
