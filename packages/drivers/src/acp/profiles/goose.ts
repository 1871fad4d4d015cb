import { type AcpProfile, GENERIC } from "./profile.ts";

/** Goose. */
export const GOOSE: AcpProfile = {
  ...GENERIC,
  id: "goose",
  displayName: "Goose",
  command: ["goose", "acp"],
  login: { command: "goose configure", hint: "goose configure" },
  ownVariables: /^GOOSE_/,
  folders: [
    { path: ".config/goose", keeps: [], rest: "private" },
    { path: ".local/share/goose", keeps: ["sessions/"], rest: "private" },
    { path: ".local/state/goose", keeps: [], rest: "private" },
  ],
  stopsWhenIdle: true,
  autonomousModes: ["auto", "smart_approve"],
  askVariables: { GOOSE_MODE: "approve" },
  offlineVariables: (address) => ({
    GOOSE_PROVIDER: "openai",
    GOOSE_MODEL: "offline",
    OPENAI_HOST: address,
    OPENAI_API_KEY: "offline",
  }),
};
