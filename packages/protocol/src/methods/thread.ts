import * as z from "zod/mini";
import { Approval, QuestionRequest } from "../approval.ts";
import { ToolCallRequest, withClientTools } from "../client-tool.ts";
import { LoggedEvent } from "../events.ts";
import { RestoredFiles } from "../files.ts";
import { Id } from "../ids.ts";
import { QueuedInput } from "../input.ts";
import { LIMITS } from "../limits.ts";
import { Empty, open } from "../open.ts";
import { SandboxPolicyInput } from "../policy.ts";
import { Thread, ThreadSettings, Turn } from "../thread.ts";
import { Cost, LastUsage, TokenUsage } from "../usage.ts";
import { withMcpServers } from "./mcp-server.ts";
import { limit, ofThread, overrides, row } from "./row.ts";

const ThreadResult = open({ thread: Thread });

const ThreadStartParams = open({
  ...overrides,
  sandbox: z.optional(SandboxPolicyInput),
  ephemeral: z.optional(z.boolean()),
  name: z.optional(z.string().check(z.maxLength(500))),
  developerInstructions: z.optional(z.string()),
  ...withMcpServers,
  ...withClientTools,
});

const ThreadOverrides = {
  ...ofThread,
  ...overrides,
  sandbox: z.optional(SandboxPolicyInput),
  developerInstructions: z.optional(z.string()),
};

/** Whether a turn that runs is stopped first; otherwise the request is refused while one does. */
const interrupt = z.optional(z.boolean());

/** Where a client stands in a thread: the last event it has seen, and of which log. */
const Cursor = { afterSeq: z.optional(z.int().check(z.minimum(0))), epoch: z.optional(z.string()) };

/** What a thread has used so far. */
const Spent = { usage: TokenUsage, lastUsage: z.optional(LastUsage), cost: z.optional(Cost) };

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
  toolCalls: z.optional(z.array(ToolCallRequest)),
  queue: z.array(QueuedInput),
  ...Spent,
});

/** What becomes of the files when turns are dropped. With `preview` nothing changes; the answer says what would. */
const filesOfRevert = {
  files: z.optional(z.enum(["keep", "restore"])),
  preview: z.optional(z.boolean()),
};

const RevertResult = open({
  thread: Thread,
  turnIds: z.array(Id),
  revertId: z.optional(Id),
  files: z.optional(RestoredFiles.files),
  conflicts: z.optional(RestoredFiles.conflicts),
  notSaved: z.optional(RestoredFiles.notSaved),
});

/** Making, following, reading, changing and deleting threads. */
export const THREAD_METHODS = {
  "thread/start": row(
    "Create a thread and follow it.",
    "none",
    () => ThreadStartParams,
    () => open({ thread: Thread, modelProvider: z.string() }),
  ),
  "thread/resume": row(
    "Take up a stored thread: answers, says `thread/started`, replays its history, and follows it.",
    "thread",
    () => open({ ...ThreadOverrides, ...Cursor, ...withMcpServers, ...withClientTools }),
    () => open({ thread: Thread, epoch: z.string(), truncated: z.boolean() }),
  ),
  "thread/attach": row(
    "Follow a thread from a known place, or from its present state with items in progress and open approvals.",
    "thread",
    () =>
      open({
        ...ofThread,
        ...Cursor,
        ...withMcpServers,
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
  "thread/loaded/list": row(
    "The threads that this server has in memory: those that run, are followed, or were used a moment ago.",
    "none",
    () => open({}),
    () => open({ data: z.array(Id) }),
  ),
  "thread/settings/update": row(
    "Change what a thread works with from its next turn on.",
    "thread",
    () => open(ThreadOverrides),
    () => open({ settings: ThreadSettings }),
  ),
  "thread/fork": row(
    "Start a new thread with the history of another, up to a turn.",
    "thread",
    () => open({ ...ThreadOverrides, lastTurnId: z.optional(Id), ephemeral: z.optional(z.boolean()) }),
    () => open({ thread: Thread, modelProvider: z.string(), ...Spent }),
  ),
  "thread/archive": row(
    "Put a thread away.",
    "thread",
    () => open({ ...ofThread, interrupt }),
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
    () => open({ ...ofThread, interrupt }),
    () => Empty,
  ),
  "thread/name/set": row(
    "Name a thread.",
    "thread",
    () => open({ ...ofThread, name: z.string().check(z.minLength(1), z.maxLength(500)) }),
    () => Empty,
  ),
  "thread/rollback": row(
    "Drop the last turns from the conversation, and put their files back if `files` says so.",
    "thread",
    () => open({ ...ofThread, numTurns: z.int().check(z.minimum(1)), ...filesOfRevert }),
    () => RevertResult,
  ),
  "thread/revert": row(
    "Go back to the moment before a turn; the files stay as they are unless `files` says otherwise.",
    "thread",
    () => open({ ...ofThread, beforeTurnId: Id, ...filesOfRevert }),
    () => RevertResult,
  ),
  "thread/revert/undo": row(
    "Take a revert back: its files, and its turns if no turn has begun since.",
    "thread",
    () => open({ ...ofThread, revertId: Id }),
    () => open({ thread: Thread, turnIds: z.array(Id), ...RestoredFiles }),
  ),
  "thread/compact/start": row(
    "Summarise the context to make room, as a turn of its own.",
    "thread",
    () => open(ofThread),
    () => open({ turn: Turn }),
  ),
} as const;
