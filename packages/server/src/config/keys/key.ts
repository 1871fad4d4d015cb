import * as z from "zod/mini";

/** A key of the configuration. `*` in its name stands for a name that the user chooses. */
export interface ConfigKey<Schema extends z.ZodMiniType = z.ZodMiniType> {
  readonly schema: Schema;
  /** Describes a valid value; completes "must be". */
  readonly takes: string;
  readonly doc: string;
  /** True if a project file may set it. Addresses and keys never come from a project. */
  readonly inProject: boolean;
  /** Allowed values for the `*` at the end of its name; any if absent. */
  readonly names?: readonly string[];
}

/** A row of the table of keys. */
export function key<Schema extends z.ZodMiniType>(
  schema: Schema,
  takes: string,
  doc: string,
  where: "user" | "user or project",
): ConfigKey<Schema> {
  return { schema, takes, doc, inProject: where === "user or project" };
}

export const count = z.int().check(z.minimum(1));
export const amount = z.number().check(z.positive());
export const price = z.number().check(z.nonnegative());
export const string = z.string().check(z.minLength(1));
export const strings = z.array(z.string());
export const pairs = z.record(z.string(), z.string());
export const address = z.url({ protocol: /^https?$/ });

export const COUNT = "a whole number above 0";
export const AMOUNT = "a number above 0";
export const PRICE = "a number of US dollars, 0 or more";
export const SECONDS = "a number of seconds above 0";
export const ADDRESS = "an http:// or https:// URL";
export const BOOLEAN = "true or false";
export const STRINGS = "a list of strings";
export const PAIRS = "a table of strings";
/** Describes a value that is one of a few. */
export const choice = (values: readonly string[]) =>
  `one of ${values.map((value) => JSON.stringify(value)).join(", ")}`;

/** Description of the value for a list of hosts. */
export const HOSTS =
  'a list of hosts, such as "example.org", "*.example.org", "localhost:3000" or "git.corp.example:443=10.1.2.3"';
