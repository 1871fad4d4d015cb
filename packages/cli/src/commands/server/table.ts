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
  },
};
