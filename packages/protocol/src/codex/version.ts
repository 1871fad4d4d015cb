/** The version of Codex whose words these are, as `codex app-server generate-ts` of that version prints them. */
export const CODEX_VERSION = "0.166.0";
