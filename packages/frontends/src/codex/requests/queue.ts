import type { QueuedInput, Turn } from "@flint/protocol";
import type { CodexQueuedSubmission } from "@flint/protocol/codex";
import { inputOf } from "../events/items.ts";
import { answeredTurn } from "../events/turns.ts";
import { codexError } from "../wire/errors.ts";
import type { Handlers } from "./handler.ts";
import { userInputOf } from "./turns.ts";

/** The inputs that wait for the running turn to end. */
export const queue: Handlers<
  | "thread/queue/add"
  | "thread/queue/list"
  | "thread/queue/update"
  | "thread/queue/delete"
  | "thread/queue/reorder"
  | "thread/queue/start"
> = {
  async "thread/queue/add"({ threadId, input, clientUserMessageId: clientId }, { core, reply }) {
    const queued = { threadId, input: userInputOf(input), clientId, delivery: "queue" } as const;
    await core.call("turn/start", queued, ({ turn, queuedInput }) => {
      // In an idle thread it starts a turn at once.
      const submission = { id: queuedInput?.id ?? turn?.id ?? clientId, input: queued.input.map(inputOf) };
      reply({ queuedSubmission: { ...submission, clientUserMessageId: clientId } });
    });
  },

  "thread/queue/list": ({ threadId }, { core, reply }) =>
    core.call("thread/queue/list", { threadId }, ({ queue }) =>
      reply({ data: queue.map(submissionOf), nextCursor: null }),
    ),

  "thread/queue/update": ({ threadId, queuedSubmissionId: queuedInputId, input }, { core, reply }) =>
    core.call("thread/queue/update", { threadId, queuedInputId, input: userInputOf(input) }, ({ queue }) => {
      const changed = queue.find(({ id }) => id === queuedInputId);
      if (changed === undefined) throw submissionNotFound(queuedInputId);
      reply({ queuedSubmission: submissionOf(changed) });
    }),

  async "thread/queue/delete"({ threadId, queuedSubmissionId }, { core, reply }) {
    const { queue } = await core.call("thread/queue/list", { threadId });
    if (!queue.some(({ id }) => id === queuedSubmissionId)) return reply({ deleted: false });
    const named = { threadId, queuedInputId: queuedSubmissionId };
    await core.call("thread/queue/delete", named, () => reply({ deleted: true }));
  },

  "thread/queue/reorder": ({ threadId, queuedSubmissionIds }, { core, reply }) =>
    core.call("thread/queue/reorder", { threadId, queuedInputIds: queuedSubmissionIds }, () => reply({})),

  async "thread/queue/start"({ threadId, queuedSubmissionId }, { core, reply }) {
    const { queue } = await core.call("thread/queue/list", { threadId });
    const queuedInputId = queuedSubmissionId ?? queue[0]?.id;
    if (queuedInputId === undefined) throw codexError("the queue is empty", "queuedInputNotFound");
    await core.call("thread/queue/promote", { threadId, queuedInputId }, ({ turnId }) => {
      const turn: Turn = { id: turnId, status: "inProgress", items: [] };
      reply({ turn: answeredTurn(turn) });
    });
  },
};

function submissionOf({ id, input, clientId }: QueuedInput): CodexQueuedSubmission {
  return { id, input: input.map(inputOf), clientUserMessageId: clientId ?? id };
}

function submissionNotFound(id: string) {
  return codexError(`queued submission not found: ${id}`, "queuedInputNotFound");
}
