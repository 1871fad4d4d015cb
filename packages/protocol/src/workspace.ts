import * as z from "zod/mini";
import { looseObject } from "./loose-object.ts";

/**
 * A file with which a workspace could steer Flint. It has no effect unless `trusted`, which holds for this exact
 * content only.
 */
export const WorkspaceFile = looseObject({
  path: z.string(),
  sha256: z.string(),
  trusted: z.boolean(),
  content: z.string(),
  /** Why it would have no effect even if it were trusted. */
  problem: z.optional(z.string()),
});
export type WorkspaceFile = z.output<typeof WorkspaceFile>;
