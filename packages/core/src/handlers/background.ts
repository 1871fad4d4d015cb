import type { Services } from "../services.ts";
import type { LiveThread } from "../thread/live-thread.ts";
import type { GlobalHandlers } from "./handler.ts";

/** The commands that agents left running. Not in the queue of the thread, so that they can be stopped at any time. */
export const backgroundHandlers: Pick<
  GlobalHandlers,
  "thread/backgroundCommands/list" | "thread/backgroundCommands/stop"
> = {
  async "thread/backgroundCommands/list"({ threadId }, { services }) {
    const thread = await loadedThread(services, threadId);
    return { result: { data: [...((await thread?.backgroundCommands()) ?? [])] } };
  },

  async "thread/backgroundCommands/stop"({ threadId, processId }, { services }) {
    const thread = await loadedThread(services, threadId);
    if (thread === undefined) return { result: { stopped: [] } };
    const running = (await thread.backgroundCommands()).map((command) => command.processId);
    const chosen = running.filter((id) => processId === undefined || id === processId);
    const isStopped = await Promise.all(chosen.map((id) => thread.stopBackgroundCommand(id)));
    return { result: { stopped: chosen.filter((_, index) => isStopped[index]) } };
  },
};

/** The thread if it is loaded: nothing runs in one that is not. Throws if there is no such thread. */
async function loadedThread({ registry }: Services, threadId: string): Promise<LiveThread | undefined> {
  const thread = registry.loaded(threadId);
  if (thread === undefined) await registry.storeOf(threadId).peek(threadId);
  return thread;
}
