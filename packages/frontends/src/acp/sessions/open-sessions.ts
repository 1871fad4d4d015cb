import { asFlintError, FlintError, type Result } from "@flint/protocol";
import type { ClientAsks } from "../../shared/client-asks.ts";
import { lastUsageOf } from "../../shared/core-calls.ts";
import type { Client, RequestContext } from "../../shared/frontend.ts";
import type { FrontendServices, InitializedClient } from "../client-state.ts";
import { commandsFor } from "../prompt/commands.ts";
import type { AcpParams } from "../requests.ts";
import { sessionNotFound } from "../vocabulary.ts";
import { AutoResume } from "./auto-resume.ts";
import { AcpSession } from "./session.ts";
import { applySetup, mcpServersOf, type SessionSetup } from "./session-setup.ts";
import type { SessionSettings } from "./settings.ts";
import {
  callForSession,
  mergedHistory,
  storedTurns,
  TURNS_PER_PAGE,
  threadIdFor,
} from "./stored-sessions.ts";

type Attached = Result<"thread/attach">;

/** Dependencies of the sessions of a client. */
export interface OpenSessionsOptions {
  readonly client: Client;
  readonly asks: ClientAsks;
  readonly shared: FrontendServices;
  readonly settings: SessionSettings;
  self(): InitializedClient;
}

/** The sessions that one client has open: opens and closes them. */
export class OpenSessions {
  readonly #options: OpenSessionsOptions;
  readonly #open = new Map<string, AcpSession>();
  readonly #autoResume: AutoResume;
  readonly #closed = new Set<string>();
  /** The session that was open before, while the client has no response for the one that replaces it. */
  readonly #replaced = new WeakMap<AcpSession, AcpSession>();

  constructor(options: OpenSessionsOptions) {
    this.#options = options;
    const { client, shared, self } = options;
    this.#autoResume = new AutoResume(client.core, shared, self);
  }

  /** The session, if it is open. */
  find(sessionId: string): AcpSession | undefined {
    return this.#open.get(sessionId);
  }

  /** The session, opened if necessary: a client may use one that it never loaded, but not one that it closed. */
  async get(sessionId: string): Promise<AcpSession> {
    const open = this.#open.get(sessionId);
    if (open !== undefined) return open;
    if (this.#closed.has(sessionId)) throw sessionNotFound(sessionId);
    const session = await this.#attach(sessionId, {}, () => undefined);
    session.release();
    return session;
  }

  /** Records that the client uses a session, so that it is the one to continue with auto-resume. */
  recordUse(session: AcpSession): void {
    this.#autoResume.recordUse(session);
  }

  /** Handles `session/new`: creates a session, or continues the last one in the folder with auto-resume. */
  async create(params: AcpParams<"session/new">, context: RequestContext): Promise<void> {
    const last = await this.#autoResume.sessionFor(params.cwd);
    if (last === undefined) {
      await this.#createNew(params, context);
      return;
    }
    // Expected: a session that another server has open. The client then gets a new one to work in.
    try {
      await this.#continue(last, params, context);
    } catch (error) {
      const { message } = asFlintError(error);
      const session = await this.#createNew(params, context);
      session?.sendMessage(`This is a new session, because the last one cannot be resumed: ${message}`);
    }
  }

  /** Handles `session/load`: opens a session and sends its history before the response. */
  async load(
    params: AcpParams<"session/load" | "session/resume">,
    { core, reply }: RequestContext,
  ): Promise<void> {
    const stored = await storedTurns(core, threadIdFor(params.sessionId));
    const session = await this.#attach(params.sessionId, params, (opened, state) => {
      const { turns } = state;
      opened.sendHistory(mergedHistory(stored, turns));
      opened.sendState(turns.some(({ status }) => status === "inProgress"));
      opened.sendUsage(lastUsageOf(state));
    });
    await this.#finish(session, params, "existing", reply);
  }

  /** Handles `session/resume`: opens a session without its history, unless a version 2 client asks for it. */
  async resume(params: AcpParams<"session/resume">, context: RequestContext): Promise<void> {
    const { replayFrom } = params;
    if (replayFrom?.type === "start") return this.load(params, context);
    if (replayFrom !== undefined && replayFrom !== null) {
      const message = `Cannot replay from ${JSON.stringify(replayFrom.type)}. Use "start".`;
      throw new FlintError("invalidParams", message, { field: "replayFrom" });
    }
    const session = await this.#attach(params.sessionId, params, (opened, state) => {
      // The client cannot have the running turn from before.
      const running = state.turns.filter(({ status }) => status === "inProgress");
      opened.sendHistory(running);
      opened.sendState(running.length > 0);
      opened.sendUsage(lastUsageOf(state));
    });
    await this.#finish(session, params, "existing", context.reply);
  }

  /** Handles `session/fork`. */
  async fork(params: AcpParams<"session/fork">, { core, reply }: RequestContext): Promise<void> {
    const source = { threadId: threadIdFor(params.sessionId), cwd: params.cwd };
    let forkId = "";
    await callForSession(core, "thread/fork", source, ({ thread }) => {
      forkId = thread.id;
    });
    const session = await this.#attach(forkId, params, () => undefined);
    await this.#finish(session, params, "new", (opened) => reply({ sessionId: session.id, ...opened }));
  }

  /** Handles `session/delete`. */
  async delete({ sessionId }: AcpParams<"session/delete">, { core, reply }: RequestContext): Promise<void> {
    const threadId = threadIdFor(sessionId);
    await callForSession(core, "thread/delete", { threadId }, () => reply({}));
    this.#open.get(sessionId)?.close();
    this.#open.delete(sessionId);
  }

  /** Handles `session/close`: a running turn stops unless another client is subscribed to the session. */
  async close({ sessionId }: AcpParams<"session/close">, { core, reply }: RequestContext): Promise<void> {
    const session = this.#open.get(sessionId);
    if (session === undefined) {
      await callForSession(core, "thread/read", { threadId: threadIdFor(sessionId) }, () => undefined);
    } else {
      if (this.#options.client.isOnlySubscriber(sessionId)) {
        await session.interrupt();
        await session.idle();
      }
      await core.call("thread/unsubscribe", { threadId: sessionId });
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
    const { client, asks, shared, settings, self } = this.#options;
    const before = this.#open.get(threadId);
    before?.asks.withdraw();
    this.#closed.delete(threadId);
    const options = {
      ...{ client, asks, self: self(), shared },
      onConfigChange: (changed: AcpSession) => void settings.refresh(changed),
      onCommandsChange: (changed: AcpSession) => void this.#sendCommands(changed),
    };
    const session = new AcpSession(threadId, options, before);
    if (before !== undefined) this.#replaced.set(session, before);
    this.#open.set(threadId, session);
    return session;
  }

  /** Subscribes to a thread. `onAttached` is called before any further event of the thread. */
  async #attach(
    sessionId: string,
    setup: Pick<SessionSetup, "mcpServers">,
    onAttached: (session: AcpSession, state: Attached) => void,
  ): Promise<AcpSession> {
    let session: AcpSession | undefined;
    const params = { threadId: threadIdFor(sessionId), turns: TURNS_PER_PAGE, ...mcpServersOf(setup) };
    await callForSession(this.#options.client.core, "thread/attach", params, (state) => {
      session = this.#add(state.thread.id);
      session.settings = state.settings;
      session.reportedCommands = state.agentCommands;
      session.title = state.thread.name ?? (state.thread.preview || undefined);
      session.isActive = state.turns.some(({ status }) => status === "inProgress");
      onAttached(session, state);
    });
    if (session === undefined) throw sessionNotFound(sessionId);
    return session;
  }

  /** Applies the client's setup and replies. If that fails, everything is as before the request. */
  async #finish(
    session: AcpSession,
    setup: SessionSetup,
    origin: "new" | "existing",
    reply: (response: object) => void,
  ): Promise<void> {
    // Expected: folders that do not exist, or that the core does not let an agent use.
    try {
      session.requestedCwd = setup.cwd;
      await applySetup(this.#options.client.core, session, setup);
      await this.#reply(session, reply);
    } catch (error) {
      await this.#rollBack(session, origin);
      throw error;
    } finally {
      this.#replaced.delete(session);
    }
  }

  /** Restores the session that was open before; if there was none, closes this one, and deletes a new thread. */
  async #rollBack(session: AcpSession, origin: "new" | "existing"): Promise<void> {
    const { id: threadId } = session;
    const now = this.#open.get(threadId);
    // If the client has opened it again meanwhile, it still needs the events until then; if it has closed it, it does not.
    if (now !== session) {
      if (now !== undefined) session.release();
      return;
    }
    const before = this.#replaced.get(session);
    if (before !== undefined) {
      this.#open.set(threadId, before);
      session.forwardTo(before);
      return;
    }
    this.#open.delete(threadId);
    session.close();
    const undo = origin === "new" ? ("thread/delete" as const) : ("thread/unsubscribe" as const);
    // Expected: a thread that was deleted meanwhile. The client gets the error that its request failed with.
    await this.#options.client.core.call(undo, { threadId }).catch(() => undefined);
  }

  /** Replies with the config and the commands. From then on the client gets the session's events. */
  async #reply(session: AcpSession, reply: (response: object) => void): Promise<void> {
    const { settings, self } = this.#options;
    const config = await settings.read(session);
    const commands = commandsFor(config.models, session.agentCommands);
    const { version } = self();
    settings.recordSent(session, config);
    reply(version.sessionResponse(config, commands));
    session.send(version.commandUpdates(commands));
    session.release();
  }

  /** Sends all commands again. */
  async #sendCommands(session: AcpSession): Promise<void> {
    const { settings, self } = this.#options;
    // Expected: a thread that was deleted meanwhile.
    const config = await settings.read(session).catch(() => undefined);
    if (config === undefined) return;
    session.send(self().version.changedCommands(commandsFor(config.models, session.agentCommands)));
  }

  async #createNew(
    params: AcpParams<"session/new">,
    { core, reply }: RequestContext,
  ): Promise<AcpSession | undefined> {
    let session: AcpSession | undefined;
    await core.call("thread/start", { cwd: params.cwd, ...mcpServersOf(params) }, ({ thread }) => {
      session = this.#add(thread.id);
    });
    if (session === undefined) return undefined;
    const { id: sessionId } = session;
    await this.#finish(session, params, "new", (opened) => reply({ sessionId, ...opened }));
    return session;
  }

  /** Opens an existing session as a new one. Its history is sent after the response, which has the session id. */
  async #continue(threadId: string, setup: SessionSetup, { core, reply }: RequestContext): Promise<void> {
    const stored = await storedTurns(core, threadId);
    let state: Attached | undefined;
    const session = await this.#attach(threadId, setup, (_opened, attached) => {
      state = attached;
    });
    await this.#finish(session, setup, "existing", (opened) => {
      reply({ sessionId: session.id, ...opened });
      session.sendHistory(mergedHistory(stored, state?.turns ?? []));
      if (state !== undefined) session.sendUsage(lastUsageOf(state));
    });
  }
}
