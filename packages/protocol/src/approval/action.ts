import * as z from "zod/mini";
import { FileUpdateChange } from "../thread/item-schemas.ts";
import { Id } from "../wire/ids.ts";
import { looseObject } from "../wire/loose-object.ts";
import { Permission } from "./permission.ts";

/** An earlier run of the same action, which its sandbox stopped. */
export const PreviousRun = looseObject(() => ({
  itemId: Id,
  ranMs: z.number(),
  /** Evidence that the sandbox stopped it, as lines of text. */
  evidence: z.array(z.string()),
}));
export type PreviousRun = z.output<typeof PreviousRun>;

const common = {
  itemId: Id,
  reason: z.optional(z.string()),
  /** Permissions that it needs beyond its sandbox. */
  needs: z.optional(Permission),
  /** The reason it needs that, in the words of the agent. */
  why: z.optional(z.string()),
  /** Set if it has run before. */
  after: z.optional(PreviousRun),
};

/** An action that an agent asks to take, always with the exact command or diff. */
export const Action = z.discriminatedUnion("kind", [
  looseObject(() => ({
    kind: z.literal("command"),
    ...common,
    command: z.string(),
    cwd: z.string(),
    /** Set if the command was allowed and runs: it waits for what it needs, and only that is asked about. */
    running: z.optional(z.boolean()),
  })),
  looseObject(() => ({ kind: z.literal("fileChange"), ...common, changes: z.array(FileUpdateChange) })),
  looseObject(() => ({
    kind: z.literal("tool"),
    ...common,
    tool: z.string(),
    server: z.optional(z.string()),
    arguments: z.optional(z.unknown()),
    /** Set for a connection of the agent's own that neither a command nor a tool waits for, such as for telemetry. */
    forItself: z.optional(z.boolean()),
  })),
]);
export type Action = z.output<typeof Action>;

/** Every path that a file change touches: the files, and where they are moved to. */
export function changedPaths({ changes }: Extract<Action, { kind: "fileChange" }>): string[] {
  return changes.flatMap(({ path, movePath }) => (movePath === undefined ? [path] : [path, movePath]));
}
