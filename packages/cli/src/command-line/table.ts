import { agents } from "../commands/agents/table.ts";
import { execOrCodexExec } from "../commands/codex/shim.ts";
import { EXEC_FLAGS } from "../commands/exec/options.ts";
import { server } from "../commands/server/table.ts";
import { resume } from "../commands/session/table.ts";
import { tasks } from "../commands/tasks/table.ts";
import { threads } from "../commands/threads/table.ts";
import { worker, workers } from "../commands/worker/table.ts";
import { VERSION } from "../version.ts";
import { type Command, type CommandGroup, type CommandSection, command } from "./command.ts";
import { ACP_FLAGS, HELP_FLAG, JSON_FLAG, LISTEN_FLAGS, SERVER_FLAGS } from "./flags.ts";
import { integration } from "./integration-table.ts";
import { print } from "./output.ts";

const exec = command({
  summary: "Run a prompt and print what the agent does",
  usage: '"PROMPT"',
  flags: EXEC_FLAGS,
  examples: [
    'flint exec --offline "show me what you can do"          # the built-in model, without a key',
    'flint exec "what is in this folder?"',
    'flint exec "run the tests"',
    'flint exec --continue "now fix the first failure"      # needs a real model',
    'git diff | flint exec "is this change safe?"           # needs a real model',
  ],
  notes: [
    "If no agent or model is set up, the built-in offline model answers; it understands only a few simple requests.",
    "If a server is running for the same state folder, the thread runs there, with the permissions of this command;",
    "flint server status shows it. --policy, --trace, --durability, --approval-timeout, --allow-unconfined and full",
    "access configure a server, so with them the thread runs in this process.",
    "--continue and --resume keep the thread's model and folder, but not its permissions: each run uses your defaults.",
  ],
  run: async (given) => (await import("../commands/exec/exec.ts")).exec(given),
});

const compare = command({
  summary: "Give several agents the same task and keep one result",
  usage: '"PROMPT"',
  flags: {
    agents: { type: "string", takes: "NAMES", doc: "Agents or models, separated by commas" },
    check: {
      type: "string",
      takes: "COMMAND",
      multiple: true,
      doc: "Command that must succeed in each worktree (repeatable)",
    },
    diff: {
      type: "boolean",
      doc: "Print the diffs below the table, side by side if the terminal is wide enough",
    },
    ...JSON_FLAG,
    ...HELP_FLAG,
  },
  examples: ['flint compare "speed up the parser" --agents claude,codex,flint --check "npm test"'],
  notes: [
    "Each agent works in a worktree of its own, as a task. The result that you keep becomes a branch.",
    "Exits with 10 if you decide later, and with 1 if there is no result.",
    "To try it without API keys, run flint serve --listen local --offline first. In a session, it is /compare.",
  ],
  run: async (given) => (await import("../commands/compare/compare.ts")).compareAgents(given),
});

const serve = command({
  summary: "Serve one client on stdin and stdout, or many on sockets",
  usage: "[--stdio] [--listen ADDRESS]",
  flags: { ...LISTEN_FLAGS, ...SERVER_FLAGS },
  examples: [
    "flint serve --stdio",
    "flint serve --stdio --sandbox read-only",
    "flint serve --listen ws://127.0.0.1:4747",
    "flint serve --listen unix:/run/user/1000/flint.sock --protocol harness",
  ],
  notes: [
    "If a server is already running for the same state folder, serve --stdio joins it, so several clients share",
    "the same live threads. With --alone, or an option that configures the server, it starts its own server.",
    "A WebSocket client sends the token as Authorization: Bearer TOKEN; the path of its URL selects the protocol.",
  ],
  run: async (given) => (await import("../commands/serve/serve.ts")).serve(given),
});

const acp = command({
  summary: "Serve an editor over the Agent Client Protocol",
  usage: "",
  flags: { ...ACP_FLAGS, ...SERVER_FLAGS },
  examples: ["flint acp", "flint acp --agent claude", "flint acp --login codex"],
  notes: [
    "If a server is already running for the same state folder, the editor joins it and shares its live threads; see",
    "flint serve --help.",
  ],
  run: async (given) => (await import("../commands/serve/acp.ts")).acp(given),
});

const models = command({
  summary: "List the models you can use",
  usage: "",
  flags: { ...JSON_FLAG, ...HELP_FLAG },
  examples: ["flint models"],
  run: async (given) => (await import("../commands/models.ts")).models(given),
});

const limits = command({
  summary: "Show the usage limits of your agents' accounts",
  usage: "",
  flags: { ...JSON_FLAG, ...HELP_FLAG },
  examples: ["flint limits"],
  notes: ["Shows the latest reports from agents; no provider is contacted."],
  run: async (given) => (await import("../commands/limits.ts")).limits(given),
});

const config: CommandGroup = {
  summary: "Read and change your configuration",
  commands: {
    get: command({
      summary: "Print the configuration or one of its keys",
      usage: "[KEY]",
      flags: { ...JSON_FLAG, ...HELP_FLAG },
      examples: ["flint config get", "flint config get model"],
      run: async (given) => (await import("../commands/config.ts")).getConfig(given),
    }),
    set: command({
      summary: "Set a key in your configuration file",
      usage: "KEY VALUE",
      flags: HELP_FLAG,
      examples: [
        "flint config set model ollama/qwen3",
        "flint config set budget.turn.cost_usd 0.5",
        "flint config set writable_roots '[\"/srv/cache\"]'",
      ],
      run: async (given) => (await import("../commands/config.ts")).setConfig(given),
    }),
    unset: command({
      summary: "Remove a key from your configuration file",
      usage: "KEY",
      flags: HELP_FLAG,
      examples: ["flint config unset model"],
      run: async (given) => (await import("../commands/config.ts")).unsetConfig(given),
    }),
    path: command({
      summary: "Print the paths of the configuration files",
      usage: "",
      flags: HELP_FLAG,
      examples: ["flint config path"],
      run: async (given) => (await import("../commands/config.ts")).showPaths(given),
    }),
    keys: command({
      summary: "List every key and its values",
      usage: "",
      flags: HELP_FLAG,
      examples: ["flint config keys"],
      run: async (given) => (await import("../commands/config.ts")).listKeys(given),
    }),
  },
};

const rules: CommandGroup = {
  summary: 'List and remove your "always allow" rules',
  aliases: { ls: "list", rm: "remove" },
  commands: {
    list: command({
      summary: "List rules and their ids",
      usage: "",
      flags: {
        here: { type: "boolean", doc: "Only rules for the current folder" },
        ...JSON_FLAG,
        ...HELP_FLAG,
      },
      examples: ["flint rules list", "flint rules ls --here"],
      run: async (given) => (await import("../commands/permissions.ts")).listRules(given),
    }),
    remove: command({
      summary: "Remove a rule",
      usage: "ID",
      flags: HELP_FLAG,
      examples: ["flint rules remove 019a"],
      run: async (given) => (await import("../commands/permissions.ts")).removeRule(given),
    }),
  },
};

const trust = command({
  summary: "Review and trust this project's configuration",
  usage: "[DIR]",
  flags: {
    yes: { type: "boolean", short: "y", doc: "Trust the files without asking for confirmation" },
    revoke: { type: "boolean", doc: "Stop trusting this project's configuration" },
    ...JSON_FLAG,
    ...HELP_FLAG,
  },
  examples: ["flint trust", "flint trust --revoke"],
  notes: [
    "Lists the files that configure Flint and each agent (settings, hooks, plugins), programs that the repository's git settings run, and MCP server programs that agents can change.",
    "Trust applies to the exact content: a changed file is ignored until you trust it again.",
  ],
  run: async (given) => (await import("../commands/permissions.ts")).trust(given),
});

const doctor = command({
  summary: "Check agents, models, the sandbox and your configuration",
  usage: "",
  flags: { ...JSON_FLAG, ...HELP_FLAG },
  examples: ["flint doctor"],
  run: async (given) => (await import("../commands/doctor/doctor.ts")).doctor(given),
});

const completions = command({
  summary: "Print a completion script for your shell",
  usage: "[SHELL]",
  flags: HELP_FLAG,
  values: ["bash", "zsh", "fish"],
  examples: [
    "source <(flint completions bash)",
    "flint completions fish > ~/.config/fish/completions/flint.fish",
  ],
  run: async (given) => (await import("../commands/completions/completions.ts")).completions(given, COMMANDS),
});

const version = command({
  summary: "Print the version of Flint",
  usage: "",
  flags: HELP_FLAG,
  examples: ["flint version"],
  run: async () => print(`${VERSION}\n`),
});

/** Every command, under the headings of `flint --help`. Each is loaded only when it is called. */
export const SECTIONS: readonly CommandSection[] = [
  {
    title: "Run agents",
    commands: {
      resume,
      exec: execOrCodexExec(exec),
      tasks,
      compare,
      worker,
      workers,
      threads,
      models,
      limits,
    },
  },
  { title: "Serve editors and other clients", commands: { acp, serve, server } },
  { title: "Set up", commands: { doctor, agents, config, trust, rules, completions, version } },
  { title: "Protocol and integration", commands: integration(serve) },
];

/** Every command by name. */
export const COMMANDS: Readonly<Record<string, Command | CommandGroup>> = Object.fromEntries(
  SECTIONS.flatMap(({ commands }) => Object.entries(commands)),
);
