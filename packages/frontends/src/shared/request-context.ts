import type { Id } from "@flint/rpc";
import type { CoreCalls } from "./core-calls.ts";

/** What the handler of a request is given beside its params. A request is answered once; what comes after is dropped. */
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
