import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock, SessionSpec, TurnContext } from "@flint/core/ports";
import {
  type BackgroundCommand,
  errorMessage,
  FlintError,
  isUnconfined,
  type ThreadSettings,
} from "@flint/protocol";
import type { CodexUserInput } from "@flint/protocol/codex";
import { steeringOf } from "../shared/folders/project-files.ts";
import { historyText } from "../shared/history-text.ts";
import { agentServers } from "../shared/mcp-servers.ts";
import { untrustedSkills } from "./extensions.ts";
import { PRIVATE_TEMPORARY, serverSandbox } from "./process/launch.ts";
import type { CodexServer, CodexTiming, ThreadListener } from "./process/server.ts";
import type { ServerPool, SharedServer } from "./process/server-pool.ts";
import { dynamicTools, textInput, threadParams } from "./settings.ts";

/** Dependencies of a Codex thread, beside its spec. */
export interface CodexThreadOptions {
  readonly servers: ServerPool;
  readonly clock: Clock;
  readonly timing: CodexTiming;
  /**
   * Returns the deviations of a process of another version from the one that Flint was made for; empty after
   * the first call.
   */
  drift(server: CodexServer): Promise<readonly string[]>;
}

/** A thread that is loaded in a process of Codex. */
export interface LoadedThread {
  readonly server: CodexServer;
  readonly id: string;
  /** The model that it has if none is chosen. */
  readonly model: string;
}

/** Codex's own thread: in which process it is loaded, how it is loaded, and how it is unloaded. */
export class CodexThread {
  readonly #spec: SessionSpec;
  readonly #options: CodexThreadOptions;
  readonly #handoff: Handoff;
  readonly #listener: ThreadListener;
  /** The process for the sandbox that the thread has now. */
  #shared: SharedServer;
  #release: () => void;
  #temporary: Promise<string> | undefined;
  #nativeId: string | undefined;
  #loaded: LoadedThread | undefined;
  #stopListening: () => void = () => {};
  /** Ends the MCP servers of the thread where it is loaded. */
  #servers = new AbortController();

  /** `listener` receives what happens in the thread, wherever it is loaded. */
  constructor(spec: SessionSpec, options: CodexThreadOptions, handoff: Handoff, listener: ThreadListener) {
    this.#spec = spec;
    this.#options = options;
    this.#handoff = handoff;
    this.#listener = listener;
    this.#nativeId = spec.nativeId;
    this.#shared = options.servers.forSandbox(serverSandbox(spec.settings, spec.threadId));
    this.#release = this.#shared.acquire();
  }

  /** The thread in the process that runs now: loaded already, resumed, copied or started. */
  async load(turn: TurnContext): Promise<LoadedThread> {
    const server = await this.#server(turn.settings);
    if (this.#loaded?.server === server && server.isRunning) return this.#loaded;
    this.#stopListening();
    const steering = await steeringOf(this.#spec);
    const { bridges: broker } = server;
    const { signal } = this.#servers;
    const params = threadParams(
      turn.settings,
      await agentServers({ spec: this.#spec, settings: turn.settings, broker, signal }),
      await this.temporary(turn.settings),
      steering,
      { ...server.hookSettings, ...(await untrustedSkills(server, turn.settings.cwd, steering)) },
    );
    const existing =
      this.#nativeId === undefined
        ? await this.#fork(turn, server, params)
        : await this.#resume(server, this.#nativeId, params);
    const { thread, model } =
      existing ??
      (await server.request("thread/start", { ...params, ...dynamicTools(this.#spec.clientTools ?? []) }));
    if (!(await server.sessions.claim(thread.id))) throw notItsOwn(thread.id);
    this.#loaded = { server, id: thread.id, model };
    this.#nativeId = thread.id;
    this.#stopListening = server.listen(thread.id, this.#listener);
    turn.emit({ type: "session", nativeId: thread.id });
    for (const message of await server.sessions.takeProblems())
      turn.emit({ type: "warning", message, reason: "agent" });
    await this.#reportDrift(turn, server);
    return this.#loaded;
  }

  /** Has what was said so far stored where Codex finds it outside of the sandbox. */
  publish(): void {
    void this.#loaded?.server.sessions.publish();
  }

  /** Stops the commands that a stopped or failed turn left running. */
  async cleanUp(): Promise<void> {
    if (this.#loaded?.server.isRunning !== true) return;
    const { server, id: threadId } = this.#loaded;
    // An older Codex has neither such a request nor such commands.
    await server
      .request("thread/backgroundTerminals/clean", { threadId }, this.#options.timing.stop)
      .catch(() => undefined);
  }

  /** The commands that it left running. Codex keeps them until the thread is unloaded. */
  async backgroundCommands(): Promise<readonly BackgroundCommand[]> {
    if (this.#loaded?.server.isRunning !== true) return [];
    const { server, id: threadId } = this.#loaded;
    // An older Codex has no such request.
    const { data } = await server
      .request("thread/backgroundTerminals/list", { threadId }, this.#options.timing.answer)
      .catch(() => ({ data: [] }));
    return data.map(({ processId, command, cwd, itemId }) => ({ processId, command, cwd, itemId }));
  }

  /** Stops one of them. False if it was not running. */
  async stopBackgroundCommand(processId: string): Promise<boolean> {
    if (this.#loaded?.server.isRunning !== true) return false;
    const { server, id: threadId } = this.#loaded;
    return (await server.request("thread/backgroundTerminals/terminate", { threadId, processId })).terminated;
  }

  /** The folder for temporary files of this thread's commands. */
  async temporary({ sandboxPolicy }: ThreadSettings): Promise<string> {
    if (!isUnconfined(sandboxPolicy)) return PRIVATE_TEMPORARY;
    this.#temporary ??= mkdtemp(join(tmpdir(), "flint-codex-"));
    return this.#temporary;
  }

  /** Unloads the thread and removes its temporary folder. */
  async close(): Promise<void> {
    await this.#unload();
    this.#release();
    const temporary = await this.#temporary?.catch(() => undefined);
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
  }

  /** The process for the sandbox of these settings. A thread that is loaded in another one is unloaded there. */
  async #server(settings: ThreadSettings): Promise<CodexServer> {
    const shared = this.#options.servers.forSandbox(serverSandbox(settings, this.#spec.threadId));
    if (shared !== this.#shared) {
      await this.#unload();
      this.#release();
      this.#shared = shared;
      this.#release = shared.acquire();
    }
    return shared.server(this.#spec.sandbox);
  }

  /** Unloads the thread. Codex refuses to resume it anywhere before that, so this waits for it, but not for long. */
  async #unload(): Promise<void> {
    this.#stopListening();
    await this.#unsubscribe();
    this.#servers.abort();
    this.#servers = new AbortController();
  }

  async #unsubscribe(): Promise<void> {
    if (this.#loaded?.server.isRunning !== true) return;
    const { server, id: threadId } = this.#loaded;
    const { clock, timing } = this.#options;
    await this.cleanUp();
    let resolveClosed = () => {};
    const closed = new Promise<void>((resolve) => {
      resolveClosed = resolve;
    });
    const cancelTimer = clock.after(timing.stop, resolveClosed);
    this.#stopListening = server.listen(threadId, {
      notification: ({ method }) => (method === "thread/closed" ? resolveClosed() : undefined),
      call: () => Promise.reject(new Error("No turn is running in this thread.")),
    });
    // A process that does not even answer is not waited for.
    const unsubscribed = server.request("thread/unsubscribe", { threadId }, timing.stop);
    await unsubscribed.then(
      () => Promise.race([closed, server.ended]),
      () => undefined,
    );
    cancelTimer();
    this.#stopListening();
    this.#loaded = undefined;
    await server.sessions.publish();
  }

  /** Resumes the thread; undefined if Codex no longer has it. */
  async #resume(server: CodexServer, threadId: string, params: ReturnType<typeof threadParams>) {
    await server.sessions.resume(threadId);
    // Expected: it was never written because it had no turns, or it was deleted.
    return server
      .request("thread/resume", { ...params, threadId, excludeTurns: true })
      .catch((thrown: unknown) => {
        if (!server.isRunning || !isMissing(thrown)) throw thrown;
        this.#handoff.lost();
        return undefined;
      });
  }

  /** Copies a thread that has turns of this one; undefined if there is none, or Codex cannot copy it. */
  async #fork(turn: TurnContext, server: CodexServer, params: ReturnType<typeof threadParams>) {
    const { forkOf } = this.#spec;
    if (forkOf === undefined) return undefined;
    // Expected: Codex no longer has it.
    const { nativeId: threadId, position: lastTurnId } = forkOf;
    await server.sessions.copy(threadId);
    const upTo = lastTurnId === undefined ? {} : { lastTurnId };
    return server.request("thread/fork", { ...params, threadId, ...upTo }).then(
      (copy) => {
        this.#handoff.copied();
        return copy;
      },
      (thrown: unknown) => {
        if (!server.isRunning) throw thrown;
        const reason = errorMessage(thrown);
        const message = `Codex could not continue from a copy of its thread, so it gets a summary of the thread instead. Its error: ${reason}`;
        turn.emit({ type: "extension", method: "openai/forkFailed", params: { message } });
        return undefined;
      },
    );
  }

  async #reportDrift(turn: TurnContext, server: CodexServer): Promise<void> {
    const changes = await this.#options.drift(server);
    if (changes.length === 0) return;
    const params = { version: server.version, changes: [...changes] };
    turn.emit({ type: "extension", method: "openai/drift", params });
  }
}

/** A process in which something else runs could name the thread of another. */
function notItsOwn(threadId: string): FlintError {
  const message = `Codex began the thread ${threadId}, which is already there and not its own. Send the prompt again; if that does not help, start a new thread.`;
  return new FlintError("agentFailed", message, { threadId });
}

function isMissing(thrown: unknown): boolean {
  return thrown instanceof Error && /no rollout found|not found|does not exist/i.test(thrown.message);
}

type HandoffSpec = Pick<SessionSpec, "handoffSummary" | "history" | "forkOf">;

/**
 * The parts of the thread that Codex's own thread lacks, as input before the next prompt: the turns of other
 * agents, or all of them.
 */
export class Handoff {
  readonly #spec: HandoffSpec;
  #isSent = false;
  #isLost = false;
  #isCopy = false;

  constructor(spec: HandoffSpec) {
    this.#spec = spec;
  }

  /** Codex begins with a copy of a thread, which includes its conversation. */
  copied(): void {
    this.#isCopy = true;
  }

  /** Codex begins a new thread, because it no longer has the old one. */
  lost(): void {
    this.#isLost = true;
    this.#isSent = false;
    this.#isCopy = false;
  }

  /** Codex has accepted the input. */
  sent(): void {
    this.#isSent = true;
  }

  /** The input that was not sent yet. */
  async input(turnId: string): Promise<CodexUserInput[]> {
    if (this.#isSent) return [];
    const source = (this.#isCopy ? this.#spec.forkOf : undefined) ?? this.#spec;
    const summary = (await source.handoffSummary()) || (await this.#lostHistory(turnId));
    if (summary === "") return [];
    return [textInput(`What happened in this conversation before you joined it:\n\n${summary}`)];
  }

  /** The history of a thread that Codex had and has no longer. The running turn may already be part of it. */
  async #lostHistory(turnId: string): Promise<string> {
    if (!this.#isLost) return "";
    return historyText((await this.#spec.history()).filter(({ id }) => id !== turnId));
  }
}
