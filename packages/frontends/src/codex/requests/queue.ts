import type { QueuedInput, Turn } from "@flint/protocol";
import type { CodexQueuedSubmission } from "@flint/protocol/codex";
import { userInputOf } from "../input.ts";
import { inputOf } from "../items.ts";
import { refused } from "../refusals.ts";
import { answeredTurn } from "../turns.ts";
import type { Handlers } from "../visit.ts";

/** The inputs that wait for the running turn to end. */
export const queueRequests: Handlers<
  | "thread/queue/add"
  | "thread/queue/list"
  | "thread/queue/update"
  | "thread/queue/delete"
  | "thread/queue/reorder"
  | "thread/queue/start"
> = {
  async "thread/queue/add"({ threadId, input, clientUserMessageId: clientId }, { client }, reply) {
    const wanted = { threadId, input: userInputOf(input), clientId, delivery: "queue" } as const;
    await client.core.call("turn/start", wanted, ({ turn, queuedInput }) => {
      // An idle thread does not let it wait: it is a turn at once.
      const submission = { id: queuedInput?.id ?? turn?.id ?? clientId, input: wanted.input.map(inputOf) };
      reply({ queuedSubmission: { ...submission, clientUserMessageId: clientId } });
    });
  },

  "thread/queue/list": ({ threadId }, { client }, reply) =>
    client.core.call("thread/queue/list", { threadId }, ({ queue }) =>
      reply({ data: queue.map(submissionOf), nextCursor: null }),
    ),

  "thread/queue/update": ({ threadId, queuedSubmissionId: queuedInputId, input }, { client }, reply) =>
    client.core.call(
      "thread/queue/update",
      { threadId, queuedInputId, input: userInputOf(input) },
      ({ queue }) => {
        const changed = queue.find(({ id }) => id === queuedInputId);
        if (changed === undefined) throw notThere(queuedInputId);
        reply({ queuedSubmission: submissionOf(changed) });
      },
    ),

  async "thread/queue/delete"({ threadId, queuedSubmissionId }, visit, reply) {
    const { queue } = await visit.client.core.call("thread/queue/list", { threadId });
    if (!queue.some(({ id }) => id === queuedSubmissionId)) return reply({ deleted: false });
    const named = { threadId, queuedInputId: queuedSubmissionId };
    await visit.client.core.call("thread/queue/delete", named, () => reply({ deleted: true }));
  },

  "thread/queue/reorder": ({ threadId, queuedSubmissionIds }, { client }, reply) =>
    client.core.call("thread/queue/reorder", { threadId, queuedInputIds: queuedSubmissionIds }, () =>
      reply({}),
    ),

  async "thread/queue/start"({ threadId, queuedSubmissionId }, visit, reply) {
    const { queue } = await visit.client.core.call("thread/queue/list", { threadId });
    const queuedInputId = queuedSubmissionId ?? queue[0]?.id;
    if (queuedInputId === undefined) throw refused("the queue is empty", "queuedInputNotFound");
    await visit.client.core.call("thread/queue/promote", { threadId, queuedInputId }, ({ turnId }) => {
      const turn: Turn = { id: turnId, status: "inProgress", items: [] };
      reply({ turn: answeredTurn(turn) });
    });
  },
};

function submissionOf({ id, input, clientId }: QueuedInput): CodexQueuedSubmission {
  return { id, input: input.map(inputOf), clientUserMessageId: clientId ?? id };
}

function notThere(id: string) {
  return refused(`queued submission not found: ${id}`, "queuedInputNotFound");
}
