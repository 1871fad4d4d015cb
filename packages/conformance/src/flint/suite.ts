import { FLINT } from "@flint/protocol";
import type { Suite } from "../check.ts";
import { vocabularyChecks } from "../vocabulary-check.ts";
import { CONNECTIONS } from "./connections.ts";
import { MANNERS } from "./protocol-errors.ts";
import { WORK } from "./work.ts";

/** What a server of Flint's own protocol has to do. */
export const FLINT_SUITE: Suite = {
  protocol: "flint",
  header: FLINT.header,
  groups: [MANNERS, WORK, CONNECTIONS, vocabularyChecks(FLINT)],
  tolerances: { optionalMessages: [], unordered: [], errors: "words", optionalFields: [] },
};
