import { FLINT } from "@flint/protocol";
import type { Dialect } from "../dialect.ts";
import { inbound } from "./inbound.ts";
import { outbound } from "./outbound.ts";

/** Flint's own door: the words of the core as they are, JSON lines without the `jsonrpc` field. */
export const flintDialect: Dialect<typeof FLINT> = {
  vocabulary: FLINT,
  initializeFirst: true,
  inbound,
  outbound,
};
