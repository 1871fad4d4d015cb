import * as z from "zod/mini";
import { NativeSession, Thread } from "../thread/thread.ts";
import { Id } from "../wire/ids.ts";
import { looseObject } from "../wire/loose-object.ts";
import { absolutePath, limit, method } from "./method.ts";

const agent = z.string().check(z.minLength(1), z.maxLength(100));

/** Making threads of the sessions that agents wrote without Flint. */
export const IMPORT_METHODS = {
  "thread/import/list": method({
    doc: "List the agents' own sessions on this machine, newest first, with the thread that each one belongs to already.",
    scope: "none",
    params: () => looseObject({ agent: z.optional(agent), cwd: z.optional(absolutePath), limit }),
    result: () => looseObject({ data: z.array(NativeSession) }),
  }),
  "thread/import": method({
    doc: "Make a thread of an agent's own session; its next turn resumes that session. A session that was imported before is updated with its new turns, unless its thread was continued in Flint.",
    scope: "none",
    params: () => looseObject({ agent, sessionId: Id }),
    result: () =>
      looseObject({
        thread: Thread,
        status: z.enum(["imported", "updated", "unchanged"]),
        /** The number of turns that were added. */
        turns: z.number(),
        /** Sources that could not be read, and the reason if nothing was added. */
        notes: z.array(z.string()),
      }),
  }),
} as const;
