import type { ClientHost } from "@flint/core/ports";
import type { FlintError, ThreadEvent, Vocabulary } from "@flint/protocol";
import type { Id, Reading, RequestOptions, RpcError } from "@flint/rpc";
import type { CoreCalls } from "./core-calls.ts";

/** One protocol that clients speak to Flint. There is one object per server; it holds what its clients share. */
export interface Frontend {
  readonly vocabulary: Vocabulary;
  /** True if `initialize` has to be the first request. */
  readonly initializeFirst: boolean;
  /** Strictness of reading lines, where this protocol differs from the default. */
  readonly reading?: Reading;
  /** Called once per client. Must not send anything yet. */
  serve(client: Client): ClientHandler;
}

/** The client as its handler sees it. */
export interface Client {
  readonly core: CoreCalls;
  /** Notes what the client calls itself, for the other clients of its threads. */
  introduce(name: string): void;
  /** Sends a notification. */
  notify(method: string, params: object): void;
  /** Sends a line that was encoded once for many clients. */
  sendLine(line: string): void;
  /** Sends a request. Rejects with RemoteError if the client refuses, and with the signal's reason when aborted. */
  request(method: string, params: object, options?: RequestOptions): Promise<unknown>;
  /** Has the client run unconfined commands of a thread, and use its files in place of the disk; undefined: no longer. */
  provideHost(threadId: string, host: ClientHost | undefined): void;
  /** Reports whether the client is subscribed to a thread. */
  isSubscribed(threadId: string): boolean;
  /** Reports whether the client is subscribed to a thread and no other client is. */
  isOnlySubscriber(threadId: string): boolean;
}

/** Handles what one client sends and what happens in its threads. */
export interface ClientHandler {
  /** Answers a request through its context. Rejects with a FlintError, which `errorOf` turns into the answer. */
  request(params: unknown, context: RequestContext): Promise<void>;
  /** Takes a notification of the client. Unknown ones are ignored. */
  notification(method: string, params: unknown): void | Promise<void>;
  /** Takes an event of a thread that the client is subscribed to. */
  event(event: ThreadEvent): void;
  /** Takes an event that changes the list of threads, of a thread that the client is not subscribed to. */
  threadListEvent?(event: ThreadEvent): void;
  /** An error as this protocol reports it. */
  errorOf(error: FlintError): RpcError;
  /** The answer to a line that is not a message; undefined for none. Absent: what `errorOf` makes of it. */
  malformed?(error: FlintError): RpcError | undefined;
  /** The client is gone: forgets everything, and sends nothing any more. */
  close?(): void;
}

/** Context of a request, passed to its handler beside its params. A request is answered once; what comes after is dropped. */
export interface RequestContext<Answer = unknown> {
  /** The client's id for this request. */
  readonly id: Id;
  readonly method: string;
  readonly core: CoreCalls;
  /** Answers the request. Throws on an answer that JSON cannot hold. */
  reply(answer: Answer): void;
  /** Answers the request with a result that is JSON already. */
  replyEncoded(json: string): void;
}
