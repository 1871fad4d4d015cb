import { FlintError } from "@flint/protocol";
import type { Responder } from "../approval/open-requests.ts";
import type { CallingClient, GlobalHandlers } from "./handler.ts";

/** Answering what agents ask, and the rules that earlier answers made. */
export const approvalHandlers: Pick<
  GlobalHandlers,
  "approval/respond" | "question/respond" | "tool/respond" | "rules/list" | "rules/remove"
> = {
  async "approval/respond"({ threadId, approvalId, decision }, { services, client }, respond) {
    const { thread } = await services.registry.load(threadId);
    const responder = responderOf(client);
    await thread.requests.decide(approvalId, decision, responder, (grant) =>
      respond(grant === undefined ? {} : { grant }),
    );
    return "answered";
  },

  async "question/respond"({ threadId, questionId, answers }, { services, client }, respond) {
    const { thread } = await services.registry.load(threadId);
    const responder = responderOf(client);
    await thread.requests.answer(questionId, answers, responder, () => respond({}));
    return "answered";
  },

  async "tool/respond"({ threadId, callId, result }, { services, client }, respond) {
    const { thread } = await services.registry.load(threadId);
    const responder = responderOf(client);
    await thread.requests.completeToolCall(callId, result, responder, () => respond({}));
    return "answered";
  },

  async "rules/list"({ cwd }, { services }) {
    const { rules, realPath } = services.options;
    const folder = cwd === undefined ? undefined : realPath(cwd);
    const data = rules.list().filter(({ project }) => folder === undefined || project === folder);
    const problems = rules.problems?.() ?? [];
    return { result: { data, ...(problems.length === 0 ? {} : { problems: [...problems] }) } };
  },

  async "rules/remove"({ id }, { services }) {
    if (services.options.rules.remove(id)) return { result: {} };
    const message = `There is no rule ${id}; it may have been removed already. rules/list lists them.`;
    throw new FlintError("invalidParams", message, { field: "id" });
  },
};

function responderOf({ id, name }: CallingClient): Responder {
  return { by: "client", clientId: id, ...(name === undefined ? {} : { client: name }) };
}
