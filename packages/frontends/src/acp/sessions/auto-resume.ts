import { isId } from "@flint/protocol";
import type { Client } from "../../shared/frontend.ts";
import { answerOf } from "../core.ts";
import type { SharedState } from "../shared-state.ts";
import type { AcpSession } from "./session.ts";

/** Which session the first new one of a client in a folder goes on with, if that is wanted. */
export class AutoResume {
  readonly #client: Client;
  readonly #shared: SharedState;
  readonly #kind: () => string;
  /** The folders in which this client has begun a session. */
  readonly #begunIn = new Set<string>();

  /** `kind` tells what kind of client it is, by the name it gave itself. */
  constructor(client: Client, shared: SharedState, kind: () => string) {
    this.#client = client;
    this.#shared = shared;
    this.#kind = kind;
  }

  /** The client begins a session in a folder: the last thread of its kind there, once, if new ones go on with it. */
  async begin(folder: string): Promise<string | undefined> {
    const isFirst = !this.#begunIn.has(folder);
    this.#begunIn.add(folder);
    if (!this.#shared.autoResume || !isFirst) return undefined;
    const threadId = this.#shared.lastSessions.find(this.#kind(), folder);
    if (threadId === undefined || !isId(threadId)) return undefined;
    // Expected: a thread that was deleted.
    const found = await answerOf(this.#client, "thread/read", { threadId }).catch(() => undefined);
    return found?.thread.archived === false ? threadId : undefined;
  }

  /** The client works in this session: it is the one to go on with later. */
  worksIn(session: AcpSession): void {
    const folder = session.folder ?? session.settings?.cwd;
    if (this.#shared.autoResume && folder !== undefined)
      this.#shared.lastSessions.note(this.#kind(), folder, session.id);
  }
}
