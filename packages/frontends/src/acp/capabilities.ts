import type { ClientAbilitiesInput } from "./requests.ts";

/** What a client can take and do, as far as this door makes use of it. */
export interface ClientAbilities {
  /** It shows forms. */
  readonly forms: boolean;
  readonly notices: boolean;
  readonly compaction: boolean;
  /** It has switches beside lists of choices. */
  readonly switches: boolean;
  /** It runs login commands in a terminal of its own. */
  readonly terminalLogin: boolean;
  /** It wants to hear of another model by a word of its own, which the protocol does not have. */
  readonly modelUpdates: boolean;
  /** It gives the text of files as they stand in it, saved or not. */
  readonly files: boolean;
  /** It shows the output of commands in terminals, under a key that stands beside the protocol. */
  readonly terminalOutput: boolean;
}

/** A client that said nothing about itself. */
export const NO_ABILITIES: ClientAbilities = {
  forms: false,
  notices: false,
  compaction: false,
  switches: false,
  terminalLogin: false,
  modelUpdates: false,
  files: false,
  terminalOutput: false,
};

/** What a client says it can. Null, absent and false mean no; an object or true means yes. */
export function abilitiesOf(given: ClientAbilitiesInput | null | undefined): ClientAbilities {
  if (given === null || given === undefined) return NO_ABILITIES;
  const { session, auth, elicitation, fs, _meta } = given;
  return {
    forms: isThere(elicitation?.form),
    notices: isThere(session?.notices),
    compaction: isThere(session?.compaction),
    switches: isThere(session?.configOptions?.boolean),
    terminalLogin: isThere(auth?.terminal) || isThere(_meta?.["terminal-auth"]),
    modelUpdates: isThere(_meta?.current_model_update),
    files: fs?.readTextFile === true,
    terminalOutput: isThere(_meta?.terminal_output),
  };
}

/** What a client of the second version can: it always shows notices, compactions, switches and terminals. */
export function abilitiesOfV2(given: ClientAbilitiesInput | null | undefined): ClientAbilities {
  const { forms, terminalLogin } = abilitiesOf(given);
  const always = { notices: true, compaction: true, switches: true, terminalOutput: true };
  return { forms, terminalLogin, modelUpdates: false, files: false, ...always };
}

/** Clients with the same key get the same lines. */
export function encodingKey({ notices, compaction, terminalOutput }: ClientAbilities): string {
  return `${Number(notices)}${Number(compaction)}${Number(terminalOutput)}`;
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}
