import { type CommandGroup, command } from "../../command-line/command.ts";
import { HELP_FLAG, JSON_FLAG } from "../../command-line/flags.ts";

/** The commands for the programs of agents. */
export const agents: CommandGroup = {
  summary: "List, install and remove coding agents",
  aliases: { ls: "list", rm: "remove" },
  bare: "list",
  commands: {
    list: command({
      summary: "List known agents and their installed versions",
      usage: "",
      flags: { ...JSON_FLAG, ...HELP_FLAG },
      examples: ["flint agents", "flint agents ls --json"],
      run: async (given) => (await import("./agents.ts")).listAgents(given),
    }),
    install: command({
      summary: "Install the version of an agent that Flint is tested with",
      usage: "NAME",
      flags: HELP_FLAG,
      examples: ["flint agents install claude", "flint agents install codex"],
      notes: [
        "Downloads the agent with npm into your state folder, verifies its hash, and runs no install scripts. Flint then",
        "uses it instead of one on PATH, unless agents.NAME.command is set.",
      ],
      run: async (given) => (await import("./agents.ts")).installAgents(given),
    }),
    remove: command({
      summary: "Remove an agent that Flint installed",
      usage: "NAME",
      flags: HELP_FLAG,
      examples: ["flint agents remove claude"],
      run: async (given) => (await import("./agents.ts")).removeAgents(given),
    }),
  },
};
