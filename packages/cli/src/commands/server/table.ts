import { type CommandGroup, command } from "../../command-line/command.ts";
import { HELP_FLAG, JSON_FLAG } from "../../command-line/flags.ts";

/** The commands for the running server of the state folder. */
export const server: CommandGroup = {
  summary: "Show and stop the running server, and read its log",
  commands: {
    status: command({
      summary: "Show the running server: process, clients, threads and addresses",
      usage: "",
      flags: { ...JSON_FLAG, ...HELP_FLAG },
      examples: ["flint server status", "flint server status --json"],
      notes: ["Exits with 1 if no server is running for the state folder."],
      run: async (given) => (await import("./server.ts")).serverStatus(given),
    }),
    stop: command({
      summary: "Stop the running server; running turns are interrupted and stored",
      usage: "",
      flags: HELP_FLAG,
      examples: ["flint server stop"],
      notes: ["A terminal session that is open starts it again: close the sessions first."],
      run: async (given) => (await import("./server.ts")).stopServer(given),
    }),
    logs: command({
      summary: "Print the log of the background server",
      usage: "",
      flags: {
        follow: { type: "boolean", short: "f", doc: "Keep printing new lines" },
        ...HELP_FLAG,
      },
      examples: ["flint server logs", "flint server logs -f"],
      notes: [
        "Only background servers write this log: those started by flint, flint tasks or flint connect --start.",
      ],
      run: async (given) => (await import("./logs.ts")).serverLogs(given),
    }),
    token: command({
      summary: "Create, list and revoke tokens with fewer rights than the server's own",
      usage: "create|list|revoke [NAME]",
      values: ["create", "list", "revoke"],
      flags: {
        name: { type: "string", takes: "NAME", doc: "Name of the new token" },
        rights: {
          type: "string",
          takes: "RIGHTS",
          doc: "What it allows: tasks:add, tasks:answer, tasks:admin, separated by commas",
        },
        ...JSON_FLAG,
        ...HELP_FLAG,
      },
      examples: [
        "flint server token create --name ci --rights tasks:add",
        "flint server token list",
        "flint server token revoke ci",
      ],
      notes: [
        "The token is printed once and stored as a hash. Creating and revoking a token takes effect at once, also for connected clients.",
      ],
      run: async (given) => (await import("./token.ts")).serverToken(given),
    }),
  },
};
