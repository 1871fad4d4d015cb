import type { Method, Params, Result } from "@flint/protocol";
import type { Client } from "../shared/frontend.ts";

/** Calls the core and gives its answer. Events that the call causes may be told before whoever waits goes on. */
export function answerOf<Name extends Method>(
  client: Client,
  method: Name,
  params: Params<Name>,
): Promise<Result<Name>> {
  return client.core.call(method, params);
}
