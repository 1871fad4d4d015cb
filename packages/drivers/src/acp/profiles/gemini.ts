import { type AcpProfile, GENERIC } from "./profile.ts";

/**
 * Gemini 0.61: announces a call that needs permission only in the request for it, cannot create files through a client,
 * cancels a turn when a second one comes, and cannot load a session of another process.
 */
export const GEMINI: AcpProfile = {
  ...GENERIC,
  id: "gemini",
  displayName: "Gemini",
  command: ["gemini", "--acp"],
  install: "npm install -g @google/gemini-cli",
  login: { command: "gemini", hint: "gemini (and choose a way to log in), or set GEMINI_API_KEY" },
  ownVariables: /^(?:GEMINI_|GOOGLE_)/,
  folders: [
    {
      path: ".gemini",
      movedBy: { variable: "GEMINI_CLI_HOME", below: ".gemini" },
      keeps: ["oauth_creds.json", "google_accounts.json"],
      // Programs that it runs, repositories whose settings git obeys, and a list that it can rebuild.
      hides: ["tmp", "history", "projects.json"],
      rest: "private",
    },
  ],
  autonomousModes: ["autoEdit", "yolo"],
  modes: [
    { id: "default", name: "Default" },
    { id: "autoEdit", name: "Auto Edit" },
    { id: "yolo", name: "YOLO" },
    { id: "plan", name: "Plan" },
  ],
  apiKeyLogin: { methodId: "gemini-api-key", variable: "GEMINI_API_KEY" },
};
