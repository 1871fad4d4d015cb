import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  Clock,
  DriverSession,
  McpServerStatus,
  SessionSpec,
  TurnContext,
  TurnOutcome,
} from "@flint/core/ports";
import type { ThreadSettings, UserInput } from "@flint/protocol";
import type { CodexNotification, CodexReviewTarget } from "@flint/protocol/codex";
import { historyText } from "../shared/history-text.ts";
import { orAborted } from "../shared/stoppable-turn.ts";
import { dynamicTools } from "./client-tools.ts";
import { mcpServerStatus } from "./mcp-status.ts";
import { RunningTurn } from "./running-turn.ts";
import { COLLABORATION_MODE } from "./selectors.ts";
import type { CodexServer } from "./server.ts";
import type { CodexServers } from "./servers.ts";
import { inputOf, openingOf, textInput, workingOf } from "./settings.ts";
import type { SharedServer } from "./shared-server.ts";
import type { CodexTiming } from "./timing.ts";
import { isConfined, PRIVATE_TEMPORARY, wallOf } from "./wall.ts";

/** What a session needs beside what every session is told. */
export interface CodexSessionParts {
  readonly servers: CodexServers;
  readonly clock: Clock;
  readonly timing: CodexTiming;
  /** Told when a session is closed. */
  closed(session: CodexSession): void;
  /** Told once for every process whose version is another one than Flint was made for. */
  drift(server: CodexServer): Promise<readonly string[]>;
}

/** A thread as it is loaded in one process of Codex. */
interface LoadedThread {
  readonly server: CodexServer;
  readonly id: string;
  /** The model that it has when none is chosen. */
  readonly model: string;
}

const INTERRUPTED: TurnOutcome = { status: "interrupted" };

/** One thread of Codex. It lives in whatever process runs now; after a death it is taken up in the next one. */
export class CodexSession implements DriverSession {
  readonly #spec: SessionSpec;
  readonly #parts: CodexSessionParts;
  readonly #closing = new AbortController();
  /** The process behind the wall that the thread is behind now, and the hold on it. */
  #shared: SharedServer;
  #letGo: () => void;
  #temporary: Promise<string> | undefined;
  #nativeId: string | undefined;
  #loaded: LoadedThread | undefined;
  #stopListening: () => void = () => {};
  /** What other agents did is told once, and all that happened if Codex has no memory of it. */
  #isTold = false;
  #isLost = false;
  /** Whether it began as a copy of a thread that knows what was said. */
  #isCopy = false;
  #active: RunningTurn | undefined;
  /** The turn that was asked for last, once Codex can be told of it; undefined if it ended before. */
  #begun: Promise<RunningTurn | undefined> = Promise.resolve(undefined);
  #early: readonly CodexNotification[] = [];
  #totalTokens = 0;
  readonly #mcpServers = new Map<string, McpServerStatus>();
  #running: Promise<unknown> = Promise.resolve();

  constructor(spec: SessionSpec, parts: CodexSessionParts) {
    this.#spec = spec;
    this.#parts = parts;
    this.#nativeId = spec.nativeId;
    this.#shared = parts.servers.behind(wallOf(spec.settings));
    this.#letGo = this.#shared.hold();
  }

  /** How the MCP servers of this thread are, as far as Codex told. */
  get mcpServers(): readonly McpServerStatus[] {
    return [...this.#mcpServers.values()];
  }

  run(turn: TurnContext): Promise<TurnOutcome> {
    const signal = AbortSignal.any([turn.signal, this.#closing.signal]);
    const begun = this.#prepare(turn, signal);
    this.#begun = begun.catch(() => undefined);
    const running = this.#run(turn, begun);
    this.#running = running.catch(() => undefined);
    return running;
  }

  async steer(input: readonly UserInput[]): Promise<boolean> {
    const begun = await this.#begun;
    return (await begun?.steer(input)) ?? false;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#parts.closed(this);
    await this.#running;
    await this.#moveOut();
    this.#letGo();
    const temporary = await this.#temporary?.catch(() => undefined);
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
  }

  /** The turn in a thread that is ready for it; undefined if it is stopped before. */
  async #prepare(turn: TurnContext, signal: AbortSignal): Promise<RunningTurn | undefined> {
    if (signal.aborted) return undefined;
    const thread = await orAborted(this.#thread(turn), signal, undefined);
    if (thread === undefined) return undefined;
    const { clock, timing } = this.#parts;
    const { server, id: threadId } = thread;
    const place = { server, threadId, clock, timing, totalTokens: this.#totalTokens };
    const active = new RunningTurn(turn, place, signal);
    this.#active = active;
    for (const notification of this.#early) active.notification(notification);
    this.#early = [];
    void active.begin(() => this.#begin(turn, thread));
    return active;
  }

  async #run(turn: TurnContext, begun: Promise<RunningTurn | undefined>): Promise<TurnOutcome> {
    const active = await begun;
    if (active === undefined) return INTERRUPTED;
    try {
      const outcome = await active.outcome;
      if (outcome.status !== "completed" || turn.signal.aborted) await this.#cleanUp();
      if (outcome.status === "completed") tellPosition(turn, active);
      return outcome;
    } finally {
      this.#active = undefined;
      this.#totalTokens = active.totalTokens;
    }
  }

  /** Asks for the turn. A compaction tells its id only when it begins. */
  async #begin(turn: TurnContext, thread: LoadedThread): Promise<string | undefined> {
    const { server, id: threadId } = thread;
    const working = workingOf(turn.settings, await this.#folder(turn.settings), thread.model);
    const target = reviewTargetOf(turn);
    if (target === undefined && turn.kind !== "compact") {
      const input = [...(await this.#told(turn.turnId)), ...inputOf(turn.input, turn.settings.cwd)];
      const { outputSchema } = turn;
      const wish = outputSchema === undefined ? {} : { outputSchema };
      const started = await server.request("turn/start", { threadId, input, ...working, ...wish });
      this.#isTold = true;
      return started.turn.id;
    }
    await server.request("thread/settings/update", { threadId, ...working });
    if (target === undefined) await server.request("thread/compact/start", { threadId });
    else return (await server.request("review/start", { threadId, target, delivery: "inline" })).turn.id;
    return undefined;
  }

  /** What Codex does not know of the thread, before what the user says now. */
  async #told(turnId: string) {
    if (this.#isTold) return [];
    const known = (this.#isCopy ? this.#spec.forkOf : undefined) ?? this.#spec;
    const account = (await known.account()) || (await this.#lost(turnId));
    if (account === "") return [];
    return [textInput(`What happened in this conversation before you joined it:\n\n${account}`)];
  }

  /** What was said in a thread that Codex had and has no more. The running turn may be in the history already. */
  async #lost(turnId: string): Promise<string> {
    if (!this.#isLost) return "";
    return historyText((await this.#spec.history()).filter(({ id }) => id !== turnId));
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
    await this.#cleanUp();
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

  /** The thread in the process that runs now: loaded already, taken up, or begun. */
  async #thread(turn: TurnContext): Promise<LoadedThread> {
    const server = await this.#server(turn.settings);
    if (this.#loaded?.server === server && server.isRunning) return this.#loaded;
    this.#stopListening();
    const opening = openingOf(turn.settings, this.#spec.mcpServers, await this.#folder(turn.settings));
    const resumed =
      this.#nativeId === undefined
        ? await this.#fork(turn, server, opening)
        : await this.#resume(server, this.#nativeId, opening);
    const { thread, model } =
      resumed ??
      (await server.request("thread/start", { ...opening, ...dynamicTools(this.#spec.clientTools ?? []) }));
    this.#loaded = { server, id: thread.id, model };
    this.#nativeId = thread.id;
    this.#stopListening = server.listen(thread.id, this.#listener());
    turn.emit({ type: "session", nativeId: thread.id });
    await this.#warnOfDrift(turn, server);
    return this.#loaded;
  }

  /** A thread that Codex does not have any more is begun anew. */
  async #resume(server: CodexServer, threadId: string, opening: ReturnType<typeof openingOf>) {
    // Expected: it was never written because nothing was said in it, or somebody deleted it.
    return server
      .request("thread/resume", { ...opening, threadId, excludeTurns: true })
      .catch((thrown: unknown) => {
        if (!server.isRunning || !isMissing(thrown)) throw thrown;
        this.#isLost = true;
        this.#isTold = false;
        this.#isCopy = false;
        return undefined;
      });
  }

  /** A copy of the thread that this one was forked from; undefined if there is none, or Codex cannot make one. */
  async #fork(turn: TurnContext, server: CodexServer, opening: ReturnType<typeof openingOf>) {
    const { forkOf } = this.#spec;
    if (forkOf === undefined) return undefined;
    // Expected: Codex has it no more. It is told in words what happened.
    const { nativeId: threadId, position: lastTurnId } = forkOf;
    const upTo = lastTurnId === undefined ? {} : { lastTurnId };
    return server.request("thread/fork", { ...opening, threadId, ...upTo }).then(
      (copy) => {
        this.#isCopy = true;
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

  #listener() {
    return {
      notification: (notification: CodexNotification) => this.#onNotification(notification),
      call: (call: Parameters<RunningTurn["call"]>[0]) => {
        if (this.#active === undefined) return Promise.reject(new Error("No turn runs in this thread."));
        return this.#active.call(call);
      },
      isWorking: () => this.#active !== undefined,
    };
  }

  /** Between turns only what was used in all counts, which Codex tells when a thread is taken up. */
  #onNotification(notification: CodexNotification): void {
    if (notification.method === "mcpServer/startupStatus/updated") {
      const { name, status, error } = notification.params;
      this.#mcpServers.set(name, mcpServerStatus(name, status, error));
    }
    if (this.#active !== undefined) {
      this.#active.notification(notification);
      return;
    }
    if (notification.method === "thread/tokenUsage/updated") {
      this.#totalTokens = notification.params.tokenUsage.total.totalTokens;
    }
    if (isRemark(notification) && this.#early.length < 20) this.#early = [...this.#early, notification];
  }

  async #warnOfDrift(turn: TurnContext, server: CodexServer): Promise<void> {
    const changes = await this.#parts.drift(server);
    if (changes.length === 0) return;
    const params = { version: server.version, changes: [...changes] };
    turn.emit({ type: "extension", method: "codex/drift", params });
  }

  /** Ends what a stopped or failed turn left running. */
  async #cleanUp(): Promise<void> {
    if (this.#loaded?.server.isRunning !== true) return;
    const { server, id: threadId } = this.#loaded;
    // An older Codex has no such request, and no such commands either.
    await server
      .request("thread/backgroundTerminals/clean", { threadId }, this.#parts.timing.stop)
      .catch(() => undefined);
  }

  /** The folder for temporary files of this thread's commands. */
  async #folder({ sandboxPolicy }: ThreadSettings): Promise<string> {
    if (isConfined(sandboxPolicy)) return PRIVATE_TEMPORARY;
    this.#temporary ??= mkdtemp(join(tmpdir(), "flint-codex-"));
    return this.#temporary;
  }
}

/** What is worth telling in the turn that follows. */
function isRemark({ method }: CodexNotification): boolean {
  return method === "warning" || method === "configWarning" || method === "deprecationNotice";
}

/** What a turn is to review: as asked for, or in the mode in which every prompt is a review. */
function reviewTargetOf({ kind, review, settings, input }: TurnContext): CodexReviewTarget | undefined {
  if (review !== undefined)
    return review.type === "commit" ? { ...review, title: review.title ?? null } : review;
  if (kind !== "prompt" || settings.config[COLLABORATION_MODE] !== "review") return undefined;
  const instructions = input.flatMap((piece) => (piece.type === "text" ? [piece.text] : [])).join("\n");
  return { type: "custom", instructions };
}

/** A review has another name than the one by which it is told (0.166.0); what was said and answered is sure to be found. */
function tellPosition(turn: TurnContext, { nativeId: position }: RunningTurn): void {
  const isKept = turn.kind === "prompt" && reviewTargetOf(turn) === undefined;
  if (isKept && position !== undefined) turn.emit({ type: "position", position });
}

function isMissing(thrown: unknown): boolean {
  return thrown instanceof Error && /no rollout found|not found|does not exist/i.test(thrown.message);
}
