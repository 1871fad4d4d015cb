import type { FreeHandlers } from "./handler.ts";

/** Answers to what agents ask. */
export const approvalHandlers: Pick<FreeHandlers, "approval/respond" | "question/respond" | "tool/respond"> =
  {
    async "approval/respond"({ threadId, approvalId, decision }, { services, client }, respond) {
      const { thread } = await services.registry.load(threadId);
      const answerer = { by: "client", clientId: client.id } as const;
      await thread.requests.decide(approvalId, decision, answerer, () => respond({}));
      return "answered";
    },

    async "question/respond"({ threadId, questionId, answers }, { services, client }, respond) {
      const { thread } = await services.registry.load(threadId);
      const answerer = { by: "client", clientId: client.id } as const;
      await thread.requests.answer(questionId, answers, answerer, () => respond({}));
      return "answered";
    },

    async "tool/respond"({ threadId, callId, result }, { services, client }, respond) {
      const { thread } = await services.registry.load(threadId);
      const answerer = { by: "client", clientId: client.id } as const;
      await thread.requests.completeToolCall(callId, result, answerer, () => respond({}));
      return "answered";
    },
  };
