import type { Suite } from "../check.ts";
import { APPROVALS } from "./approvals.ts";
import { CATALOGUE } from "./catalogue.ts";
import { CONNECTIONS } from "./connections.ts";
import { HANDSHAKE } from "./handshake.ts";
import { NONSENSE } from "./malformed.ts";
import { FREE } from "./order.ts";
import { TAKING_UP } from "./resume.ts";
import { THREADS } from "./threads.ts";
import { TURNS } from "./turns.ts";

/** Fields that the schemas let be null or absent, that belong to Codex itself, and that no client was seen to need. */
const OPTIONAL = [
  "answer to config/read.config",
  "answer to config/read.origins",
  "answer to configRequirements/read.supportsIndependentSpeedModes",
  "item/commandExecution/requestApproval.proposedExecpolicyAmendment",
  "*.backwardsCursor",
  "*.completedAtMs",
  "*.item.id",
  "*.originator",
  "*.path",
  "*.readStates",
  "*.startedAtMs",
];

/** What a server has to do for the clients of the Codex app server 0.166, as that server itself does it. */
export const CODEX_SUITE: Suite = {
  protocol: "codex",
  header: false,
  groups: [HANDSHAKE, NONSENSE, THREADS, TAKING_UP, TURNS, APPROVALS, CONNECTIONS, CATALOGUE],
  tolerances: {
    optionalMessages: [...FREE, "thread/tokenUsage/updated"],
    unordered: ["thread/status/changed", "serverRequest/resolved"],
    errors: "words",
    optionalFields: OPTIONAL,
  },
};
