import type { Suite } from "../check.ts";
import { HANDSHAKE } from "./handshake.ts";
import { NONSENSE } from "./malformed.ts";
import { PROMPTS } from "./prompts.ts";
import { SESSIONS } from "./sessions.ts";

/** What an agent has to do for the clients of the Agent Client Protocol, version 1. */
export const ACP_SUITE: Suite = {
  protocol: "acp",
  header: true,
  groups: [HANDSHAKE, NONSENSE, PROMPTS, SESSIONS],
  // Agents differ in what they tell on the side, and in what they offer to choose.
  tolerances: {
    optionalMessages: ["session/update", "_", "$/"],
    unordered: [],
    errors: "fact",
    optionalFields: ["*.modes", "*.models", "*.configOptions", "*._meta"],
  },
};
