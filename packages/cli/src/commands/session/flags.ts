import { type Flags, SERVER_FLAGS } from "../../command-line/flags.ts";

/** The options of a session in the terminal. */
export const SESSION_FLAGS = {
  screen: {
    type: "string",
    takes: "MODE",
    values: ["inline", "full", "plain"],
    doc: "How to draw: inline (default; finished rows go to the terminal's scrollback), full (the whole screen), plain (labelled lines, for screen readers)",
  },
  ...SERVER_FLAGS,
} as const satisfies Flags;

/** The options of `flint resume`. */
export const RESUME_FLAGS = {
  last: { type: "boolean", doc: "Resume the latest thread of this folder" },
  ...SESSION_FLAGS,
} as const satisfies Flags;
