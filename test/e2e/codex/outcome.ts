import type { WireClient } from "@flint/testkit";
import { type Fields, fields } from "./server-under-test.ts";
import { shapeDifferences } from "./shape.ts";

/** The outcome of one step: an answer, an error, or the order of the messages of a turn. */
export type Outcome =
  | { readonly result: unknown }
  | { readonly refusal: string }
  | { readonly order: readonly string[] };

/** Returns the answer of a server to one request. */
export async function outcomeOf(
  client: WireClient,
  id: number,
  method: string,
  params: unknown,
): Promise<Outcome> {
  client.send({ id, method, params });
  const { result, error } = await client.waitFor(
    (message) => message.id === id && message.method === undefined,
  );
  return error === undefined ? { result } : { refusal: refusalOf(fields(error)) };
}

/** Returns the differences of two servers in the outcome of the same step. */
export function differences(theirs: Outcome | undefined, mine: Outcome | undefined): string[] {
  if (theirs === undefined || mine === undefined) return ["one of them did not answer"];
  if ("result" in theirs && "result" in mine) return shapeDifferences(theirs.result, mine.result);
  const [there, here] = [JSON.stringify(theirs), JSON.stringify(mine)];
  return there === here ? [] : [`${there} there, ${here} here`];
}

/** Ids differ from server to server. */
function refusalOf({ code, message }: Fields): string {
  const text = String(message).replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "<id>");
  return `${code} ${text}`;
}
