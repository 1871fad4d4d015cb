import { goalOf } from "../outbound.ts";
import { present } from "../present.ts";
import type { Handlers } from "../visit.ts";

/** What threads are for. */
export const goalRequests: Handlers<"thread/goal/get" | "thread/goal/set" | "thread/goal/clear"> = {
  "thread/goal/get": ({ threadId }, { client }, reply) =>
    client.core.call("thread/goal/get", { threadId }, ({ goal }) =>
      reply({ goal: goal === null ? null : goalOf(threadId, goal) }),
    ),

  "thread/goal/set": ({ threadId, objective, status, tokenBudget }, { client }, reply) =>
    client.core.call(
      "thread/goal/set",
      { threadId, ...present({ objective, status, tokenBudget }) },
      ({ goal }) => reply({ goal: goalOf(threadId, goal) }),
    ),

  "thread/goal/clear": ({ threadId }, { client }, reply) =>
    client.core.call("thread/goal/clear", { threadId }, ({ cleared }) => reply({ cleared })),
};
