import type { Method, Params, Result } from "@flint/protocol";
import type { DeskClient } from "../desk.ts";

/** Calls the core and gives its answer. Events that the call causes may be told before whoever waits goes on. */
export function answerOf<Name extends Method>(
  client: DeskClient,
  method: Name,
  params: Params<Name>,
): Promise<Result<Name>> {
  return new Promise((resolve, reject) => {
    client.call(method, params, resolve).catch(reject);
  });
}
