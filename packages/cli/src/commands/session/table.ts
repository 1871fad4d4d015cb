import { command } from "../../command-line/command.ts";
import { RESUME_FLAGS, SESSION_FLAGS } from "./flags.ts";

const NOTES = [
  "If a server is running for the same state folder, the session joins it; otherwise one is started in the background.",
  "The thread continues there when you close the terminal, and other clients can attach to it.",
  "--policy, --trace, --durability, --approval-timeout, --allow-unconfined and full access configure a server, so with",
  "them the session runs its own server, which stops when the session ends.",
];

/** `flint` without a command. */
export const session = command({
  summary: "Open a session in the terminal",
  usage: '["PROMPT"]',
  flags: SESSION_FLAGS,
  examples: ["flint", 'flint "fix the failing test"', "flint --agent claude"],
  notes: NOTES,
  run: async (given) => (await import("./session.ts")).session(given),
});

/** `flint resume`. */
export const resume = command({
  summary: "Resume a thread in the terminal",
  usage: "[THREAD]",
  flags: RESUME_FLAGS,
  examples: ["flint resume", "flint resume --last", "flint resume 019a"],
  notes: [
    "THREAD is a thread id, the beginning or end of one, a name, or `last` (the latest in this folder).",
    "Without it, you choose from a list.",
    ...NOTES,
  ],
  run: async (given) => (await import("./session.ts")).resume(given),
});
