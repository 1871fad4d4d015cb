import type * as z from "zod/mini";

/** Any schema of this wire. */
export type CodexSchema = z.ZodMiniType;

/** A field that Flint writes or reads. */
export interface CodexField {
  readonly name: string;
  /** Whether Flint can do without it. */
  readonly isOptional: boolean;
}

/** The fields that Flint knows of an object; none of anything else. */
export function fieldsOf(schema: CodexSchema): readonly CodexField[] {
  // The definition of an object has its fields here; other definitions have no such member.
  const { shape = {} } = schema._zod.def as { readonly shape?: Readonly<Record<string, CodexSchema>> };
  return Object.entries(shape).map(([name, field]) => ({
    name,
    isOptional: field._zod.def.type === "optional",
  }));
}
