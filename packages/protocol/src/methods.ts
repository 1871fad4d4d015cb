import * as z from "zod/mini";
import { Answers, Approval, QuestionRequest } from "./approval.ts";
import { ConfigOption, Model, SandboxState } from "./config.ts";
import { LoggedEvent } from "./events.ts";
import { Id } from "./ids.ts";
import { QueuedInput, UserInput } from "./input.ts";
import { LIMITS } from "./limits.ts";
import { Empty, once, open } from "./open.ts";
import { ApprovalPolicy, Decision, SandboxPolicy, SandboxPolicyInput } from "./policy.ts";
import { ConfigValues, Thread, ThreadSettings, Turn } from "./thread.ts";
import { Cost, TokenUsage } from "./usage.ts";

/** The queue a method runs in: that of its thread, or none (it may run beside a queued one). */
export type Scope = "thread" | "none";

/** Schemas are made when they are first looked at: a server answers before it has made them all. */
function row<In extends Scope, Params extends z.ZodMiniType, Result extends z.ZodMiniType>(
  doc: string,
  scope: In,
  params: () => Params,
  result: () => Result,
) {
  const schemas = { params: once(params), result: once(result) };
  return {
    doc,
    scope,
    get params() {
      return schemas.params();
    },
    get result() {
      return schemas.result();
    },
  };
}

const ofThread = { threadId: Id };
const limit = z.optional(z.int().check(z.minimum(1), z.maximum(LIMITS.page)));
const absolutePath = z.string().check(z.startsWith("/", "must be an absolute path"), z.maxLength(4096));
const input = z.array(UserInput).check(z.minLength(1, "must hold at least one piece"));
const ThreadResult = open({ thread: Thread });
const QueueResult = open({ queue: z.array(QueuedInput) });

const overrides = {
  model: z.optional(z.string()),
  cwd: z.optional(absolutePath),
  approvalPolicy: z.optional(ApprovalPolicy),
  config: z.optional(ConfigValues),
};

const ThreadStartParams = open({
  ...overrides,
  sandbox: z.optional(SandboxPolicyInput),
  ephemeral: z.optional(z.boolean()),
  name: z.optional(z.string().check(z.maxLength(500))),
  developerInstructions: z.optional(z.string()),
});

const ThreadOverrides = {
  ...ofThread,
  ...overrides,
  sandbox: z.optional(SandboxPolicyInput),
  developerInstructions: z.optional(z.string()),
};

/** Where a client stands in a thread: the last event it has seen, and of which log. */
const Cursor = { afterSeq: z.optional(z.int().check(z.minimum(0))), epoch: z.optional(z.string()) };

const AttachResult = open({
  thread: Thread,
  settings: ThreadSettings,
  epoch: z.string(),
  seq: z.number(),
  truncated: z.boolean(),
  turns: z.array(Turn),
  nextCursor: z.optional(z.string()),
  approvals: z.array(Approval),
  questions: z.array(QuestionRequest),
  queue: z.array(QueuedInput),
  usage: TokenUsage,
  cost: z.optional(Cost),
});

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

/** Every method a client can call: what it does, the queue it runs in, what it takes, what it gives. */
export const METHODS = {
  initialize: row(
    "Say hello. Has to come first, and once.",
    "none",
    () =>
      open({
        clientInfo: open({ name: z.string(), title: z.optional(z.string()), version: z.string() }),
        capabilities: z.optional(open({ experimentalApi: z.optional(z.boolean()) })),
      }),
    () =>
      open({
        agentInfo: open({ name: z.string(), version: z.string(), provider: z.string() }),
        capabilities: open({
          streaming: z.boolean(),
          configOptions: z.boolean(),
          reasoning: z.boolean(),
          plans: z.boolean(),
          review: z.boolean(),
        }),
      }),
  ),
  "thread/start": row(
    "Create a thread and follow it.",
    "none",
    () => ThreadStartParams,
    () => open({ thread: Thread, modelProvider: z.string() }),
  ),
  "thread/resume": row(
    "Take up a stored thread: answers, says `thread/started`, replays its history, and follows it.",
    "thread",
    () => open({ ...ThreadOverrides, ...Cursor }),
    () => open({ thread: Thread, epoch: z.string(), truncated: z.boolean() }),
  ),
  "thread/attach": row(
    "Follow a thread from a known place, or from its present state with items in progress and open approvals.",
    "thread",
    () =>
      open({
        ...ofThread,
        ...Cursor,
        turns: z.optional(z.int().check(z.minimum(0), z.maximum(LIMITS.page))),
      }),
    () => AttachResult,
  ),
  "thread/unsubscribe": row(
    "Stop following a thread; its turn goes on.",
    "none",
    () => open(ofThread),
    () => Empty,
  ),
  "thread/list": row(
    "List threads, newest first.",
    "none",
    () =>
      open({
        cursor: z.optional(z.string()),
        limit: z.optional(z.int().check(z.minimum(1), z.maximum(LIMITS.threads))),
        archived: z.optional(z.boolean()),
        searchTerm: z.optional(z.string().check(z.maxLength(500))),
        cwd: z.optional(z.string()),
        sortKey: z.optional(z.enum(["createdAt", "updatedAt"])),
        sortDirection: z.optional(z.enum(["asc", "desc"])),
      }),
    () => open({ data: z.array(Thread), nextCursor: z.optional(z.string()) }),
  ),
  "thread/read": row(
    "Read a thread without following it; turns come in pages from the newest backwards, each page in order.",
    "none",
    () => open({ ...ofThread, includeTurns: z.optional(z.boolean()), cursor: z.optional(z.string()), limit }),
    () => open({ thread: Thread, turns: z.optional(z.array(Turn)), nextCursor: z.optional(z.string()) }),
  ),
  "thread/events/list": row(
    "The stored events of a thread after a place, without following it.",
    "none",
    () =>
      open({
        ...ofThread,
        afterSeq: z.optional(z.int().check(z.minimum(0))),
        limit: z.optional(z.int().check(z.minimum(1))),
      }),
    () => open({ thread: Thread, epoch: z.string(), events: z.array(LoggedEvent), more: z.boolean() }),
  ),
  "thread/fork": row(
    "Start a new thread with the history of another, up to a turn.",
    "thread",
    () => open({ ...ThreadOverrides, lastTurnId: z.optional(Id), ephemeral: z.optional(z.boolean()) }),
    () => open({ thread: Thread, modelProvider: z.string() }),
  ),
  "thread/archive": row(
    "Put a thread away.",
    "thread",
    () => open(ofThread),
    () => Empty,
  ),
  "thread/unarchive": row(
    "Take a thread out of the archive.",
    "thread",
    () => open(ofThread),
    () => ThreadResult,
  ),
  "thread/delete": row(
    "Delete a thread and its log for good.",
    "thread",
    () => open(ofThread),
    () => Empty,
  ),
  "thread/name/set": row(
    "Name a thread.",
    "thread",
    () => open({ ...ofThread, name: z.string().check(z.minLength(1), z.maxLength(500)) }),
    () => Empty,
  ),
  "thread/rollback": row(
    "Drop the last turns from the conversation. Files are not touched.",
    "thread",
    () => open({ ...ofThread, numTurns: z.int().check(z.minimum(1)) }),
    () => open({ thread: Thread, turnIds: z.array(Id) }),
  ),
  "thread/revert": row(
    "Go back to the moment before a turn. Files are not touched.",
    "thread",
    () => open({ ...ofThread, beforeTurnId: Id }),
    () => open({ thread: Thread, turnIds: z.array(Id) }),
  ),
  "thread/compact/start": row(
    "Summarise the context to make room, as a turn of its own.",
    "thread",
    () => open(ofThread),
    () => open({ turn: Turn }),
  ),
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
  "command/exec": row(
    "Run one command in the sandbox, outside of any thread.",
    "none",
    () =>
      open({
        command: z.array(z.string()).check(z.minLength(1)),
        cwd: z.optional(absolutePath),
        sandboxPolicy: z.optional(SandboxPolicyInput),
        timeoutMs: z.optional(z.int().check(z.minimum(1), z.maximum(3_600_000))),
      }),
    () =>
      open({
        exitCode: z.number(),
        stdout: z.string(),
        stderr: z.string(),
        timedOut: z.boolean(),
        omittedOutputBytes: z.optional(z.number()),
      }),
  ),
  "model/list": row(
    "The models that threads can use.",
    "none",
    () => open({ limit }),
    () => open({ data: z.array(Model) }),
  ),
  "config/list": row(
    "The selectors of the agent, for a thread or for new threads.",
    "none",
    () => open({ threadId: z.optional(Id) }),
    () => open({ options: z.array(ConfigOption) }),
  ),
  "config/set": row(
    "Set a selector. Answers all of them, because one may change another.",
    "none",
    () => open({ threadId: z.optional(Id), id: z.string(), value: z.string() }),
    () => open({ options: z.array(ConfigOption) }),
  ),
  "config/read": row(
    "The configuration in force, for a thread or for new threads.",
    "none",
    () => open({ threadId: z.optional(Id) }),
    () =>
      open({
        model: z.string(),
        cwd: z.string(),
        approvalPolicy: ApprovalPolicy,
        sandboxPolicy: SandboxPolicy,
        options: z.array(ConfigOption),
        sandbox: SandboxState,
        durability: z.string(),
      }),
  ),
  "mcpServerStatus/list": row(
    "The MCP servers of the agent and how they are.",
    "none",
    () => open({ threadId: z.optional(Id) }),
    () =>
      open({
        data: z.array(
          open({
            name: z.string(),
            status: z.enum(["starting", "ready", "failed"]),
            error: z.optional(z.string()),
          }),
        ),
      }),
  ),
  "account/read": row(
    "Who the agent works as, and whether it needs a login.",
    "none",
    () => open({ threadId: z.optional(Id) }),
    () =>
      open({
        account: z.nullable(open({ type: z.string(), label: z.optional(z.string()) })),
        requiresLogin: z.boolean(),
        provider: z.string(),
      }),
  ),
} as const;

/** The name of a method. */
export type Method = keyof typeof METHODS;
/** The methods that run in the queue of their thread. */
export type ThreadMethod = {
  [Name in Method]: (typeof METHODS)[Name]["scope"] extends "thread" ? Name : never;
}[Method];
/** What a method takes, after validation. */
export type Params<Name extends Method> = z.output<(typeof METHODS)[Name]["params"]>;
/** What a caller may write for it. */
export type ParamsInput<Name extends Method> = z.input<(typeof METHODS)[Name]["params"]>;
/** What a method gives. */
export type Result<Name extends Method> = z.output<(typeof METHODS)[Name]["result"]>;

/** Whether a name from a wire is a method. */
export function isMethod(name: string): name is Method {
  return Object.hasOwn(METHODS, name);
}
