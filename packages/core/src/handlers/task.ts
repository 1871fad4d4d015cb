import { FlintError, type TaskMethod } from "@flint/protocol";
import type { Tasks } from "../ports/index.ts";
import type { Services } from "../services.ts";
import { checkAgents, checkTaskLimits, isDoneHere } from "../task/agents.ts";
import type { GlobalHandler, GlobalHandlers } from "./handler.ts";

function tasksOf({ options: { tasks } }: Services): Tasks {
  if (tasks === undefined)
    throw new FlintError("unsupported", "This server runs no tasks. Use the shared one: flint tasks.");
  return tasks;
}

/** Hands a request on to the tasks of the server. */
function forwarded<Name extends TaskMethod>(method: Name): GlobalHandler<Name> {
  return async (params, { services }) => {
    return { result: await tasksOf(services).call(method, params) };
  };
}

/** Tasks; all but their events are answered by the task layer. */
export const taskHandlers: Pick<GlobalHandlers, TaskMethod | "task/subscribe" | "task/publish"> = {
  "task/subscribe": async (_params, { services, client }) => {
    const { eventStream } = tasksOf(services);
    if (eventStream !== undefined)
      throw new FlintError("unsupported", `The events of this fleet are in the Redis stream ${eventStream}.`);
    return { result: {}, after: () => client.subscribeToTasks() };
  },
  "task/publish": async ({ event }, { services }) => {
    services.publishTaskEvent(event);
    return { result: {} };
  },
  "task/add": async (params, { services }) => {
    const tasks = tasksOf(services);
    // Workers of a fleet may have other agents.
    const here = tasks.eventStream === undefined ? params.tasks.filter(isDoneHere) : [];
    for (const task of here) await checkTaskLimits(task, services);
    const warnings = await checkAgents(here, services);
    const result = await tasks.call("task/add", params);
    return { result: { ...result, ...(warnings.size === 0 ? {} : { warnings: [...warnings] }) } };
  },
  "task/list": forwarded("task/list"),
  "task/read": forwarded("task/read"),
  "task/diff": forwarded("task/diff"),
  "task/answer": forwarded("task/answer"),
  "task/approve": forwarded("task/approve"),
  "task/merge": forwarded("task/merge"),
  "task/reject": forwarded("task/reject"),
  "task/steer": forwarded("task/steer"),
  "task/suspend": forwarded("task/suspend"),
  "task/resume": forwarded("task/resume"),
  "task/suspendAll": forwarded("task/suspendAll"),
  "task/resumeAll": forwarded("task/resumeAll"),
  "task/cancel": forwarded("task/cancel"),
  "task/retry": forwarded("task/retry"),
  "task/remove": forwarded("task/remove"),
  "task/clean": forwarded("task/clean"),
  "worker/list": forwarded("worker/list"),
  "worker/drain": forwarded("worker/drain"),
};
