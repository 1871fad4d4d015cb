import * as z from "zod/mini";
import { looseObject } from "../wire/loose-object.ts";

/** A slash command of an agent: a prompt that begins with `/name` runs it. */
export const AgentCommand = looseObject(() => ({
  name: z.string(),
  description: z.optional(z.string()),
  /** What to write after it. */
  hint: z.optional(z.string()),
}));
export type AgentCommand = z.output<typeof AgentCommand>;

/** A command that an agent left running while it does other things. `processId` is the agent's own name for it. */
export const BackgroundCommand = looseObject(() => ({
  processId: z.string(),
  command: z.string(),
  cwd: z.optional(z.string()),
  /** The item that shows it. */
  itemId: z.optional(z.string()),
}));
export type BackgroundCommand = z.output<typeof BackgroundCommand>;
