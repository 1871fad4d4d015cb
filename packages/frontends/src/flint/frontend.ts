import { FLINT } from "@flint/protocol";
import { TableFrontend } from "../shared/table-frontend.ts";
import { events } from "./events.ts";
import { requests } from "./requests.ts";

/** Flint's own protocol: the methods and events of the core as they are, JSON lines without the `jsonrpc` field. */
export function flintFrontend(): TableFrontend<typeof FLINT> {
  return new TableFrontend({ vocabulary: FLINT, initializeFirst: true, requests, events });
}
