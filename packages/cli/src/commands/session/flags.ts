import { type Flags, SERVER_FLAGS } from "../../command-line/flags.ts";
import { LIMIT_FLAGS } from "../../command-line/limit-flags.ts";

/** The options of `flint resume` and `flint`. */
const OPEN_FLAGS = {
  screen: {
    type: "string",
    takes: "MODE",
    values: ["inline", "full", "plain"],
    doc: "How to draw: inline (default; finished rows go to the terminal's scrollback), full (the whole screen), plain (labelled lines, for screen readers)",
  },
  ...SERVER_FLAGS,
} as const satisfies Flags;

/** The options of a session with a new thread. */
export const SESSION_FLAGS = { ...LIMIT_FLAGS, ...OPEN_FLAGS } as const satisfies Flags;

/** The options of `flint resume`: the limits are those of the thread. */
export const RESUME_FLAGS = {
  last: { type: "boolean", doc: "Resume the latest thread of this folder" },
  ...OPEN_FLAGS,
} as const satisfies Flags;
