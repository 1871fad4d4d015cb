import * as z from "zod/mini";
import { Id } from "./ids.ts";
import { FileUpdateChange } from "./items.ts";
import { looseObject } from "./loose-object.ts";

const common = { itemId: Id, reason: z.optional(z.string()) };

/** What an agent wants to do and must be allowed to. The exact command or diff is always there. */
export const Action = z.discriminatedUnion("kind", [
  looseObject({ kind: z.literal("command"), ...common, command: z.string(), cwd: z.string() }),
  looseObject({ kind: z.literal("fileChange"), ...common, changes: z.array(FileUpdateChange) }),
  looseObject({
    kind: z.literal("tool"),
    ...common,
    tool: z.string(),
    server: z.optional(z.string()),
    arguments: z.optional(z.unknown()),
  }),
]);
export type Action = z.output<typeof Action>;
