import { HARNESS } from "@flint/protocol";
import { TableFrontend } from "../shared/table-frontend.ts";
import { events } from "./events.ts";
import { requests } from "./requests.ts";

/** The harness protocol: dotted methods, approvals as notifications, history as the same notifications. */
export function harnessFrontend(): TableFrontend<typeof HARNESS> {
  return new TableFrontend({ vocabulary: HARNESS, initializeFirst: false, requests, events });
}
