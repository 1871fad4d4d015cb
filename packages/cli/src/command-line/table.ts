import { orCodexExec } from "../commands/codex/shim.ts";
import { EXEC_FLAGS } from "../commands/exec/options.ts";
import { threads } from "../commands/threads/table.ts";
import { type Command, type CommandGroup, command } from "./command.ts";
import {
  ACP_FLAGS,
  DOOR_FLAG,
  HELP_FLAG,
  JSON_FLAG,
  LISTEN_FLAGS,
  SERVER_FLAGS,
  USUAL_IDLE_SECONDS,
} from "./flags.ts";

const exec = command({
  summary: "ask the agent to do something here",
  usage: '"PROMPT"',
  flags: EXEC_FLAGS,
  examples: [
    'flint exec "show me what you can do"',
    'flint exec "what is in this folder?"',
    'flint exec "run the tests"                             # needs a real model',
    'flint exec --continue "now fix the first failure"      # needs a real model',
    'git diff | flint exec "explain this change"            # needs a real model',
  ],
  notes: [
    "Without a real model the built-in one answers: it lists, reads, writes and runs what it is told word by word.",
    "What an agent may do is said anew by each run; with --continue and --resume only model and folder stay.",
  ],
  run: async (given) => (await import("../commands/exec/exec.ts")).exec(given),
});

const serve = command({
  summary: "a server for the client on stdin and stdout, or for many clients",
  usage: "[--stdio] [--listen ADDRESS]",
  flags: { ...LISTEN_FLAGS, ...SERVER_FLAGS },
  examples: [
    "flint serve --stdio",
    "flint serve --stdio --sandbox read-only",
    "flint serve --listen ws://127.0.0.1:4747",
    "flint serve --listen unix:/run/user/1000/flint.sock --door harness",
  ],
  notes: [
    "Where a server runs already for the same state folder, serve --stdio joins it, so that two clients meet on the same live threads; with options that shape a server, or --alone, it is a server of its own.",
    "A port asks for the token in its file (Authorization: Bearer). The path of a WebSocket chooses the door.",
  ],
  run: async (given) => (await import("../commands/serve/serve.ts")).serve(given),
});

const config: CommandGroup = {
  summary: "read and change the configuration",
  commands: {
    get: command({
      summary: "what is configured, or one key of it",
      usage: "[KEY]",
      flags: { ...JSON_FLAG, ...HELP_FLAG },
      examples: ["flint config get", "flint config get model"],
      run: async (given) => (await import("../commands/config.ts")).getConfig(given),
    }),
    set: command({
      summary: "set a key in your own file",
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
      summary: "take a key out of your own file",
      usage: "KEY",
      flags: HELP_FLAG,
      examples: ["flint config unset model"],
      run: async (given) => (await import("../commands/config.ts")).unsetConfig(given),
    }),
    path: command({
      summary: "where the configuration files are",
      usage: "",
      flags: HELP_FLAG,
      examples: ["flint config path"],
      run: async (given) => (await import("../commands/config.ts")).showPaths(given),
    }),
    keys: command({
      summary: "every key there is, and what it takes",
      usage: "",
      flags: HELP_FLAG,
      examples: ["flint config keys"],
      run: async (given) => (await import("../commands/config.ts")).listKeys(given),
    }),
  },
};

const rules: CommandGroup = {
  summary: "what you have allowed for always",
  commands: {
    list: command({
      summary: "the rules, with the ids that remove them",
      usage: "",
      flags: { here: { type: "boolean", doc: "only those of this folder" }, ...JSON_FLAG, ...HELP_FLAG },
      examples: ["flint rules list", "flint rules list --here"],
      run: async (given) => (await import("../commands/rules.ts")).listRules(given),
    }),
    remove: command({
      summary: "take a rule back",
      usage: "ID",
      flags: HELP_FLAG,
      examples: ["flint rules remove 019a"],
      run: async (given) => (await import("../commands/rules.ts")).removeRule(given),
    }),
  },
};

const model: CommandGroup = {
  summary: "the built-in offline model",
  commands: {
    serve: command({
      summary: "offer the offline model to other programs on this machine",
      usage: "",
      flags: {
        port: { type: "string", takes: "PORT", doc: "the port on 127.0.0.1 (default: a free one)" },
        script: { type: "string", takes: "FILE", doc: "play this script instead of following rules" },
        ...HELP_FLAG,
      },
      examples: ["flint model serve --port 8123"],
      notes: [
        "It speaks Anthropic Messages, OpenAI Responses and Chat Completions, so that other agents run without a key:",
        "  ANTHROPIC_BASE_URL=http://127.0.0.1:8123 ANTHROPIC_API_KEY=none claude",
      ],
      run: async (given) => (await import("../commands/models.ts")).serveModel(given),
    }),
  },
};

/** Every command. Each is loaded only when it is called, so that none pays for another. */
export const COMMANDS: Readonly<Record<string, Command | CommandGroup>> = {
  exec: orCodexExec(exec),
  serve,
  "app-server": { ...serve, summary: "the same as serve", examples: ["flint app-server"] },
  "codex-shim": {
    summary: "takes the place of the codex program for clients that start one",
    usage: "app-server|exec|--version",
    flags: HELP_FLAG,
    values: ["app-server", "exec"],
    examples: [
      "CODEX_PATH=$(command -v flint-codex) codex-acp",
      'echo "what is in this folder?" | flint codex-shim exec --experimental-json',
    ],
    notes: ["flint-codex is the same as one program, for clients that take nothing but a path."],
    run: async (args) => (await import("../commands/codex/shim.ts")).codexShim(args),
  },
  acp: command({
    summary: "an agent for editors: the Agent Client Protocol on stdin and stdout",
    usage: "",
    flags: { ...ACP_FLAGS, ...SERVER_FLAGS },
    examples: ["flint acp", "flint acp --agent claude", "flint acp --login codex"],
    notes: [
      "Where a server runs already for the same state folder, it is joined, so that editors and terminals meet on the same live threads; see flint serve.",
    ],
    run: async (given) => (await import("../commands/serve/acp.ts")).acp(given),
  }),
  harness: command({
    summary: "the harness protocol; threads go to DIR/.harness",
    usage: "--cwd DIR",
    flags: SERVER_FLAGS,
    examples: [`echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}' | flint harness`],
    run: async (given) => (await import("../commands/harness/harness.ts")).harness(given),
  }),
  "harness-client": command({
    summary: "a small client of the harness protocol, to see how it works",
    usage: '--cwd DIR "PROMPT"',
    flags: { cwd: SERVER_FLAGS.cwd, ...HELP_FLAG },
    examples: ['flint harness-client --cwd . "hello"'],
    run: async (given) => (await import("../commands/harness/client-command.ts")).harnessClient(given),
  }),
  connect: command({
    summary: "be a client of the running server, on stdin and stdout",
    usage: "[--door DOOR] [--start] [--url URL]",
    flags: {
      ...DOOR_FLAG,
      start: { type: "boolean", doc: "start a server in the background if none runs" },
      "idle-exit": {
        type: "string",
        takes: "SECONDS",
        doc: `when the server of --start ends without clients and turns (default: ${USUAL_IDLE_SECONDS}; 0: never)`,
      },
      url: { type: "string", takes: "URL", doc: "a server elsewhere: ws://127.0.0.1:PORT or wss://HOST" },
      "token-file": { type: "string", takes: "FILE", doc: "the token for --url (default: FLINT_TOKEN)" },
      ...HELP_FLAG,
    },
    examples: [
      "flint connect",
      "flint connect --start --door harness",
      "flint connect --url ws://127.0.0.1:4747",
    ],
    notes: [
      "It carries bytes both ways until one side ends. Exit code 1: the server ended it, or none runs.",
      "Threads that name no folder begin in the one that connect is run in. What a server in the background says is in run/server.log of the state folder.",
    ],
    run: async (given) => (await import("../commands/serve/connect.ts")).connect(given),
  }),
  threads,
  models: command({
    summary: "the models that can be used",
    usage: "",
    flags: { ...JSON_FLAG, ...HELP_FLAG },
    examples: ["flint models"],
    run: async (given) => (await import("../commands/models.ts")).models(given),
  }),
  config,
  rules,
  trust: command({
    summary: "look at the files with which a folder could steer Flint, and trust them",
    usage: "[DIR]",
    flags: {
      yes: { type: "boolean", short: "y", doc: "trust them as they are now, without a question" },
      revoke: { type: "boolean", doc: "take the trust away" },
      ...HELP_FLAG,
    },
    examples: ["flint trust", "flint trust --revoke"],
    notes: ["Trust holds for the exact content. A changed file is ignored until it is trusted again."],
    run: async (given) => (await import("../commands/trust.ts")).trust(given),
  }),
  doctor: command({
    summary: "what is there, what is missing, and how to get it",
    usage: "",
    flags: { ...JSON_FLAG, ...HELP_FLAG },
    examples: ["flint doctor"],
    run: async (given) => (await import("../commands/doctor/doctor.ts")).doctor(given),
  }),
  model,
  conformance: command({
    summary: "try any server by what a door promises, and report",
    usage: "SERVER --door DOOR",
    flags: {
      door: {
        type: "string",
        takes: "DOOR",
        values: ["codex", "acp", "flint", "harness"],
        doc: "which protocol the server speaks: codex, acp, flint, harness",
      },
      only: { type: "string", takes: "TEXT", doc: "only checks with this in their sentence or group" },
      cwd: {
        type: "string",
        takes: "DIR",
        doc: "where threads work (default: a new folder, removed afterwards)",
      },
      timeout: { type: "string", takes: "SECONDS", doc: "how long one answer may take (default: 30)" },
      "offline-model": { type: "boolean", doc: "start the offline model and lead the server to it" },
      "token-file": { type: "string", takes: "FILE", doc: "the bearer token of a WebSocket" },
      schemas: {
        type: "string",
        takes: "DIR",
        doc: "hold every message against these, as codex app-server generate-json-schema writes them",
      },
      record: {
        type: "string",
        takes: "FILE",
        doc: "write there what the server said, without ids and times",
      },
      compare: { type: "string", takes: "FILE", doc: "hold what the server said against such a file" },
      ...JSON_FLAG,
      ...HELP_FLAG,
    },
    examples: [
      'flint conformance "flint serve --stdio --offline" --door flint',
      "flint conformance ws://127.0.0.1:4747 --door codex",
      "flint conformance --door codex --offline-model -- codex app-server --listen ws://127.0.0.1:{port}",
      'flint conformance "my-agent --acp" --door acp --only permission',
    ],
    notes: [
      "SERVER is an address (ws://, wss://, unix://) or a command that speaks on stdin and stdout. A command with an",
      "address that has {port} or {socket} in it is started once and connected to, as checks of several clients need.",
    ],
    run: async (given) => (await import("../commands/conformance.ts")).conformance(given),
  }),
  replay: command({
    summary: "show what --trace kept",
    usage: "FILE",
    flags: {
      agent: { type: "string", takes: "AGENT", doc: "only the lines of this agent" },
      full: { type: "boolean", doc: "everything, nothing shortened" },
      fixture: { type: "boolean", doc: "as lines that a test can play again" },
      ...JSON_FLAG,
      ...HELP_FLAG,
    },
    examples: ["flint replay agent.trace", "flint replay agent.trace --fixture > fixture.jsonl"],
    run: async (given) => (await import("../commands/replay.ts")).replay(given),
  }),
  schema: command({
    summary: "the protocol as JSON Schema or TypeScript",
    usage: "[NAME]",
    flags: {
      out: { type: "string", takes: "DIR", doc: "write files there instead of printing one" },
      typescript: { type: "boolean", doc: "TypeScript declarations" },
      ...HELP_FLAG,
    },
    examples: ["flint schema flint", "flint schema --out schemas", "flint schema --typescript"],
    run: async (given) => (await import("../commands/schema.ts")).schema(given),
  }),
  completions: command({
    summary: "completions for your shell",
    usage: "[SHELL]",
    flags: HELP_FLAG,
    values: ["bash", "zsh", "fish"],
    examples: [
      "source <(flint completions bash)",
      "flint completions fish > ~/.config/fish/completions/flint.fish",
    ],
    run: async (given) =>
      (await import("../commands/completions/completions.ts")).completions(given, COMMANDS),
  }),
};
