import { HARNESS } from "@flint/protocol";
import type { Dialect } from "../dialect.ts";
import { inbound } from "./inbound.ts";
import { outbound } from "./outbound.ts";

/** The harness door: dotted methods, approvals as notifications, history as the same notifications. */
export const harnessDialect: Dialect<typeof HARNESS> = {
  vocabulary: HARNESS,
  initializeFirst: false,
  inbound,
  outbound,
};
