import { FlintError, type Params, type TaskMethod } from "@flint/protocol";
import { checkLimits } from "../budget/enforcement.ts";
import type { Tasks } from "../ports/index.ts";
import type { Services } from "../services.ts";
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

/**
 * Throws `invalidParams` for a task whose limits an agent of this server cannot keep. Those of tasks that workers
 * elsewhere run are checked there.
 */
async function checkTaskLimits(
  { budget, executors = [{}], reviewers = [], remote, pool, labels }: Params<"task/add">["tasks"][number],
  { catalogue, options }: Services,
): Promise<void> {
  const { costUsd, tokens, enforcement = options.budget?.enforcement } = budget ?? {};
  const isElsewhere = (remote ?? pool ?? labels) !== undefined;
  if (isElsewhere || (costUsd ?? tokens) === undefined) return;
  const limits = {
    ...(enforcement === undefined ? {} : { enforcement }),
    turn: { ...(costUsd === undefined ? {} : { costUsd }), ...(tokens === undefined ? {} : { tokens }) },
  };
  for (const { model } of [...executors, ...reviewers]) {
    try {
      const { id } = await catalogue.choose(model ?? options.model ?? (await catalogue.defaultModel()));
      await checkLimits({ budget: limits, model: id }, catalogue);
    } catch (thrown) {
      if (thrown instanceof FlintError && thrown.data.field === "budget") throw thrown;
      // Expected: an agent that is not there or cannot be asked now. The turn of the task reports it.
    }
  }
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
    for (const task of params.tasks) await checkTaskLimits(task, services);
    return { result: await tasksOf(services).call("task/add", params) };
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
