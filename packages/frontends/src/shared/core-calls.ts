import type { EventData, Method, Params, Result } from "@flint/protocol";

/** The one way to call the core. */
export interface CoreCalls {
  /**
   * Resolves with the result, or rejects with a FlintError. Events that the call causes may be sent before the caller
   * continues; `respond` gets the result before any of them is.
   */
  call<Name extends Method>(
    method: Name,
    params: Params<Name>,
    respond?: (result: Result<Name>) => void,
  ): Promise<Result<Name>>;
}

/** A call of the core as a value, for what is translated purely and called elsewhere. */
export type CoreCall<Names extends Method = Method> = {
  [Name in Names]: { readonly method: Name; readonly params: Params<Name> };
}[Names];

/** Makes a call that was given as a value. */
export function callCore(
  core: CoreCalls,
  { method, params }: CoreCall,
  respond?: (result: Result<Method>) => void,
): Promise<Result<Method>> {
  // A call holds a method with its own params; the union has lost which belong together.
  return core.call(method, params as Params<typeof method>, respond);
}

type Attached = Pick<Result<"thread/attach">, "thread" | "usage" | "lastUsage" | "cost">;

/** The latest token usage of a thread, for a client that subscribes later; undefined if there was none yet. */
export function lastUsageOf({
  thread,
  usage,
  lastUsage,
  cost,
}: Attached): EventData<"thread/tokenUsage/updated"> | undefined {
  if (lastUsage === undefined) return undefined;
  const { turnId, usage: last, modelContextWindow } = lastUsage;
  return {
    threadId: thread.id,
    turnId,
    usage,
    last,
    ...(modelContextWindow === undefined ? {} : { modelContextWindow }),
    ...(cost === undefined ? {} : { cost }),
  };
}
