import type { Sandbox } from "@flint/core/ports";
import { FlintError, LIMITS, STANDARD_CODES } from "@flint/protocol";
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
import { AgentProcess } from "../../shared/agent-process.ts";
import type { CodexLaunch } from "./launch.ts";
import type { CodexTiming } from "./timing.ts";

/** Who is told what happens in a thread of Codex. */
export interface ThreadListener {
  notification(notification: CodexNotification): void;
  /** Answers a request of Codex; a rejection is answered as an error. */
  call(call: CodexServerCall): Promise<object>;
  /** Whether a turn runs in the thread. Absent: none does. */
  isWorking?(): boolean;
}

/** What a server is started with. */
export interface CodexServerSpec {
  readonly launch: CodexLaunch;
  readonly sandbox: Sandbox;
  readonly version: string;
  readonly timing: CodexTiming;
  readonly trace: Trace | undefined;
}

const NOBODY = "Nobody works in this thread now.";

/** What is told of a thread before anybody listens; more than this is not kept. */
const KEPT_BEFORE = 200;

/** One running `codex app-server`, talked to by all threads. When it ends, everything that waits for it fails at once. */
export class CodexServer {
  /** Resolves when nothing of it is left. */
  readonly ended: Promise<void>;
  readonly #process: AgentProcess;
  readonly #peer: Peer;
  readonly #timing: CodexTiming;
  readonly #listeners = new Map<string, ThreadListener>();
  readonly #before = new Map<string, CodexNotification[]>();
  #unknown = 0;
  #version = "";
  #isRunning = true;

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
        bad: () => this.#count(),
        orphan: () => this.#count(),
      },
      ...(trace === undefined ? {} : { trace }),
    });
    this.ended = this.#end();
    this.#peer.start();
  }

  /** Starts it and says hello. Rejects with a FlintError if that does not work, and leaves nothing behind. */
  static async start(spec: CodexServerSpec): Promise<CodexServer> {
    const { launch, sandbox } = spec;
    const { command, environment, wall, ownPaths, privateFolders, readOnlyPaths } = launch;
    // In the root folder no workspace has a say over it.
    const process = await AgentProcess.start({
      ...{ name: "Codex", command, environment, sandbox, ownPaths, privateFolders, readOnlyPaths },
      ...{ cwd: "/", workspace: wall.workspace, policy: wall.policy },
    });
    const server = new CodexServer(process, spec);
    try {
      await server.#hello(spec.version);
    } catch (thrown) {
      await server.close();
      throw thrown;
    }
    return server;
  }

  /** The version that it says it has; empty if it does not say. */
  get version(): string {
    return this.#version;
  }

  /** Messages that nobody here understands. */
  get unknownMessages(): number {
    return this.#unknown;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Asks it. Rejects with a FlintError if it refuses, does not answer in time, or ends. */
  async request<Name extends CodexRequest>(
    method: Name,
    params: CodexParams<Name>,
    timeoutMs: number = this.#timing.answer,
  ): Promise<CodexResult<Name>> {
    const answer = await this.#peer.request(method, params, { timeoutMs }).catch(async (thrown: unknown) => {
      throw await this.#problem(method, thrown);
    });
    const read = CODEX_REQUESTS[method].result.safeParse(answer);
    if (read.success) return read.data as CodexResult<Name>;
    const message = `Codex ${this.#version} answered ${method} in words that Flint does not know; \`flint doctor\` compares the versions.`;
    throw new FlintError("agentFailed", message, { method }, { cause: read.error });
  }

  /** Tells what happens in a thread from now on, after what was told already. The returned function ends it. */
  listen(threadId: string, listener: ThreadListener): () => void {
    this.#listeners.set(threadId, listener);
    const before = this.#before.get(threadId) ?? [];
    this.#before.delete(threadId);
    for (const notification of before) listener.notification(notification);
    return () => {
      if (this.#listeners.get(threadId) === listener) this.#listeners.delete(threadId);
    };
  }

  /** What its end means for whoever needed it. */
  failure(): Promise<FlintError> {
    return this.#process.failure();
  }

  /** Ends it and all it started. */
  async close(): Promise<void> {
    await this.#process.stop();
    await this.ended;
  }

  async #hello(version: string): Promise<void> {
    const clientInfo = { name: "flint", title: "Flint", version };
    const capabilities = { experimentalApi: true, requestAttestation: false };
    const { userAgent } = await this.request("initialize", { clientInfo, capabilities }, this.#timing.start);
    this.#version = /^[^/\s]+\/(\S+)/.exec(userAgent)?.[1] ?? "";
    this.#peer.notify("initialized");
  }

  /** A program that closed its output is of no use, whether it still runs or not. */
  async #end(): Promise<void> {
    await Promise.race([this.#peer.closed, this.#process.exited]);
    this.#isRunning = false;
    await this.#process.stop();
    await this.#process.exited;
    this.#peer.close();
  }

  async #problem(method: string, thrown: unknown): Promise<FlintError> {
    if (thrown instanceof PeerClosedError) return this.failure();
    if (thrown instanceof RemoteError) return new FlintError("agentFailed", thrown.message, { method });
    const message = `Codex did not answer ${method} in time.`;
    return new FlintError("agentFailed", message, { method }, { cause: thrown });
  }

  #onNotification(method: string, params: unknown): void {
    const notification = readCodexNotification(method, params);
    if (notification === undefined) {
      this.#count();
      return;
    }
    const threadId = threadIdOf(notification.params);
    if (threadId === undefined)
      for (const listener of this.#listeners.values()) listener.notification(notification);
    else this.#tell(threadId, notification);
  }

  #tell(threadId: string, notification: CodexNotification): void {
    const listener = this.#listeners.get(threadId);
    if (listener !== undefined) {
      listener.notification(notification);
      return;
    }
    const before = this.#before.get(threadId) ?? [];
    if (before.length < KEPT_BEFORE && this.#before.size < KEPT_BEFORE) before.push(notification);
    this.#before.set(threadId, before);
  }

  #onCall(id: Id, method: string, params: unknown): void {
    const call = readCodexServerCall(method, params);
    if (call === undefined) {
      this.#count();
      this.#peer.replyError(id, {
        code: STANDARD_CODES.methodNotFound,
        message: `Flint does not support ${method}.`,
      });
      return;
    }
    const listener = this.#askedBy(call);
    if (typeof listener === "string") {
      this.#peer.replyError(id, { code: STANDARD_CODES.invalidParams, message: listener });
      return;
    }
    listener.call(call).then(
      (result) => this.#peer.reply(id, result),
      (error: unknown) =>
        this.#peer.replyError(id, { code: STANDARD_CODES.internalError, message: messageOf(error) }),
    );
  }

  /** Who answers for the thread of a call; if nobody can, why. Former versions do not always say which thread it is. */
  #askedBy({ method, params }: CodexServerCall): ThreadListener | string {
    const threadId = threadIdOf(params);
    if (threadId !== undefined) return this.#listeners.get(threadId) ?? NOBODY;
    const [working, ...others] = [...this.#listeners.values()].filter((known) => known.isWorking?.());
    if (others.length === 0) return working ?? NOBODY;
    return `${method} does not name its thread, and turns run in ${others.length + 1} of them; nobody could be asked.`;
  }

  #count(): void {
    this.#unknown += 1;
  }
}

/** The thread that a message is about, in the words of either family of methods. */
function threadIdOf(params: object): string | undefined {
  const thread: unknown = Reflect.get(params, "thread");
  const found: unknown =
    Reflect.get(params, "threadId") ??
    Reflect.get(params, "conversationId") ??
    Reflect.get(Object(thread), "id");
  return typeof found === "string" ? found : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
