import { type Flags, SERVER_FLAGS } from "../flags.ts";

/** The options of `flint exec`. */
export const EXEC_FLAGS = {
  resume: {
    type: "string",
    short: "r",
    takes: "THREAD",
    doc: "go on with a thread: its id, the beginning of it, or its name",
  },
  continue: { type: "boolean", short: "c", doc: "go on with the newest thread of this folder" },
  image: {
    type: "string",
    short: "i",
    multiple: true,
    takes: "FILE",
    doc: "send a picture along (png, jpeg, gif, webp)",
  },
  "output-schema": {
    type: "string",
    takes: "FILE",
    doc: "a JSON Schema for the answer; piped, nothing but the answer is printed",
  },
  json: { type: "boolean", doc: "print every event as one line of JSON" },
  "experimental-json": {
    type: "boolean",
    doc: "do as `codex exec --experimental-json` does, with its options, for programs that start that",
  },
  quiet: { type: "boolean", short: "q", doc: "print only the last message" },
  ephemeral: { type: "boolean", doc: "do not keep the thread" },
  "max-tokens": { type: "string", takes: "N", doc: "stop and ask after this many tokens" },
  "max-cost": { type: "string", takes: "USD", doc: "stop and ask after this much money" },
  "max-time": { type: "string", takes: "SECONDS", doc: "stop and ask after this much time at work" },
  "max-steps": { type: "string", takes: "N", doc: "stop and ask after this many calls of the model" },
  ...SERVER_FLAGS,
} as const satisfies Flags;
