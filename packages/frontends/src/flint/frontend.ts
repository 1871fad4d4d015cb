import { FLINT, METHODS, type Method, type Params, type Result } from "@flint/protocol";
import { type RequestCall, type RequestTable, TableFrontend } from "../shared/table-frontend.ts";
import { events } from "./events.ts";

/** Flint's own protocol: the methods and events of the core as they are, JSON lines without the `jsonrpc` field. */
export function flintFrontend(): TableFrontend<typeof FLINT> {
  const announcesThreads = true;
  return new TableFrontend({ vocabulary: FLINT, initializeFirst: true, announcesThreads, requests, events });
}

/** Every method is a call of the core as it stands, and its result the answer. */
function identityTable(): RequestTable<typeof FLINT> {
  const entries = Object.keys(METHODS).map((method) => {
    const toCall = (params: Params<Method>) => ({
      method,
      params,
      answer: (result: Result<Method>) => result,
    });
    // Params and result belong to the method of the same row, which the union cannot express.
    return [method, toCall as unknown as (params: never) => RequestCall] as const;
  });
  // Made from the keys of the table itself, so it is exhaustive by construction.
  return Object.fromEntries(entries) as unknown as RequestTable<typeof FLINT>;
}

/** Maps the requests of Flint's own protocol to calls of the core. */
export const requests: RequestTable<typeof FLINT> = identityTable();
