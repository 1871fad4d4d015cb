import * as z from "zod/mini";
import { Answers } from "../approval/approval.ts";
import { Grant } from "../approval/grant.ts";
import { Decision, SandboxPolicyInput } from "../approval/policy.ts";
import { ToolCallResult } from "../thread/client-tool.ts";
import { QueuedInput, UserInput } from "../thread/input.ts";
import { Turn } from "../thread/thread.ts";
import { Id } from "../wire/ids.ts";
import { LIMITS } from "../wire/limits.ts";
import { Empty, looseObject } from "../wire/loose-object.ts";
import { clientId, method, settingsOverrides, threadParams } from "./method.ts";

const input = z.array(UserInput).check(z.minLength(1, "must have at least one part"));
const QueueResult = looseObject(() => ({ queue: z.array(QueuedInput) }));

const TurnStartParams = looseObject(() => ({
  ...threadParams,
  input,
  ...settingsOverrides(),
  sandboxPolicy: z.optional(SandboxPolicyInput),
  outputSchema: z.optional(z.record(z.string(), z.unknown())),
  delivery: z.optional(z.enum(["reject", "steer", "queue"])),
  clientId,
}));

/** The subject of a review. */
export const ReviewTarget = z.discriminatedUnion("type", [
  looseObject(() => ({ type: z.literal("uncommittedChanges") })),
  looseObject(() => ({ type: z.literal("baseBranch"), branch: z.string() })),
  looseObject(() => ({ type: z.literal("commit"), sha: z.string(), title: z.optional(z.string()) })),
  looseObject(() => ({ type: z.literal("custom"), instructions: z.string() })),
]);
export type ReviewTarget = z.output<typeof ReviewTarget>;

/** Turns, queued inputs, reviews, and answers to what agents ask. */
export const TURN_METHODS = {
  "thread/queue/list": method({
    doc: "List the queued inputs.",
    scope: "thread",
    params: () => looseObject(threadParams),
    result: () => QueueResult,
  }),
  "thread/queue/update": method({
    doc: "Change a queued input.",
    scope: "thread",
    params: () => looseObject({ ...threadParams, queuedInputId: Id, input }),
    result: () => QueueResult,
  }),
  "thread/queue/reorder": method({
    doc: "Reorder the queued inputs; each is named once.",
    scope: "thread",
    params: () => looseObject({ ...threadParams, queuedInputIds: z.array(Id) }),
    result: () => QueueResult,
  }),
  "thread/queue/delete": method({
    doc: "Remove an input from the queue.",
    scope: "thread",
    params: () => looseObject({ ...threadParams, queuedInputId: Id }),
    result: () => QueueResult,
  }),
  "thread/queue/promote": method({
    doc: "Steer the running turn with a queued input now, or start a turn with it if none runs.",
    scope: "thread",
    params: () => looseObject({ ...threadParams, queuedInputId: Id }),
    result: () => looseObject({ turnId: Id, queue: z.array(QueuedInput) }),
  }),
  "turn/start": method({
    doc: "Start a turn with user input. Rejected while a turn runs, unless `delivery` is `steer` or `queue`. A request that is repeated with the same `clientId` gets the turn of the first one; one with another input is rejected.",
    scope: "thread",
    params: () => TurnStartParams,
    result: () => looseObject({ turn: z.optional(Turn), queuedInput: z.optional(QueuedInput) }),
  }),
  "thread/shellCommand": method({
    doc: "Run a command of the user in the thread, as a turn of its own. It is confined like the agent's commands; the agent is informed with the next turn.",
    scope: "thread",
    params: () =>
      looseObject({
        ...threadParams,
        command: z.string().check(z.minLength(1), z.maxLength(LIMITS.prompt)),
        timeoutMs: z.optional(z.int().check(z.minimum(1), z.maximum(3_600_000))),
      }),
    result: () => looseObject({ turn: Turn }),
  }),
  "thread/inject": method({
    doc: "Add messages to the history of a thread without running a turn, as a turn of its own. Flint's own agent has them in its conversation; every other agent gets them as text with its next input.",
    scope: "thread",
    experimental: true,
    params: () =>
      looseObject({
        ...threadParams,
        messages: z
          .array(looseObject({ role: z.enum(["user", "assistant"]), text: z.string().check(z.minLength(1)) }))
          .check(z.minLength(1)),
      }),
    result: () => looseObject({ turn: Turn }),
  }),
  "turn/steer": method({
    doc: "Add input to the running turn. Answered when its agent has accepted or refused the input; no other request of the thread waits for that.",
    scope: "thread",
    params: () =>
      looseObject({
        ...threadParams,
        expectedTurnId: z.optional(Id),
        input,
        clientId: z.optional(z.string().check(z.maxLength(200))),
      }),
    result: () => looseObject({ turnId: Id }),
  }),
  "turn/interrupt": method({
    doc: "Interrupt the running turn; its processes have ended before `turn/completed`.",
    scope: "none",
    params: () => looseObject({ ...threadParams, turnId: z.optional(Id) }),
    result: () => Empty,
  }),
  "review/start": method({
    doc: "Start a review of changes, in this thread or in one of its own.",
    scope: "thread",
    params: () =>
      looseObject({
        ...threadParams,
        target: ReviewTarget,
        delivery: z.optional(z.enum(["inline", "detached"])),
      }),
    result: () => looseObject({ turn: Turn, reviewThreadId: Id }),
  }),
  "approval/respond": method({
    doc: "Answer an open approval. The first answer counts. A command that is allowed after its approval has expired or its turn has ended is not run; instead it is allowed once, and `grant` says so.",
    scope: "none",
    params: () => looseObject({ ...threadParams, approvalId: Id, decision: Decision }),
    result: () => looseObject({ grant: z.optional(Grant) }),
  }),
  "question/respond": method({
    doc: "Answer an open question. The first answer counts.",
    scope: "none",
    params: () => looseObject({ ...threadParams, questionId: Id, answers: Answers }),
    result: () => Empty,
  }),
  "tool/respond": method({
    doc: "Answer an open call of a client's tool with its result. The first answer counts.",
    scope: "none",
    params: () => looseObject({ ...threadParams, callId: Id, result: ToolCallResult }),
    result: () => Empty,
  }),
} as const;
