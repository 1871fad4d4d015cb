import * as z from "zod/mini";
import { looseObject } from "../wire/loose-object.ts";

/** A feature of an agent that the user can turn on or off in the agent's own configuration. */
export const AgentFeature = looseObject({
  name: z.string(),
  /** How mature it is, in the agent's own words, such as `beta`. */
  stage: z.string(),
  displayName: z.optional(z.string()),
  description: z.optional(z.string()),
  announcement: z.optional(z.string()),
  enabled: z.boolean(),
  defaultEnabled: z.boolean(),
});
export type AgentFeature = z.output<typeof AgentFeature>;
