import { FlintError, type TaskMethod } from "@flint/protocol";
import type { GlobalHandler, GlobalHandlers } from "./handler.ts";

/** Hands a request on to the tasks of the server. */
function forwarded<Name extends TaskMethod>(method: Name): GlobalHandler<Name> {
  return async (params, { services }) => {
    const { tasks } = services.options;
    if (tasks === undefined)
      throw new FlintError("unsupported", "This server runs no tasks. Use the shared one: flint tasks.");
    return { result: await tasks.call(method, params) };
  };
}

/** Tasks; all of them are answered by the task layer. */
export const taskHandlers: Pick<GlobalHandlers, TaskMethod> = {
  "task/add": forwarded("task/add"),
  "task/list": forwarded("task/list"),
  "task/read": forwarded("task/read"),
  "task/diff": forwarded("task/diff"),
  "task/answer": forwarded("task/answer"),
  "task/approve": forwarded("task/approve"),
  "task/reject": forwarded("task/reject"),
  "task/steer": forwarded("task/steer"),
  "task/suspend": forwarded("task/suspend"),
  "task/resume": forwarded("task/resume"),
  "task/cancel": forwarded("task/cancel"),
  "task/retry": forwarded("task/retry"),
  "task/remove": forwarded("task/remove"),
};
