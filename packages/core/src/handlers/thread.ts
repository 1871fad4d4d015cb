import { emptyThread, type EventBody, type Thread, type ThreadSettings, type ThreadState } from "@flint/protocol";
import type { LiveThread } from "../live-thread.ts";
import type { Services } from "../services.ts";
import type { FreeHandlers, ThreadHandlers } from "./handler.ts";

/** What a new thread is beside its settings. */
interface NewThread {
  readonly settings: ThreadSettings;
  readonly ephemeral: boolean;
  readonly name?: string | undefined;
  readonly forkedFromId?: string;
  readonly preview?: string;
}

/** Creates a thread and stores its first event. */
export async function createThread(services: Services, wanted: NewThread): Promise<LiveThread> {
  const { settings, ephemeral } = wanted;
  const now = Math.floor(services.options.clock.now() / 1000);
  const described = (id: string): Thread => ({
    id,
    preview: wanted.preview ?? "",
    modelProvider: services.catalogue.driverOf(settings.model).id,
    model: settings.model,
    cwd: settings.cwd,
    createdAt: now,
    updatedAt: now,
    archived: false,
    ephemeral,
    status: { type: "idle" },
    ...(wanted.name === undefined ? {} : { name: wanted.name }),
    ...(wanted.forkedFromId === undefined ? {} : { forkedFromId: wanted.forkedFromId }),
  });
  const thread = await services.registry.create((id) => emptyThread(id), ephemeral);
  await thread.log.commit([{ type: "thread/started", data: { thread: described(thread.id), settings } }]);
  return thread;
}

/** The event that tells a client about the thread it now follows. */
export function startedEvent({ thread, settings }: ThreadState): EventBody {
  return { type: "thread/started", data: { thread, settings } };
}

/** Creating, naming, archiving and deleting threads. */
export const threadHandlers: Pick<
  FreeHandlers & ThreadHandlers,
  | "thread/start"
  | "thread/unsubscribe"
  | "thread/archive"
  | "thread/unarchive"
  | "thread/delete"
  | "thread/name/set"
> = {
  async "thread/start"(params, { services, client }) {
    const settings = await services.withOverrides(await services.defaultSettings(), params);
    const { ephemeral = false, name } = params;
    const thread = await createThread(services, { settings, ephemeral, name });
    const state = thread.log.state;
    return {
      result: { thread: state.thread, modelProvider: state.thread.modelProvider },
      after: () => client.follow(thread, { afterSeq: state.seq, first: [startedEvent(state)] }, services.options.clock.now()),
    };
  },

  async "thread/unsubscribe"({ threadId }, { client }) {
    return { result: {}, after: () => client.unfollow(threadId) };
  },

  async "thread/archive"({ threadId }, { thread }) {
    thread.refuseIfActive();
    const archived = thread.log.state.thread.archived;
    return { result: {}, events: archived ? [] : [{ type: "thread/archived", data: { threadId } }] };
  },

  async "thread/unarchive"({ threadId }, { thread }) {
    const { thread: described } = thread.log.state;
    const events: EventBody[] = described.archived ? [{ type: "thread/unarchived", data: { threadId } }] : [];
    return { result: { thread: { ...described, archived: false } }, events };
  },

  async "thread/delete"({ threadId }, { thread, services }) {
    thread.refuseIfActive();
    const store = services.registry.storeOf(threadId);
    thread.log.announce({ type: "thread/deleted", data: { threadId } });
    // The log is closed inside its own queue slot, so nothing can be written to it afterwards.
    await services.registry.unload(threadId);
    await store.remove(threadId);
    return { result: {} };
  },

  async "thread/name/set"({ threadId, name }) {
    return { result: {}, events: [{ type: "thread/name/updated", data: { threadId, name } }] };
  },
};

