import { errorText } from "../../../pages/tasks/task-feed.ts";
import { TasksPage } from "../../../pages/tasks/tasks-page.ts";
import type { SessionContext } from "../../context.ts";

/** Adds a task that the agent of this session works on, in a worktree of its own, and shows it. */
export function addTask(session: SessionContext, prompt: string): void {
  session.run(async () => {
    const { cwd = session.machine.cwd, model } = session.settings ?? {};
    const executors = model === undefined ? {} : { executors: [{ model }] };
    // Expected: a server without tasks, or one that refuses this one. What was typed is not lost.
    try {
      const { data } = await session.client.call("task/add", { tasks: [{ prompt, cwd, ...executors }] });
      session.openPage(new TasksPage(session, String(data[0]?.number ?? "")));
    } catch (thrown) {
      session.warn(errorText(thrown));
      if (session.composer.isEmpty) session.composer.setText(`/task ${prompt}`);
    }
  });
}
