import {
  asFlintError,
  FlintError,
  isId,
  type Result,
  type SandboxPolicy,
  type Thread,
  type Turn,
} from "@flint/protocol";
import type { DeskClient } from "../desk.ts";
import { lastToldUsage } from "../spent.ts";
import { commandsFor } from "./commands.ts";
import { answerOf } from "./core.ts";
import { instructionsOf } from "./instructions.ts";
import { mcpServersOf } from "./mcp-servers.ts";
import { sessionNotFound } from "./refusal.ts";
import type { AcpParams } from "./requests.ts";
import { AcpSession, type SessionOptions } from "./session.ts";
import type { SessionSettings } from "./session-settings.ts";
import type { SharedState } from "./shared-state.ts";

type Reply = (answer: unknown) => void;
type Load = AcpParams<"session/resume">;
type Place = Pick<
  AcpParams<"session/resume">,
  "cwd" | "additionalDirectories" | "mcpServers" | "systemPrompt" | "_meta"
>;

/** What the sessions of a client are made with. */
export interface SessionsOptions {
  readonly client: DeskClient;
  readonly shared: SharedState;
  readonly settings: SessionSettings;
  /** What kind of client it is, by the name it gave itself. */
  kind(): string;
  session(): SessionOptions;
}

const SESSIONS_OF_A_PAGE = 100;
const TURNS_OF_A_PAGE = 100;

/** The sessions that a client has open, and all that makes, finds and ends them. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #open = new Map<string, AcpSession>();
  /** The folders in which this client has begun a session. */
  readonly #begunIn = new Set<string>();
  readonly #closed = new Set<string>();
  /** What was open before a session that the client has no answer for yet. */
  readonly #replaced = new WeakMap<AcpSession, AcpSession>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** The session if it is open. */
  opened(sessionId: string): AcpSession | undefined {
    return this.#open.get(sessionId);
  }

  /** The session, opened now if need be: a client may go on with one that it never loaded, but not with one it closed. */
  async get(sessionId: string): Promise<AcpSession> {
    const known = this.#open.get(sessionId);
    if (known !== undefined) return known;
    if (this.#closed.has(sessionId)) throw sessionNotFound(sessionId);
    const session = await this.#attach(sessionId, {}, () => undefined);
    session.release();
    return session;
  }

  async begin(params: AcpParams<"session/new">, reply: Reply): Promise<void> {
    const { cwd } = params;
    const last = await this.#lastIn(cwd);
    this.#begunIn.add(cwd);
    // Expected: a session that another server has. The client wants one to work in, so it gets a new one.
    const problem =
      last === undefined ? undefined : await this.#goOn(last, params, reply).catch(asFlintError);
    if (last !== undefined && problem === undefined) return;
    const { client } = this.#options;
    let session: AcpSession | undefined;
    await client.call("thread/start", { cwd, ...broughtBy(params) }, ({ thread }) => {
      session = this.#add(thread.id);
    });
    if (session === undefined) return;
    const { id: sessionId } = session;
    await this.#finish(session, params, "made", (opened) => reply({ sessionId, ...opened }));
    if (problem !== undefined)
      session.say(`This is a new session, for the last one here cannot be taken up: ${problem.message}`);
  }

  /** The client works in this session: it is the one to go on with later, if that is wanted. */
  worksIn(session: AcpSession): void {
    const { shared, kind } = this.#options;
    const folder = session.folder ?? session.settings?.cwd;
    if (shared.autoResume && folder !== undefined) shared.lastSessions.note(kind(), folder, session.id);
  }

  async load(params: Load, reply: Reply): Promise<void> {
    const older = await this.#olderTurns(params.sessionId);
    const session = await this.#attach(params.sessionId, params, (opened, state) => {
      const { turns } = state;
      const ids = new Set(turns.map(({ id }) => id));
      opened.replay([...older.filter(({ id }) => !ids.has(id)), ...turns]);
      opened.stand(turns.some(({ status }) => status === "inProgress"));
      opened.used(lastToldUsage(state));
    });
    await this.#finish(session, params, "found", reply);
  }

  /** Without history unless the client wants it from the start, as it may in the second version. */
  async resume(params: AcpParams<"session/resume">, reply: Reply): Promise<void> {
    const { replayFrom } = params;
    if (replayFrom?.type === "start") return this.load(params, reply);
    if (replayFrom !== undefined && replayFrom !== null) {
      const message = `Nothing is replayed from ${JSON.stringify(replayFrom.type)}; from "start" everything is.`;
      throw new FlintError("invalidParams", message, { field: "replayFrom" });
    }
    const session = await this.#attach(params.sessionId, params, (opened, state) => {
      // What runs is news to the client, whatever it knows of the past.
      const running = state.turns.filter(({ status }) => status === "inProgress");
      opened.replay(running);
      opened.stand(running.length > 0);
      opened.used(lastToldUsage(state));
    });
    await this.#finish(session, params, "found", reply);
  }

  async fork(params: AcpParams<"session/fork">, reply: Reply): Promise<void> {
    const threadId = existing(params.sessionId);
    let forked = "";
    await this.#call("thread/fork", { threadId, cwd: params.cwd }, params.sessionId, ({ thread }) => {
      forked = thread.id;
    });
    const session = await this.#attach(forked, params, () => undefined);
    await this.#finish(session, params, "made", (opened) => reply({ sessionId: session.id, ...opened }));
  }

  async list({ cwd, cursor }: AcpParams<"session/list">, reply: Reply): Promise<void> {
    const wanted = { limit: SESSIONS_OF_A_PAGE, ...(cwd ? { cwd } : {}), ...(cursor ? { cursor } : {}) };
    const { data, nextCursor } = await answerOf(this.#options.client, "thread/list", wanted);
    reply({ sessions: data.map(infoOf), ...(nextCursor === undefined ? {} : { nextCursor }) });
  }

  async delete({ sessionId }: AcpParams<"session/delete">, reply: Reply): Promise<void> {
    const threadId = existing(sessionId);
    await this.#call("thread/delete", { threadId }, sessionId, () => reply({}));
    this.#open.get(sessionId)?.close();
    this.#open.delete(sessionId);
  }

  /** Work that nobody else follows stops with the session; otherwise it goes on. */
  async close({ sessionId }: AcpParams<"session/close">, reply: Reply): Promise<void> {
    const session = this.#open.get(sessionId);
    if (session === undefined) {
      await this.#call("thread/read", { threadId: existing(sessionId) }, sessionId, () => undefined);
    } else {
      const { client } = this.#options;
      if (client.alone(sessionId)) {
        await interrupt(client, sessionId);
        await session.rested();
      }
      await answerOf(client, "thread/unsubscribe", { threadId: sessionId });
      session.close();
      this.#open.delete(sessionId);
      this.#closed.add(sessionId);
    }
    reply({});
  }

  async status({ sessionId }: AcpParams<"session/status">, reply: Reply): Promise<void> {
    await this.#call("thread/read", { threadId: existing(sessionId) }, sessionId, ({ thread }) =>
      reply({ status: thread.status.type === "notLoaded" ? "saved" : "open" }),
    );
  }

  async entitle({ sessionId, title }: AcpParams<"session/set_title">, reply: Reply): Promise<void> {
    const params = { threadId: existing(sessionId), name: title };
    await this.#call("thread/name/set", params, sessionId, () => reply({ title }));
  }

  /** The client is gone. */
  closeAll(): void {
    for (const session of this.#open.values()) session.close();
    this.#open.clear();
  }

  #add(threadId: string): AcpSession {
    const before = this.#open.get(threadId);
    before?.asks.settleAll();
    this.#closed.delete(threadId);
    const session = new AcpSession(threadId, this.#options.session(), before);
    if (before !== undefined) this.#replaced.set(session, before);
    this.#open.set(threadId, session);
    return session;
  }

  /** Follows a thread. `first` is called before anything that happens from now on is told. */
  async #attach(
    sessionId: string,
    place: Pick<Place, "mcpServers">,
    first: (session: AcpSession, state: Result<"thread/attach">) => void,
  ): Promise<AcpSession> {
    let session: AcpSession | undefined;
    const params = { threadId: existing(sessionId), turns: TURNS_OF_A_PAGE, ...broughtBy(place) };
    await this.#call("thread/attach", params, sessionId, (state) => {
      session = this.#add(state.thread.id);
      session.settings = state.settings;
      session.title = state.thread.name ?? (state.thread.preview || undefined);
      session.isActive = state.turns.some(({ status }) => status === "inProgress");
      first(session, state);
    });
    if (session === undefined) throw sessionNotFound(sessionId);
    return session;
  }

  /** All turns but those that attaching tells anyway. */
  async #olderTurns(sessionId: string): Promise<readonly Turn[]> {
    const threadId = existing(sessionId);
    const pages: Turn[][] = [];
    let cursor: string | undefined;
    do {
      const wanted = { threadId, includeTurns: true, limit: TURNS_OF_A_PAGE };
      const params: typeof wanted & { cursor?: string } =
        cursor === undefined ? wanted : { ...wanted, cursor };
      cursor = undefined;
      await this.#call("thread/read", params, sessionId, ({ turns, nextCursor }) => {
        pages.unshift([...(turns ?? [])]);
        cursor = nextCursor;
      });
    } while (cursor !== undefined);
    return pages.flat();
  }

  /** Takes the client's place for a session and answers. If that fails, the client has what it had before. */
  async #finish(
    session: AcpSession,
    place: Place,
    origin: "made" | "found",
    reply: (opened: object) => void,
  ): Promise<void> {
    // Expected: folders that are not there, or that the core does not let an agent have.
    try {
      session.folder = place.cwd;
      await this.#place(session, place);
      await this.#answer(session, reply);
    } catch (error) {
      await this.#giveUp(session, origin);
      throw error;
    } finally {
      this.#replaced.delete(session);
    }
  }

  /** The session that was open before goes on; if none was, nothing is open, and a thread made for it is gone. */
  async #giveUp(session: AcpSession, origin: "made" | "found"): Promise<void> {
    const { id: threadId } = session;
    const now = this.#open.get(threadId);
    // Opened again in the meantime, the client is still to hear what happened until then; closed, it is not.
    if (now !== session) {
      if (now !== undefined) session.release();
      return;
    }
    const before = this.#replaced.get(session);
    if (before !== undefined) {
      this.#open.set(threadId, before);
      session.handOver(before);
      return;
    }
    this.#open.delete(threadId);
    session.close();
    const { client } = this.#options;
    const left = origin === "made" ? ("thread/delete" as const) : ("thread/unsubscribe" as const);
    // Expected: a thread that was deleted meanwhile. What the client is to hear is why its request failed.
    await answerOf(client, left, { threadId }).catch(() => undefined);
  }

  /** The folder, the further folders and the instructions that the client names now. */
  async #place(session: AcpSession, place: Place): Promise<void> {
    const { cwd, additionalDirectories } = place;
    const { client } = this.#options;
    const config = await answerOf(client, "config/read", { threadId: session.id });
    const roots = additionalDirectories ?? rootsOf(config.sandboxPolicy);
    const sandbox = withRoots(config.sandboxPolicy, additionalDirectories ?? undefined);
    const instructions = instructionsOf(place);
    const wanted = {
      ...(config.cwd === cwd ? {} : { cwd }),
      ...(sandbox === undefined ? {} : { sandbox }),
      ...(instructions === undefined ? {} : { developerInstructions: instructions }),
    };
    if (Object.keys(wanted).length > 0)
      await answerOf(client, "thread/settings/update", { threadId: session.id, ...wanted });
    session.roots = roots;
  }

  /** Answers with what can be chosen; from then on the client is told what happens, the commands first. */
  async #answer(session: AcpSession, reply: (opened: object) => void): Promise<void> {
    const { settings } = this.#options;
    const choices = await settings.read(session);
    const commands = commandsFor(choices.models);
    const { words } = this.#options.session();
    settings.told(session, choices);
    reply(words.opened(choices, commands));
    for (const update of words.commands(commands)) session.update(update);
    session.release();
  }

  /** The last session of this kind of client in a folder, if new ones go on with it and this is its first there. */
  async #lastIn(cwd: string): Promise<Thread | undefined> {
    const { client, shared, kind } = this.#options;
    if (!shared.autoResume || this.#begunIn.has(cwd)) return undefined;
    const threadId = shared.lastSessions.find(kind(), cwd);
    if (threadId === undefined || !isId(threadId)) return undefined;
    // Expected: a thread that was deleted.
    const found = await answerOf(client, "thread/read", { threadId }).catch(() => undefined);
    return found?.thread.archived === false ? found.thread : undefined;
  }

  /** The history comes after the answer, for only then the client knows of which session it is. */
  async #goOn(thread: Thread, params: Place, reply: Reply): Promise<void> {
    const older = await this.#olderTurns(thread.id);
    let turns: readonly Turn[] = [];
    let used: ReturnType<typeof lastToldUsage>;
    const session = await this.#attach(thread.id, params, (_opened, state) => {
      used = lastToldUsage(state);
      const ids = new Set(state.turns.map(({ id }) => id));
      turns = [...older.filter(({ id }) => !ids.has(id)), ...state.turns];
    });
    await this.#finish(session, params, "found", (opened) => {
      reply({ sessionId: session.id, ...opened });
      session.replay(turns);
      session.used(used);
    });
  }

  /** Calls the core about a session; one that is not there is named in the words of this door. */
  async #call<
    Name extends "thread/attach" | "thread/read" | "thread/fork" | "thread/delete" | "thread/name/set",
  >(
    method: Name,
    params: Parameters<typeof answerOf<Name>>[2],
    sessionId: string,
    respond: (result: Result<Name>) => void,
  ): Promise<void> {
    await this.#options.client.call(method, params, respond).catch((error: unknown) => {
      throw asFlintError(error).kind === "threadNotFound" ? sessionNotFound(sessionId) : error;
    });
  }
}

/** Ids of threads look like ids of threads; anything else is no session, and never a path. */
function existing(sessionId: string): string {
  if (isId(sessionId)) return sessionId;
  throw sessionNotFound(sessionId);
}

/** Stops what runs in a thread, if anything does. */
export async function interrupt(client: DeskClient, threadId: string): Promise<void> {
  await answerOf(client, "turn/interrupt", { threadId }).catch((error: unknown) => {
    const known = asFlintError(error);
    if (!(known instanceof FlintError) || known.kind !== "notRunning") throw error;
  });
}

function broughtBy({ mcpServers }: Pick<Place, "mcpServers">) {
  const servers = mcpServersOf(mcpServers);
  return servers === undefined ? {} : { mcpServers: servers };
}

function infoOf({ id, cwd, name, preview, updatedAt }: Thread): object {
  const title = name ?? preview;
  const named = title === "" ? {} : { title: title.slice(0, 200) };
  return { sessionId: id, cwd, ...named, updatedAt: new Date(updatedAt * 1000).toISOString() };
}

function rootsOf(policy: SandboxPolicy): readonly string[] {
  return policy.type === "workspaceWrite" ? (policy.writableRoots ?? []) : [];
}

/** A policy that lets nothing be written is not widened by further folders: they can be read anyway. */
function withRoots(policy: SandboxPolicy, wanted: readonly string[] | undefined): SandboxPolicy | undefined {
  if (wanted === undefined || policy.type !== "workspaceWrite") return undefined;
  const roots = [...new Set([...(policy.writableRoots ?? []), ...wanted])];
  if (roots.length === (policy.writableRoots ?? []).length) return undefined;
  return { ...policy, writableRoots: roots };
}
