import type { FlintError, Method, Params, Result, ThreadEvent, Vocabulary } from "@flint/protocol";
import type { Id, Reading, RequestOptions, RpcError } from "@flint/rpc";

/** What a desk can do for its client. */
export interface DeskClient {
  /** Calls the core. `respond` gets the result before any event that the call causes is told. Rejects with a FlintError. */
  call<Name extends Method>(
    method: Name,
    params: Params<Name>,
    respond: (result: Result<Name>) => void,
  ): Promise<void>;
  /** Tells the client. */
  notify(method: string, params: object): void;
  /** Sends a line that was encoded once for many clients. */
  sendLine(line: string): void;
  /** Asks the client. Rejects with RemoteError if it says no, with the signal's reason if nobody waits any more. */
  ask(method: string, params: object, options?: RequestOptions): Promise<unknown>;
  /** Whether the client follows a thread. */
  follows(threadId: string): boolean;
  /** Whether the client follows a thread that nobody else follows. */
  alone(threadId: string): boolean;
  /** Sends what is queued, then lets the client go. */
  leave(): Promise<void>;
}

/** Serves one client in the words of one door. */
export interface Desk {
  /**
   * Answers a request with `reply`, once. Rejects with a FlintError if there is no answer; what is sent then is what
   * `refusal` makes of it. `id` is what the client calls the request, for doors whose clients take requests back.
   */
  request(method: string, params: unknown, reply: (answer: unknown) => void, id: Id): Promise<void>;
  /** Takes what the client tells. What it does not know is ignored. */
  notification(method: string, params: unknown): void | Promise<void>;
  /** Takes what happens in a thread that the client follows. */
  tell(event: ThreadEvent): void;
  /** Takes what changes the list of threads, of threads that the client does not follow. Absent: no interest. */
  announced?(event: ThreadEvent): void;
  /** A failure in the words of this door. */
  refusal(error: FlintError): RpcError;
  /** What is answered to a line that is no message; undefined is nothing. Absent: what `refusal` makes of it. */
  nonsense?(error: FlintError): RpcError | undefined;
  /** The client is gone. */
  closed?(): void;
}

/** What all clients of a door share, such as events that are encoded once for all of them. */
export interface DoorService {
  open(client: DeskClient): Desk;
}

/** A front door whose words need memory: its clients get desks of their own. */
export interface ServedDialect {
  readonly vocabulary: Vocabulary;
  /** How strictly lines are read, where the usual way is not that of this wire. */
  readonly reading?: Reading;
  /** Opens the door; called once for each server. */
  serve(): DoorService;
}
