/** Any object of a wire. */
export type Fields = Readonly<Record<string, unknown>>;

/** A request: its method and its params. */
export type Call = readonly [method: string, params: object];

/** What a client of a protocol sends and receives, for the few things that every client does. */
export interface ClientScript {
  /** Whether messages carry the `jsonrpc` member. */
  readonly header: boolean;
  readonly initialize: Call;
  startThread(cwd: string): Call;
  /** The id in the answer to `startThread`. */
  threadIdOf(answer: Fields): unknown;
  /** Subscribes to a thread that another client started. */
  attach(threadId: string, cwd: string): Call;
  prompt(threadId: string, text: string): Call;
  /** Whether a prompt is answered when its turn has ended, and by nothing else. */
  readonly answersAtEnd: boolean;
  /** A part of the line that reports the end of a turn. */
  readonly turnEnd: string;
  /** Whether a message asks for an approval. */
  isApproval(message: Fields): boolean;
  /** What answers an approval: a response, or a request of the client. */
  answer(approval: Fields, isAllowed: boolean): { readonly result: object } | { readonly call: Call };
  /** Whether a message says that an approval needs no answer any more. */
  isWithdrawal(message: Fields, approval: Fields): boolean;
}
