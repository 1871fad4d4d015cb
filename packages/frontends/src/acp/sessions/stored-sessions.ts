import type { Thread } from "@flint/protocol";
import type { Client } from "../../shared/frontend.ts";
import { answerOf } from "../core.ts";
import type { AcpParams } from "../requests.ts";
import { callAbout, threadOf } from "./session-calls.ts";

type Reply = (answer: unknown) => void;

const SESSIONS_OF_A_PAGE = 100;
const LONGEST_TITLE = 200;

/** What a client may ask and say about a session without opening it. */
export class StoredSessions {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  async list({ cwd, cursor }: AcpParams<"session/list">, reply: Reply): Promise<void> {
    const wanted = { limit: SESSIONS_OF_A_PAGE, ...(cwd ? { cwd } : {}), ...(cursor ? { cursor } : {}) };
    const { data, nextCursor } = await answerOf(this.#client, "thread/list", wanted);
    reply({ sessions: data.map(infoOf), ...(nextCursor === undefined ? {} : { nextCursor }) });
  }

  async status({ sessionId }: AcpParams<"session/status">, reply: Reply): Promise<void> {
    await callAbout(this.#client, "thread/read", { threadId: threadOf(sessionId) }, ({ thread }) =>
      reply({ status: thread.status.type === "notLoaded" ? "saved" : "open" }),
    );
  }

  async entitle({ sessionId, title }: AcpParams<"session/set_title">, reply: Reply): Promise<void> {
    const params = { threadId: threadOf(sessionId), name: title };
    await callAbout(this.#client, "thread/name/set", params, () => reply({ title }));
  }
}

function infoOf({ id, cwd, name, preview, updatedAt }: Thread): object {
  const title = name ?? preview;
  const named = title === "" ? {} : { title: title.slice(0, LONGEST_TITLE) };
  return { sessionId: id, cwd, ...named, updatedAt: new Date(updatedAt * 1000).toISOString() };
}
