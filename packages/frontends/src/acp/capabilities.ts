import type { ClientCapabilitiesInput } from "./requests.ts";

/** The capabilities of a client that Flint makes use of. */
export interface ClientCapabilities {
  /** Shows forms (`elicitation/create`). */
  readonly forms: boolean;
  readonly notices: boolean;
  readonly compaction: boolean;
  /** Shows boolean config options as switches, not only lists of values. */
  readonly booleanOptions: boolean;
  /** Runs login commands in a terminal of its own. */
  readonly terminalAuth: boolean;
  /** Takes `current_model_update`, which is not part of the protocol. */
  readonly modelUpdates: boolean;
  /** Reads files as they are in the editor, saved or not (`fs/read_text_file`). */
  readonly readTextFile: boolean;
  /** Writes files, in the editor and on the disk (`fs/write_text_file`). */
  readonly writeTextFile: boolean;
  /** Runs commands in terminals of its own (`terminal/create`). */
  readonly terminal: boolean;
  /** Shows command output in terminals, under a `_meta` key in version 1. */
  readonly terminalOutput: boolean;
}

/** A client that declares nothing. */
export const NO_CAPABILITIES: ClientCapabilities = {
  forms: false,
  notices: false,
  compaction: false,
  booleanOptions: false,
  terminalAuth: false,
  modelUpdates: false,
  readTextFile: false,
  writeTextFile: false,
  terminal: false,
  terminalOutput: false,
};

/** The capabilities a version 1 client declares. Null, absent and false mean no; an object or true means yes. */
export function capabilitiesV1(given: ClientCapabilitiesInput | null | undefined): ClientCapabilities {
  if (given === null || given === undefined) return NO_CAPABILITIES;
  const { session, auth, elicitation, fs, _meta } = given;
  return {
    forms: isSet(elicitation?.form),
    notices: isSet(session?.notices),
    compaction: isSet(session?.compaction),
    booleanOptions: isSet(session?.configOptions?.boolean),
    terminalAuth: isSet(auth?.terminal) || isSet(_meta?.["terminal-auth"]),
    modelUpdates: isSet(_meta?.current_model_update),
    readTextFile: fs?.readTextFile === true,
    writeTextFile: fs?.writeTextFile === true,
    terminal: given.terminal === true,
    terminalOutput: isSet(_meta?.terminal_output),
  };
}

/**
 * The capabilities of a version 2 client: notices, compaction, switches and the display of terminals are part of the
 * version, and it has neither `fs` nor terminals that run commands.
 */
export function capabilitiesV2(given: ClientCapabilitiesInput | null | undefined): ClientCapabilities {
  const { forms, terminalAuth } = capabilitiesV1(given);
  const always = { notices: true, compaction: true, booleanOptions: true, terminalOutput: true };
  return { ...NO_CAPABILITIES, forms, terminalAuth, ...always };
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}
