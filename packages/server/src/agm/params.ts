import { errorMessage, Id, MergeMode, TASK_BOUNDS } from "@flint/protocol";
import { FlintRequestError } from "@flint/sdk";
import * as z from "zod/mini";
import { MessageKind } from "./rows.ts";

const MAX_STEER = 4000;
const MAX_CONTENT = 64_000;
const MAX_METADATA = 16_000;

const short = z.string().check(z.minLength(1), z.maxLength(200));
const folder = z.string().check(z.regex(/^\//, "must be an absolute path"), z.maxLength(4096));
const metadata = z.record(z.string(), z.unknown()).check(
  z.refine((value) => JSON.stringify(value).length <= MAX_METADATA, {
    error: `must have at most ${MAX_METADATA} characters as JSON`,
  }),
);
const page = {
  limit: z.nullish(z.int().check(z.minimum(1), z.maximum(1000))),
  offset: z.nullish(z.int().check(z.minimum(0))),
};
/** The sender and the recipient of a message, as role:id. */
const between = { sender: z.nullish(short), recipient: z.nullish(short), metadata: z.nullish(metadata) };

/** The states of a task on this wire. */
export const TaskStatus = z.enum([
  ...["blocked", "ready", "running", "review", "rejected", "approved"],
  ...["completed", "failed", "cancelled"],
] as const);
export type TaskStatus = z.output<typeof TaskStatus>;

/** The params of each method. What is null counts as left out; unknown params are ignored. */
export const AGM_PARAMS = {
  "session.create": z.object({ title: short, project: z.nullish(folder) }),
  "session.list": z.object(page),
  "session.show": z.object({ id: Id }),
  "session.post": z.object({
    id: Id,
    content: z.string().check(z.minLength(1), z.maxLength(MAX_CONTENT)),
    kind: z.nullish(MessageKind),
    ...between,
  }),
  "session.messages": z.object({
    ...{ id: Id, kind: z.nullish(MessageKind), sender: z.nullish(short), recipient: z.nullish(short) },
    ...page,
  }),
  "task.create": z.object({
    prompt: z.string().check(z.minLength(1), z.maxLength(MAX_CONTENT)),
    title: z.nullish(short),
    session_id: z.nullish(Id),
    project: z.nullish(folder),
    executor: z.nullish(short),
    reviewer: z.nullish(short),
    checks: z.nullish(
      z.array(z.string().check(z.minLength(1), z.maxLength(4000))).check(z.maxLength(TASK_BOUNDS.checks)),
    ),
    rounds: z.nullish(z.int().check(z.minimum(1), z.maximum(TASK_BOUNDS.rounds))),
    merge: z.nullish(MergeMode),
    approve: z.nullish(z.enum(["person", "reviewer"])),
    depends_on: z.nullish(z.array(Id).check(z.maxLength(TASK_BOUNDS.dependencies))),
    /** The same task is not added twice under one of these. */
    client_id: z.nullish(short),
  }),
  "task.list": z.object({ session_id: z.nullish(Id), status: z.nullish(TaskStatus), ...page }),
  "task.show": z.object({ id: Id }),
  "task.cancel": z.object({
    id: Id,
    reason: z.nullish(z.string().check(z.minLength(1), z.maxLength(4000))),
  }),
  "task.logs": z.object({ id: Id, ...page }),
  "task.steer": z.object({
    id: Id,
    content: z.string().check(z.minLength(1), z.maxLength(MAX_STEER)),
    live: z.nullish(z.boolean()),
    ...between,
  }),
  "task.steers": z.object({ id: Id, ...page }),
  "events.follow": z.object({}),
} as const;

/** The name of a method. */
export type AgmMethod = keyof typeof AGM_PARAMS;
/** The params of a method. */
export type AgmParams<Name extends AgmMethod> = z.output<(typeof AGM_PARAMS)[Name]>;

/** Reports whether a name from a peer is a method. */
export function isAgmMethod(name: string): name is AgmMethod {
  return Object.hasOwn(AGM_PARAMS, name);
}

/** The codes of this wire. */
export type AgmCode = "NOT_FOUND" | "INVALID_PARAMS" | "INVALID_METHOD" | "INTERNAL";

/** The reason a request failed, as sent to the client. */
export class AgmError extends Error {
  override readonly name = "AgmError";
  readonly code: AgmCode;

  constructor(code: AgmCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Kinds of errors of the server that the request itself is the cause of. */
const OF_THE_REQUEST: ReadonlySet<string> = new Set(["invalidParams", "invalidRequest", "unsupported"]);

/** The error of this wire for whatever was thrown. */
export function agmErrorOf(thrown: unknown): AgmError {
  if (thrown instanceof AgmError) return thrown;
  const isOfRequest = thrown instanceof FlintRequestError && OF_THE_REQUEST.has(thrown.kind);
  const message = errorMessage(thrown);
  return new AgmError(isOfRequest ? "INVALID_PARAMS" : "INTERNAL", message);
}
