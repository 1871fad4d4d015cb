import {
  agentOfModel,
  type EventBody,
  emptyThread,
  FlintError,
  type Params,
  type Thread,
  type ThreadSettings,
  type ThreadState,
} from "@flint/protocol";
import type { Services } from "../services.ts";
import { withClientName } from "../thread/announcements.ts";
import type { LiveThread } from "../thread/live-thread.ts";
import { digestOf } from "../thread/started-threads.ts";
import { settingsEvents } from "../turn/decisions.ts";
import type { GlobalHandlers, ThreadHandlers } from "./handler.ts";

/** The description of a new thread. */
interface NewThread {
  readonly settings: ThreadSettings;
  readonly ephemeral: boolean;
  readonly name?: string | undefined;
  readonly forkedFromId?: string;
  readonly preview?: string;
  readonly startedAs?: Thread["startedAs"];
}

/** Creates a thread, stores its first event, and lets `fill` add more. If any of that fails, nothing is left. */
export async function createThread<Filled>(
  services: Services,
  description: NewThread,
  fill: (thread: LiveThread) => Promise<Filled>,
): Promise<{ readonly thread: LiveThread; readonly filled: Filled }> {
  const { registry } = services;
  const thread = await registry.create(description.ephemeral, (id) => emptyThread(id));
  try {
    const data = { thread: describe(services, thread.id, description), settings: description.settings };
    await thread.log.commit([{ type: "thread/started", data }]);
    return { thread, filled: await fill(thread) };
  } catch (error) {
    // An incomplete thread is useless. If it cannot be removed either, the first error is still the one to report.
    await registry.remove(thread.id, false).catch(() => undefined);
    throw error;
  }
}

function describe({ options }: Services, id: string, description: NewThread): Thread {
  const { settings, ephemeral, name, forkedFromId, startedAs, preview = "" } = description;
  const now = Math.floor(options.clock.now() / 1000);
  return {
    id,
    preview,
    modelProvider: settings.modelProvider ?? agentOfModel(settings.model),
    model: settings.model,
    cwd: settings.cwd,
    createdAt: now,
    updatedAt: now,
    archived: false,
    ephemeral,
    status: { type: "idle" },
    ...(name === undefined ? {} : { name }),
    ...(forkedFromId === undefined ? {} : { forkedFromId }),
    ...(startedAs === undefined ? {} : { startedAs }),
  };
}

/** The event that describes a thread to a new subscriber. */
export function startedEvent({ thread, settings }: ThreadState): EventBody {
  return { type: "thread/started", data: { thread, settings } };
}

/** Announces a new thread to clients that list threads; its creator is subscribed by now and gets it anyway. */
export function announceNewThread({ announcements, options }: Services, state: ThreadState): void {
  announcements.publish({ ...startedEvent(state), at: options.clock.now() });
}

/** A notice about the workspace, for the client that starts a thread in it. */
function workspaceNotice(threadId: string, message: string): EventBody {
  return { type: "warning", data: { threadId, message, reason: "workspace" } };
}

/** Starts a thread with the settings of a request. */
async function startThread(params: Params<"thread/start">, services: Services, cwd: string | undefined) {
  const { settings, notices } = await services.settings.forNewThread({ ...params, cwd: params.cwd ?? cwd });
  const { ephemeral = false, name } = params;
  const description = { settings, ephemeral, name, startedAs: await startedAs(services, params) };
  const { thread } = await createThread(services, description, async () => undefined);
  await services.setClientMcpServers(thread, params.mcpServers);
  await services.setClientTools(thread, params.tools);
  return { thread, notices };
}

/** Returns the identity of a repeatable request, as the log has it; undefined without a `clientId`. */
async function startedAs(
  { redactor }: Services,
  params: Params<"thread/start">,
): Promise<Thread["startedAs"]> {
  const { clientId } = params;
  if (clientId === undefined) return undefined;
  return { clientId: redactor.value(clientId), digest: await digestOf(params) };
}

/** The stored thread that was started with a `clientId`. */
async function storedStart({ options }: Services, clientId: string): Promise<Thread | undefined> {
  const order = { sortKey: "createdAt", sortDirection: "desc" } as const;
  const all = { ...order, clientId, limit: 1, cursor: undefined, searchTerm: undefined, cwd: undefined };
  const open = await options.store.list({ ...all, archived: false });
  return open.data[0] ?? (await options.store.list({ ...all, archived: true })).data[0];
}

/** The thread of a request with a `clientId`: that of an earlier one, unless it was deleted since. */
async function repeatedStart(
  services: Services,
  key: NonNullable<Thread["startedAs"]>,
  start: () => Promise<LiveThread>,
): Promise<{ readonly thread: LiveThread; readonly isNew: boolean }> {
  const { startedThreads, registry } = services;
  const id = async () => (await start()).id;
  const find = () => storedStart(services, key.clientId);
  const { threadId, isNew } = await startedThreads.once(key, find, id);
  try {
    return { thread: (await registry.load(threadId)).thread, isNew };
  } catch (thrown) {
    if (!(thrown instanceof FlintError) || thrown.kind !== "threadNotFound") throw thrown;
    startedThreads.forget(key.clientId);
    const again = await startedThreads.once(key, find, id);
    return { thread: (await registry.load(again.threadId)).thread, isNew: again.isNew };
  }
}

/** Creating, naming, archiving and deleting threads. */
export const threadHandlers: Pick<
  GlobalHandlers & ThreadHandlers,
  | "thread/start"
  | "thread/unsubscribe"
  | "thread/loaded/list"
  | "thread/settings/update"
  | "thread/archive"
  | "thread/unarchive"
  | "thread/delete"
  | "thread/name/set"
> = {
  async "thread/start"(params, { services, client }) {
    const key = await startedAs(services, params);
    let notices: readonly string[] = [];
    const start = async () => {
      const started = await startThread(params, services, client.cwd);
      notices = started.notices;
      return started.thread;
    };
    const known = key === undefined ? undefined : await repeatedStart(services, key, start);
    const { thread, isNew } = known ?? { thread: await start(), isNew: true };
    const { state } = thread.log;
    // Sent from memory, because a client that continues at once must not get its next response before this event.
    const first = [
      { ...startedEvent(state), seq: state.seq },
      ...services.takeNotice(thread.id),
      ...notices.map((notice) => workspaceNotice(thread.id, notice)),
    ];
    return {
      result: { thread: state.thread, modelProvider: state.thread.modelProvider },
      after: () => {
        client.subscribe(thread, { afterSeq: state.seq, first }, services.options.clock.now());
        if (isNew) announceNewThread(services, state);
      },
    };
  },

  async "thread/unsubscribe"({ threadId }, { client }) {
    return { result: {}, after: () => client.unsubscribe(threadId) };
  },

  async "thread/loaded/list"(_params, { services }) {
    return { result: { data: [...services.registry.loadedIds()] } };
  },

  async "thread/settings/update"(params, { thread, services }) {
    const { state } = thread.log;
    const settings = await services.settings.override(state.settings, params);
    return { result: { settings }, events: settingsEvents(state, settings) };
  },

  async "thread/archive"({ threadId, interrupt }, { thread }) {
    if (interrupt === true) await thread.turns.stop();
    thread.turns.rejectIfActive();
    const archived = thread.log.state.thread.archived;
    return { result: {}, events: archived ? [] : [{ type: "thread/archived", data: { threadId } }] };
  },

  async "thread/unarchive"({ threadId }, { thread }) {
    const { thread: described } = thread.log.state;
    const events: EventBody[] = described.archived ? [{ type: "thread/unarchived", data: { threadId } }] : [];
    return { result: { thread: { ...described, archived: false } }, events };
  },

  async "thread/delete"({ threadId, interrupt }, { thread, services, client }) {
    if (interrupt === true) await thread.turns.stop();
    thread.turns.rejectIfActive();
    const sendFinal = (type: "thread/deleted" | "thread/closed") =>
      thread.log.sendFinal(withClientName({ type, data: { threadId } }, client.name));
    // Calls that wait in the queue behind this find the thread closed, load it again, and get `threadNotFound`.
    await services.registry.remove(threadId, true).catch((error: unknown) => {
      sendFinal("thread/closed");
      throw error;
    });
    return { result: {}, after: () => sendFinal("thread/deleted") };
  },

  async "thread/name/set"({ threadId, name }) {
    return { result: {}, events: [{ type: "thread/name/updated", data: { threadId, name } }] };
  },
};

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
