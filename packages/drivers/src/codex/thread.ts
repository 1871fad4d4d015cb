import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock, SessionSpec, TurnContext } from "@flint/core/ports";
import { isUnconfined, type ThreadSettings } from "@flint/protocol";
import { dynamicTools } from "./asks/client-tools.ts";
import type { Account } from "./handoff.ts";
import { PRIVATE_TEMPORARY, wallOf } from "./process/sandbox.ts";
import type { CodexServer, ThreadListener } from "./process/server.ts";
import type { CodexServers } from "./process/servers.ts";
import type { SharedServer } from "./process/shared-server.ts";
import type { CodexTiming } from "./process/timing.ts";
import { openingOf } from "./settings.ts";

/** What a thread of Codex lives in. */
export interface NativeThreadParts {
  readonly servers: CodexServers;
  readonly clock: Clock;
  readonly timing: CodexTiming;
  /** Told once for every process whose version is another one than Flint was made for. */
  drift(server: CodexServer): Promise<readonly string[]>;
}

/** A thread as it is loaded in one process of Codex. */
export interface LoadedThread {
  readonly server: CodexServer;
  readonly id: string;
  /** The model that it has when none is chosen. */
  readonly model: string;
}

/** A thread in Codex's own keeping: in which process it is loaded, how it gets there, and how it is let go of. */
export class NativeThread {
  readonly #spec: SessionSpec;
  readonly #parts: NativeThreadParts;
  readonly #account: Account;
  readonly #listener: ThreadListener;
  /** The process behind the wall that the thread is behind now, and the hold on it. */
  #shared: SharedServer;
  #letGo: () => void;
  #temporary: Promise<string> | undefined;
  #nativeId: string | undefined;
  #loaded: LoadedThread | undefined;
  #stopListening: () => void = () => {};

  /** `listener` hears of the thread wherever it is loaded; `account` is told what Codex knows of it. */
  constructor(spec: SessionSpec, parts: NativeThreadParts, account: Account, listener: ThreadListener) {
    this.#spec = spec;
    this.#parts = parts;
    this.#account = account;
    this.#listener = listener;
    this.#nativeId = spec.nativeId;
    this.#shared = parts.servers.behind(wallOf(spec.settings));
    this.#letGo = this.#shared.hold();
  }

  /** The thread in the process that runs now: loaded already, taken up, or begun. */
  async load(turn: TurnContext): Promise<LoadedThread> {
    const server = await this.#server(turn.settings);
    if (this.#loaded?.server === server && server.isRunning) return this.#loaded;
    this.#stopListening();
    const opening = openingOf(turn.settings, this.#spec.mcpServers, await this.folder(turn.settings));
    const resumed =
      this.#nativeId === undefined
        ? await this.#fork(turn, server, opening)
        : await this.#resume(server, this.#nativeId, opening);
    const { thread, model } =
      resumed ??
      (await server.request("thread/start", { ...opening, ...dynamicTools(this.#spec.clientTools ?? []) }));
    this.#loaded = { server, id: thread.id, model };
    this.#nativeId = thread.id;
    this.#stopListening = server.listen(thread.id, this.#listener);
    turn.emit({ type: "session", nativeId: thread.id });
    await this.#warnOfDrift(turn, server);
    return this.#loaded;
  }

  /** Ends what a stopped or failed turn left running. */
  async cleanUp(): Promise<void> {
    if (this.#loaded?.server.isRunning !== true) return;
    const { server, id: threadId } = this.#loaded;
    // An older Codex has no such request, and no such commands either.
    await server
      .request("thread/backgroundTerminals/clean", { threadId }, this.#parts.timing.stop)
      .catch(() => undefined);
  }

  /** The folder for temporary files of this thread's commands. */
  async folder({ sandboxPolicy }: ThreadSettings): Promise<string> {
    if (!isUnconfined(sandboxPolicy)) return PRIVATE_TEMPORARY;
    this.#temporary ??= mkdtemp(join(tmpdir(), "flint-codex-"));
    return this.#temporary;
  }

  /** Has Codex let go of the thread, and gives up what it had. */
  async close(): Promise<void> {
    await this.#moveOut();
    this.#letGo();
    const temporary = await this.#temporary?.catch(() => undefined);
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
  }

  /** The process behind the wall that these settings ask for. A thread that is behind another one is let go of there. */
  async #server(settings: ThreadSettings): Promise<CodexServer> {
    const shared = this.#parts.servers.behind(wallOf(settings));
    if (shared !== this.#shared) {
      await this.#moveOut();
      this.#letGo();
      this.#shared = shared;
      this.#letGo = shared.hold();
    }
    return shared.server(this.#spec.sandbox);
  }

  /** Has Codex let go of the thread. Whoever takes it up before that is refused, so this waits for it, but not for long. */
  async #moveOut(): Promise<void> {
    this.#stopListening();
    if (this.#loaded?.server.isRunning !== true) return;
    const { server, id: threadId } = this.#loaded;
    const { clock, timing } = this.#parts;
    await this.cleanUp();
    let rest = () => {};
    const rested = new Promise<void>((resolve) => {
      rest = resolve;
    });
    const stopWaiting = clock.after(timing.stop, rest);
    this.#stopListening = server.listen(threadId, {
      notification: ({ method }) => (method === "thread/closed" ? rest() : undefined),
      call: () => Promise.reject(new Error("No turn runs in this thread.")),
    });
    // One that does not even say that it will let go is not waited for; nobody listens any more.
    const asked = server.request("thread/unsubscribe", { threadId }, timing.stop);
    await asked.then(
      () => Promise.race([rested, server.ended]),
      () => undefined,
    );
    stopWaiting();
    this.#stopListening();
    this.#loaded = undefined;
  }

  /** A thread that Codex does not have any more is begun anew. */
  async #resume(server: CodexServer, threadId: string, opening: ReturnType<typeof openingOf>) {
    // Expected: it was never written because nothing was said in it, or somebody deleted it.
    return server
      .request("thread/resume", { ...opening, threadId, excludeTurns: true })
      .catch((thrown: unknown) => {
        if (!server.isRunning || !isMissing(thrown)) throw thrown;
        this.#account.lost();
        return undefined;
      });
  }

  /** A copy of a thread that knows turns of this one; undefined if there is none, or Codex cannot make one. */
  async #fork(turn: TurnContext, server: CodexServer, opening: ReturnType<typeof openingOf>) {
    const { forkOf } = this.#spec;
    if (forkOf === undefined) return undefined;
    // Expected: Codex has it no more. It is told in words what happened.
    const { nativeId: threadId, position: lastTurnId } = forkOf;
    const upTo = lastTurnId === undefined ? {} : { lastTurnId };
    return server.request("thread/fork", { ...opening, threadId, ...upTo }).then(
      (copy) => {
        this.#account.copied();
        return copy;
      },
      (thrown: unknown) => {
        if (!server.isRunning) throw thrown;
        const reason = thrown instanceof Error ? thrown.message : String(thrown);
        const message = `Codex could not go on from a copy of its thread, so it is told what happened in words. It said: ${reason}`;
        turn.emit({ type: "extension", method: "codex/forkFailed", params: { message } });
        return undefined;
      },
    );
  }

  async #warnOfDrift(turn: TurnContext, server: CodexServer): Promise<void> {
    const changes = await this.#parts.drift(server);
    if (changes.length === 0) return;
    const params = { version: server.version, changes: [...changes] };
    turn.emit({ type: "extension", method: "codex/drift", params });
  }
}

function isMissing(thrown: unknown): boolean {
  return thrown instanceof Error && /no rollout found|not found|does not exist/i.test(thrown.message);
}
