import { isId } from "@flint/protocol";
import type { CoreCalls } from "../../shared/core-calls.ts";
import type { FrontendServices, InitializedClient } from "../client-state.ts";
import type { AcpSession } from "./session.ts";

/** Decides which session the first new one of a client in a folder continues, if auto-resume is on. */
export class AutoResume {
  readonly #core: CoreCalls;
  readonly #shared: FrontendServices;
  readonly #self: () => InitializedClient;
  /** The folders in which this client has requested a new session. */
  readonly #usedFolders = new Set<string>();

  constructor(core: CoreCalls, shared: FrontendServices, self: () => InitializedClient) {
    this.#core = core;
    this.#shared = shared;
    this.#self = self;
  }

  /** The session to continue instead of a new one. Called for every new session; only the first in a folder continues. */
  async sessionFor(folder: string): Promise<string | undefined> {
    const isFirst = !this.#usedFolders.has(folder);
    this.#usedFolders.add(folder);
    if (!this.#shared.autoResume || !isFirst) return undefined;
    const threadId = this.#shared.lastSessions.find(this.#self().name, folder);
    if (threadId === undefined || !isId(threadId)) return undefined;
    // Expected: a thread that was deleted.
    const found = await this.#core.call("thread/read", { threadId }).catch(() => undefined);
    return found?.thread.archived === false ? threadId : undefined;
  }

  /** Records that the client uses a session, so that it is the one to continue. */
  recordUse(session: AcpSession): void {
    const folder = session.requestedCwd ?? session.settings?.cwd;
    if (this.#shared.autoResume && folder !== undefined)
      this.#shared.lastSessions.note(this.#self().name, folder, session.id);
  }
}
