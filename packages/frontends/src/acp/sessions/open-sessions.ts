import { asFlintError, FlintError, type Result } from "@flint/protocol";
import type { Client } from "../../shared/frontend.ts";
import { lastUsageOf } from "../../shared/last-usage.ts";
import { answerOf } from "../core.ts";
import { sessionNotFound } from "../errors.ts";
import { commandsFor } from "../prompt/commands.ts";
import type { AcpParams } from "../requests.ts";
import type { SharedState } from "../shared-state.ts";
import { AutoResume } from "./auto-resume.ts";
import { AcpSession, type SessionOptions } from "./session.ts";
import {
  callAbout,
  interrupt,
  storedTurns,
  TURNS_OF_A_PAGE,
  threadOf,
  wholeHistory,
} from "./session-calls.ts";
import { broughtBy, type SessionPlace, takePlace } from "./session-setup.ts";
import type { SessionSettings } from "./settings.ts";

type Reply = (answer: unknown) => void;
type Attached = Result<"thread/attach">;

/** What the sessions of a client are made with. */
export interface SessionsOptions {
  readonly client: Client;
  readonly shared: SharedState;
  readonly settings: SessionSettings;
  /** What kind of client it is, by the name it gave itself. */
  kind(): string;
  session(): SessionOptions;
}

/** The sessions that a client has open: how each comes to be so, and stops being so. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #open = new Map<string, AcpSession>();
  readonly #autoResume: AutoResume;
  readonly #closed = new Set<string>();
  /** What was open before a session that the client has no answer for yet. */
  readonly #replaced = new WeakMap<AcpSession, AcpSession>();

  constructor(options: SessionsOptions) {
    this.#options = options;
    const { client, shared, kind } = options;
    this.#autoResume = new AutoResume(client, shared, kind);
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

  /** A new session, or the last one of its kind in the folder, if the first new one is to go on with that. */
  async begin(params: AcpParams<"session/new">, reply: Reply): Promise<void> {
    const last = await this.#autoResume.begin(params.cwd);
    if (last === undefined) {
      await this.#beginNew(params, reply);
      return;
    }
    // Expected: a session that another server has. The client wants one to work in, so it gets a new one.
    try {
      await this.#goOn(last, params, reply);
    } catch (error) {
      const { message } = asFlintError(error);
      const session = await this.#beginNew(params, reply);
      session?.say(`This is a new session, for the last one here cannot be taken up: ${message}`);
    }
  }

  /** The client works in this session: it is the one to go on with later, if that is wanted. */
  worksIn(session: AcpSession): void {
    this.#autoResume.worksIn(session);
  }

  /** With all that was said in it before. */
  async load(params: AcpParams<"session/load" | "session/resume">, reply: Reply): Promise<void> {
    const stored = await storedTurns(this.#options.client, threadOf(params.sessionId));
    const session = await this.#attach(params.sessionId, params, (opened, state) => {
      const { turns } = state;
      opened.replay(wholeHistory(stored, turns));
      opened.stand(turns.some(({ status }) => status === "inProgress"));
      opened.used(lastUsageOf(state));
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
      opened.used(lastUsageOf(state));
    });
    await this.#finish(session, params, "found", reply);
  }

  async fork(params: AcpParams<"session/fork">, reply: Reply): Promise<void> {
    const wanted = { threadId: threadOf(params.sessionId), cwd: params.cwd };
    let forked = "";
    await callAbout(this.#options.client, "thread/fork", wanted, ({ thread }) => {
      forked = thread.id;
    });
    const session = await this.#attach(forked, params, () => undefined);
    await this.#finish(session, params, "made", (opened) => reply({ sessionId: session.id, ...opened }));
  }

  async delete({ sessionId }: AcpParams<"session/delete">, reply: Reply): Promise<void> {
    const threadId = threadOf(sessionId);
    await callAbout(this.#options.client, "thread/delete", { threadId }, () => reply({}));
    this.#open.get(sessionId)?.close();
    this.#open.delete(sessionId);
  }

  /** Work that nobody else follows stops with the session; otherwise it goes on. */
  async close({ sessionId }: AcpParams<"session/close">, reply: Reply): Promise<void> {
    const { client } = this.#options;
    const session = this.#open.get(sessionId);
    if (session === undefined) {
      await callAbout(client, "thread/read", { threadId: threadOf(sessionId) }, () => undefined);
    } else {
      if (client.isOnlySubscriber(sessionId)) {
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
    place: Pick<SessionPlace, "mcpServers">,
    first: (session: AcpSession, state: Attached) => void,
  ): Promise<AcpSession> {
    let session: AcpSession | undefined;
    const params = { threadId: threadOf(sessionId), turns: TURNS_OF_A_PAGE, ...broughtBy(place) };
    await callAbout(this.#options.client, "thread/attach", params, (state) => {
      session = this.#add(state.thread.id);
      session.settings = state.settings;
      session.title = state.thread.name ?? (state.thread.preview || undefined);
      session.isActive = state.turns.some(({ status }) => status === "inProgress");
      first(session, state);
    });
    if (session === undefined) throw sessionNotFound(sessionId);
    return session;
  }

  /** Takes the client's place for a session and answers. If that fails, the client has what it had before. */
  async #finish(
    session: AcpSession,
    place: SessionPlace,
    origin: "made" | "found",
    reply: (opened: object) => void,
  ): Promise<void> {
    // Expected: folders that are not there, or that the core does not let an agent have.
    try {
      session.folder = place.cwd;
      await takePlace(this.#options.client, session, place);
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

  /** Answers with what can be chosen; from then on the client is told what happens, the commands first. */
  async #answer(session: AcpSession, reply: (opened: object) => void): Promise<void> {
    const { settings } = this.#options;
    const config = await settings.read(session);
    const commands = commandsFor(config.models);
    const { version } = this.#options.session();
    settings.recordSent(session, config);
    reply(version.sessionResponse(config, commands));
    for (const update of version.commandUpdates(commands)) session.update(update);
    session.release();
  }

  async #beginNew(params: AcpParams<"session/new">, reply: Reply): Promise<AcpSession | undefined> {
    let session: AcpSession | undefined;
    const wanted = { cwd: params.cwd, ...broughtBy(params) };
    await this.#options.client.core.call("thread/start", wanted, ({ thread }) => {
      session = this.#add(thread.id);
    });
    if (session === undefined) return undefined;
    const { id: sessionId } = session;
    await this.#finish(session, params, "made", (opened) => reply({ sessionId, ...opened }));
    return session;
  }

  /** The history comes after the answer, for only then the client knows of which session it is. */
  async #goOn(threadId: string, place: SessionPlace, reply: Reply): Promise<void> {
    const stored = await storedTurns(this.#options.client, threadId);
    let state: Attached | undefined;
    const session = await this.#attach(threadId, place, (_opened, attached) => {
      state = attached;
    });
    await this.#finish(session, place, "found", (opened) => {
      reply({ sessionId: session.id, ...opened });
      session.replay(wholeHistory(stored, state?.turns ?? []));
      if (state !== undefined) session.used(lastUsageOf(state));
    });
  }
}
