/** Where, in a state folder, the server that runs for it is found, and what lets clients in. */
export const RUN_FILES = {
  folder: "run",
  server: "run/server.json",
  token: "run/token",
  log: "run/server.log",
} as const;
