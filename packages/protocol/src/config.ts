import * as z from "zod/mini";
import { looseObject } from "./loose-object.ts";

/** A model that a thread can use; its id is `agent/model`. */
export const Model = looseObject({
  id: z.string(),
  displayName: z.string(),
  description: z.optional(z.string()),
  isDefault: z.boolean(),
  meta: z.optional(z.record(z.string(), z.unknown())),
});
export type Model = z.output<typeof Model>;

/** One value of a selector. */
export const ConfigSelectOption = looseObject({
  id: z.string(),
  name: z.string(),
  description: z.optional(z.string()),
});
export type ConfigSelectOption = z.output<typeof ConfigSelectOption>;

/**
 * A setting that an agent advertises. Clients show every one the same way and need not know what it means.
 * A `boolean` has the values "true" and "false".
 */
export const ConfigOption = looseObject({
  type: z.enum(["select", "boolean"]),
  id: z.string(),
  name: z.string(),
  description: z.optional(z.string()),
  group: z.optional(z.string()),
  category: z.optional(z.string()),
  options: z.array(ConfigSelectOption),
  value: z.string(),
  modelIds: z.optional(z.array(z.string())),
});
export type ConfigOption = z.output<typeof ConfigOption>;

/** Whether commands can be confined on this machine, by what, and if not, how to change that. */
export const SandboxState = looseObject({
  available: z.boolean(),
  mechanism: z.string(),
  detail: z.optional(z.string()),
});
export type SandboxState = z.output<typeof SandboxState>;
