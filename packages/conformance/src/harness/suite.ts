import { HARNESS } from "@flint/protocol";
import type { Suite } from "../check.ts";
import { vocabularyChecks } from "../vocabulary-check.ts";
import { LIFECYCLE } from "./lifecycle.ts";
import { MANNERS } from "./protocol-errors.ts";

/** What a server of the harness protocol has to do. */
export const HARNESS_SUITE: Suite = {
  protocol: "harness",
  header: HARNESS.header,
  groups: [MANNERS, LIFECYCLE, vocabularyChecks(HARNESS)],
  tolerances: { optionalMessages: [], unordered: [], errors: "words", optionalFields: [] },
};
