import type { Answers, EventData, QuestionRequest } from "@flint/protocol";
import { CODEX_SERVER_REQUESTS, type CodexServerParams } from "@flint/protocol/codex";
import type { CoreCall } from "../../shared/core-calls.ts";
import { type CodexAsk, requestTo } from "./approvals.ts";

/** A question of the agent to the user. An answer that is not one answers nothing. */
export function questionAsk({ threadId, request }: EventData<"question/requested">): CodexAsk {
  const respond = (answers: Answers): CoreCall => ({
    method: "question/respond",
    params: { threadId, questionId: request.id, answers },
  });
  return {
    kind: "ask",
    key: request.id,
    threadId,
    ...requestTo("item/tool/requestUserInput", questionParams(threadId, request)),
    answered: (answer) => {
      const read = CODEX_SERVER_REQUESTS["item/tool/requestUserInput"].result.safeParse(answer);
      return respond(read.success ? read.data.answers : {});
    },
    refused: () => respond({}),
  };
}

function questionParams(
  threadId: string,
  request: QuestionRequest,
): CodexServerParams<"item/tool/requestUserInput"> {
  return {
    threadId,
    turnId: request.turnId,
    itemId: request.itemId,
    questions: request.questions.map(({ id, header, question, options, secret }) => ({
      id,
      header: header ?? "Question",
      question,
      isOther: true,
      isSecret: secret ?? false,
      options: options?.map(({ label, description }) => ({ label, description: description ?? "" })) ?? null,
    })),
    isBlocking: true,
    autoResolutionMs: null,
  };
}
