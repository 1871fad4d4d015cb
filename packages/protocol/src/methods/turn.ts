import * as z from "zod/mini";
import { Answers } from "../approval.ts";
import { ToolCallResult } from "../client-tool.ts";
import { Id } from "../ids.ts";
import { QueuedInput, UserInput } from "../input.ts";
import { LIMITS } from "../limits.ts";
import { Empty, open } from "../open.ts";
import { Decision, SandboxPolicyInput } from "../policy.ts";
import { Turn } from "../thread.ts";
import { ofThread, overrides, row } from "./row.ts";

const input = z.array(UserInput).check(z.minLength(1, "must hold at least one piece"));
const QueueResult = open({ queue: z.array(QueuedInput) });

const TurnStartParams = open({
  ...ofThread,
  input,
  ...overrides,
  sandboxPolicy: z.optional(SandboxPolicyInput),
  outputSchema: z.optional(z.record(z.string(), z.unknown())),
  delivery: z.optional(z.enum(["reject", "steer", "queue"])),
  clientId: z.optional(z.string().check(z.maxLength(200))),
});

/** What a review looks at. */
export const ReviewTarget = z.discriminatedUnion("type", [
  open({ type: z.literal("uncommittedChanges") }),
  open({ type: z.literal("baseBranch"), branch: z.string() }),
  open({ type: z.literal("commit"), sha: z.string(), title: z.optional(z.string()) }),
  open({ type: z.literal("custom"), instructions: z.string() }),
]);
export type ReviewTarget = z.output<typeof ReviewTarget>;

/** Turns, the inputs that wait for them, reviews, and answers to what agents ask. */
export const TURN_METHODS = {
  "thread/queue/list": row(
    "The inputs that wait.",
    "thread",
    () => open(ofThread),
    () => QueueResult,
  ),
  "thread/queue/update": row(
    "Change an input that waits.",
    "thread",
    () => open({ ...ofThread, queuedInputId: Id, input }),
    () => QueueResult,
  ),
  "thread/queue/reorder": row(
    "Put the inputs that wait into this order; name each once.",
    "thread",
    () => open({ ...ofThread, queuedInputIds: z.array(Id) }),
    () => QueueResult,
  ),
  "thread/queue/delete": row(
    "Take an input out of the queue.",
    "thread",
    () => open({ ...ofThread, queuedInputId: Id }),
    () => QueueResult,
  ),
  "thread/queue/promote": row(
    "Give an input that waits to the running turn now, or start it if no turn runs.",
    "thread",
    () => open({ ...ofThread, queuedInputId: Id }),
    () => open({ turnId: Id, queue: z.array(QueuedInput) }),
  ),
  "turn/start": row(
    "Send user input. While a turn runs: refused, unless `delivery` says to steer it or to wait in the queue.",
    "thread",
    () => TurnStartParams,
    () => open({ turn: z.optional(Turn), queuedInput: z.optional(QueuedInput) }),
  ),
  "thread/shellCommand": row(
    "Run a command of the user's own in the thread, as a turn of its own. It is confined like those of the agent, which hears of it with the next turn.",
    "thread",
    () =>
      open({
        ...ofThread,
        command: z.string().check(z.minLength(1), z.maxLength(LIMITS.prompt)),
        timeoutMs: z.optional(z.int().check(z.minimum(1), z.maximum(3_600_000))),
      }),
    () => open({ turn: Turn }),
  ),
  "turn/steer": row(
    "Add input to the running turn.",
    "thread",
    () =>
      open({
        ...ofThread,
        expectedTurnId: z.optional(Id),
        input,
        clientId: z.optional(z.string().check(z.maxLength(200))),
      }),
    () => open({ turnId: Id }),
  ),
  "turn/interrupt": row(
    "Stop the running turn; its processes are gone before `turn/completed`.",
    "none",
    () => open({ ...ofThread, turnId: z.optional(Id) }),
    () => Empty,
  ),
  "review/start": row(
    "Have changes reviewed, in this thread or in one of its own.",
    "thread",
    () => open({ ...ofThread, target: ReviewTarget, delivery: z.optional(z.enum(["inline", "detached"])) }),
    () => open({ turn: Turn, reviewThreadId: Id }),
  ),
  "approval/respond": row(
    "Answer an open approval. The first answer counts.",
    "none",
    () => open({ ...ofThread, approvalId: Id, decision: Decision }),
    () => Empty,
  ),
  "question/respond": row(
    "Answer an open question. The first answer counts.",
    "none",
    () => open({ ...ofThread, questionId: Id, answers: Answers }),
    () => Empty,
  ),
  "tool/respond": row(
    "Say what came of an open call of a client's tool. The first answer counts.",
    "none",
    () => open({ ...ofThread, callId: Id, result: ToolCallResult }),
    () => Empty,
  ),
} as const;
