import type { Method, Params, ParamsOf, RequestOf, Result, ThreadEvent, Vocabulary } from "@flint/protocol";

/** A request to the core, with how its result becomes the answer of this door. */
export type CoreCall = {
  [Name in Method]: {
    readonly method: Name;
    readonly params: Params<Name>;
    answer(result: Result<Name>): unknown;
    /** From where the client follows a thread when it has the answer, if it does not follow it already. */
    follow?(result: Result<Name>): Params<"thread/attach">;
  };
}[Method];

/** How each request of a door becomes a call of the core. Exhaustive: a missing method does not compile. */
export type Inbound<V extends Vocabulary> = {
  readonly [Name in RequestOf<V>]: (params: ParamsOf<V, Name>) => CoreCall;
};

/** What an event becomes at a door. */
export type Outbound =
  | { readonly kind: "tell"; readonly method: string; readonly params: object }
  | {
      /** A request to the client. `key` names what is open; the first answer of any client counts. */
      readonly kind: "ask";
      readonly method: string;
      readonly params: object;
      readonly threadId: string;
      readonly key: string;
      /** The call that an answer means. An answer that makes no sense is never consent. */
      answered(answer: unknown): CoreCall;
      /** The call for a client that cannot answer and is the only one there. */
      refused(message: string): CoreCall;
    }
  /** What was asked under this key needs no answer any more. */
  | { readonly kind: "settle"; readonly key: string };

/** One front door: its words, how its requests become core calls, how events become its messages. All pure. */
export interface Dialect<V extends Vocabulary = Vocabulary> {
  readonly vocabulary: V;
  /** Whether `initialize` has to be the first request. */
  readonly initializeFirst: boolean;
  readonly inbound: Inbound<V>;
  outbound(event: ThreadEvent): readonly Outbound[];
}

/** A core call whose result is the answer as it is. */
export function identityCall<Name extends Method>(method: Name, params: Params<Name>): CoreCall {
  const call = { method, params, answer: (result: Result<Name>): unknown => result };
  // The union cannot follow a generic name; method and params were checked together above.
  return call as unknown as CoreCall;
}
