import type { CommandBroker, Sandbox } from "@flint/core/ports";
import { errorMessage, FlintError, LIMITS, listOf, STANDARD_CODES, stringOf } from "@flint/protocol";
import {
  CODEX,
  CODEX_REQUESTS,
  type CodexNotification,
  type CodexParams,
  type CodexRequest,
  type CodexResult,
  type CodexServerCall,
  readCodexNotification,
  readCodexServerCall,
} from "@flint/protocol/codex";
import { type Id, Peer, PeerClosedError, RemoteError, type Trace } from "@flint/rpc";
import { AgentProcess, type AgentSessions } from "../../shared/agent-process.ts";
import { objectOf } from "../../shared/json.ts";
import { EarlyNotifications } from "./early-notifications.ts";
import { type CodexLaunch, HOOK_COMMAND } from "./launch.ts";

/** Time limits for Codex, in milliseconds. */
export interface CodexTiming {
  /** To start and answer `initialize`. */
  readonly start: number;
  /** To answer a request that is not a turn. */
  readonly answer: number;
  /** To list its models. */
  readonly list: number;
  /** To stop a turn before its process is stopped. */
  readonly stop: number;
  /** Time for which a process is kept alive after the last thread was closed. */
  readonly keepAlive: number;
}

/** Long enough for a slow machine, short enough for a user who waits. */
export const CODEX_TIMING: CodexTiming = {
  start: 20_000,
  answer: 30_000,
  list: 5_000,
  stop: 1_500,
  keepAlive: 5_000,
};

/** Receives what happens in one thread of Codex. */
export interface ThreadListener {
  notification(notification: CodexNotification): void;
  /** Answers a request of Codex; a rejection is answered as an error. */
  call(call: CodexServerCall): Promise<object>;
  /** Reports whether a turn runs in the thread. Absent: none does. */
  isWorking?(): boolean;
  /** Reports whether anything would be lost if the process ended now. Absent: nothing would. */
  isBusy?(): boolean;
}

/** Start options of a server. */
export interface CodexServerSpec {
  readonly launch: CodexLaunch;
  readonly sandbox: Sandbox;
  readonly version: string;
  readonly timing: CodexTiming;
  readonly trace: Trace | undefined;
}

const NO_TURN = "No turn is running in this thread.";

/** A running `codex app-server`, shared by threads. When it ends, every pending request is rejected at once. */
export class CodexServer {
  /** Resolves once every process is gone. */
  readonly ended: Promise<void>;
  readonly #process: AgentProcess;
  readonly #peer: Peer;
  readonly #timing: CodexTiming;
  readonly #listeners = new Map<string, ThreadListener>();
  readonly #early = new EarlyNotifications();
  #unknownMessages = 0;
  #version = "";
  #isRunning = true;
  #hookTrust: Readonly<Record<string, unknown>> | undefined;

  private constructor(process: AgentProcess, { timing, trace }: CodexServerSpec) {
    this.#process = process;
    this.#timing = timing;
    this.#peer = new Peer(process.transport, {
      header: CODEX.header,
      lineLimit: LIMITS.line,
      queueLimit: LIMITS.clientQueue,
      handlers: {
        request: (id, method, params) => this.#onCall(id, method, params),
        notification: (method, params) => this.#onNotification(method, params),
        bad: () => this.#onUnknown(),
        orphan: () => this.#onUnknown(),
      },
      ...(trace === undefined ? {} : { trace }),
    });
    this.ended = this.#untilEnd();
    this.#peer.start();
  }

  /** Starts and initializes it. Rejects with a FlintError if that fails, and leaves nothing behind. */
  static async start(spec: CodexServerSpec): Promise<CodexServer> {
    const { launch, sandbox } = spec;
    const { command, environment, folders, hosts } = launch;
    const { workspace, policy, threadId = "none" } = launch.serverSandbox;
    const thread = { threadId, stateFolder: launch.stateFolder };
    // In the root folder it reads the settings of no workspace.
    const process = await AgentProcess.start({
      ...{ name: "Codex", command, environment, sandbox, folders, thread },
      ...{ cwd: "/", workspace, policy, hosts },
    });
    const server = new CodexServer(process, spec);
    try {
      await server.#initialize(spec.version);
      await server.#trustHook();
    } catch (thrown) {
      await server.close();
      throw thrown;
    }
    return server;
  }

  /** The sessions that this process of Codex may use. */
  get sessions(): AgentSessions {
    return this.#process.sessions;
  }

  /** The version that it reports; empty if it reports none. */
  get version(): string {
    return this.#version;
  }

  /** Runs single commands beyond the sandbox; undefined if there is none, or Codex has no hooks. */
  get broker(): CommandBroker | undefined {
    return this.#hookTrust === undefined ? undefined : this.#process.broker;
  }

  /** Leads to the MCP servers of its threads; undefined if it starts them itself. */
  get bridges(): Pick<CommandBroker, "bridge"> | undefined {
    return this.#process.broker;
  }

  /** The settings of a thread that make Codex run Flint's hook, and no other that the user has not reviewed. */
  get hookSettings(): Readonly<Record<string, unknown>> {
    return this.#hookTrust === undefined ? {} : { "hooks.state": this.#hookTrust };
  }

  /** The number of messages that were not understood. */
  get unknownMessages(): number {
    return this.#unknownMessages;
  }

  /** Reports whether a turn, a background command or a login would be lost if it ended now. */
  get isBusy(): boolean {
    return [...this.#listeners.values()].some((listener) => listener.isBusy?.() === true);
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Sends a request. Rejects with a FlintError if it is refused, not answered in time, or the process ends. */
  async request<Name extends CodexRequest>(
    method: Name,
    params: CodexParams<Name>,
    timeoutMs: number = this.#timing.answer,
  ): Promise<CodexResult<Name>> {
    const answer = await this.#peer.request(method, params, { timeoutMs }).catch(async (thrown: unknown) => {
      throw await this.#requestError(method, thrown);
    });
    const read = CODEX_REQUESTS[method].result.safeParse(answer);
    if (read.success) return read.data as CodexResult<Name>;
    const message = `Codex ${this.#version} answered ${method} in a form that Flint does not know; \`flint doctor\` compares the versions.`;
    throw new FlintError("agentFailed", message, { method }, { cause: read.error });
  }

  /** The usage limits of the account; undefined if it does not tell, as without a login. Never rejects. */
  rateLimits(): Promise<CodexResult<"account/rateLimits/read"> | undefined> {
    return this.request("account/rateLimits/read", {}, this.#timing.list).catch(() => undefined);
  }

  /** Registers the listener of a thread, and replays what was buffered for it. The returned function removes it. */
  listen(threadId: string, listener: ThreadListener): () => void {
    this.#listeners.set(threadId, listener);
    for (const notification of this.#early.take(threadId)) listener.notification(notification);
    return () => {
      if (this.#listeners.get(threadId) === listener) this.#listeners.delete(threadId);
    };
  }

  /** The error for everything that still needed the process, once it has ended. */
  failure(): Promise<FlintError> {
    return this.#process.failure();
  }

  /** Stops it and everything it started. */
  async close(): Promise<void> {
    await this.#process.stop();
    await this.ended;
  }

  /** Codex runs a hook only if its digest is among the trusted ones. */
  async #trustHook(): Promise<void> {
    if (this.#process.broker === undefined) return;
    // Expected: an older Codex without hooks.
    const listed = await this.#peer
      .request("hooks/list", { cwds: ["/"] }, { timeoutMs: this.#timing.answer })
      .catch(() => undefined);
    const hooks = listOf(objectOf(listed).data).flatMap((entry) =>
      listOf(objectOf(entry).hooks).map(objectOf),
    );
    const own = hooks.find(({ command, source }) => command === HOOK_COMMAND && source === "sessionFlags");
    const [key, hash] = [stringOf(own?.key), stringOf(own?.currentHash)];
    if (key !== undefined && hash !== undefined) this.#hookTrust = { [key]: { trusted_hash: hash } };
  }

  async #initialize(version: string): Promise<void> {
    const clientInfo = { name: "flint", title: "Flint", version };
    const capabilities = { experimentalApi: true, requestAttestation: false };
    const { userAgent } = await this.request("initialize", { clientInfo, capabilities }, this.#timing.start);
    this.#version = /^[^/\s]+\/(\S+)/.exec(userAgent)?.[1] ?? "";
    this.#peer.notify("initialized");
  }

  /** A program that closed its output is of no use, whether it still runs or not. */
  async #untilEnd(): Promise<void> {
    await Promise.race([this.#peer.closed, this.#process.exited]);
    this.#isRunning = false;
    await this.#process.stop();
    await this.#process.exited;
    this.#peer.close();
  }

  async #requestError(method: string, thrown: unknown): Promise<FlintError> {
    if (thrown instanceof PeerClosedError) return this.failure();
    if (thrown instanceof RemoteError) return new FlintError("agentFailed", thrown.message, { method });
    const message = `Codex did not answer ${method} in time.`;
    return new FlintError("agentFailed", message, { method }, { cause: thrown });
  }

  #onNotification(method: string, params: unknown): void {
    const notification = readCodexNotification(method, params);
    if (notification === undefined) {
      this.#onUnknown();
      return;
    }
    const threadId = threadIdOf(notification.params);
    if (threadId === undefined)
      for (const listener of this.#listeners.values()) listener.notification(notification);
    else this.#dispatch(threadId, notification);
  }

  #dispatch(threadId: string, notification: CodexNotification): void {
    const listener = this.#listeners.get(threadId);
    if (listener !== undefined) {
      listener.notification(notification);
      return;
    }
    if (notification.method === "thread/closed") this.#early.take(threadId);
    else this.#early.add(threadId, notification);
  }

  #onCall(id: Id, method: string, params: unknown): void {
    const refuse = (code: number, message: string) => this.#peer.replyError(id, { code, message });
    const call = readCodexServerCall(method, params);
    if (call === undefined) {
      this.#onUnknown();
      refuse(STANDARD_CODES.methodNotFound, `Flint does not support ${method}.`);
      return;
    }
    const listener = this.#listenerFor(call);
    if (typeof listener === "string") {
      refuse(STANDARD_CODES.invalidParams, listener);
      return;
    }
    listener.call(call).then(
      (result) => this.#peer.reply(id, result),
      (error: unknown) => refuse(STANDARD_CODES.internalError, errorMessage(error)),
    );
  }

  /** The listener that answers a call, or why there is none. Older versions do not always name the thread. */
  #listenerFor({ method, params }: CodexServerCall): ThreadListener | string {
    const threadId = threadIdOf(params);
    if (threadId !== undefined) return this.#listeners.get(threadId) ?? NO_TURN;
    const [working, ...others] = [...this.#listeners.values()].filter((known) => known.isWorking?.());
    if (others.length === 0) return working ?? NO_TURN;
    return `${method} does not name its thread, and turns run in ${others.length + 1} threads, so it cannot be answered.`;
  }

  #onUnknown(): void {
    this.#unknownMessages += 1;
  }
}

/** The thread that a message of either family of methods is about. */
function threadIdOf(params: object): string | undefined {
  const thread: unknown = Reflect.get(params, "thread");
  const found: unknown =
    Reflect.get(params, "threadId") ??
    Reflect.get(params, "conversationId") ??
    Reflect.get(Object(thread), "id");
  return typeof found === "string" ? found : undefined;
}
