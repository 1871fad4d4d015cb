/** The version of Codex whose protocol this is, as its `codex app-server generate-ts` prints it. */
export const CODEX_VERSION = "0.166.0";
