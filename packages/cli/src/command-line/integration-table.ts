import { type Command, type CommandGroup, command } from "./command.ts";
import {
  DEFAULT_IDLE_SECONDS,
  HELP_FLAG,
  JSON_FLAG,
  PROTOCOL_FLAG,
  REPLAY_FLAGS,
  SERVER_FLAGS,
} from "./flags.ts";

/** The commands for programs and for users who integrate with Flint. */
export function integration(serve: Command): Readonly<Record<string, Command | CommandGroup>> {
  return {
    "app-server": { ...serve, summary: "Alias for serve", examples: ["flint app-server"] },
    "codex-shim": codexShim,
    agm,
    connect,
    harness,
    "harness-client": harnessClient,
    conformance,
    model,
    replay,
    schema,
  };
}

const codexShim: Command = {
  summary: "Run as a drop-in replacement for codex",
  usage: "app-server|exec|--version",
  flags: HELP_FLAG,
  values: ["app-server", "exec"],
  examples: [
    "CODEX_PATH=$(command -v flint-codex) codex-acp",
    'echo "what is in this folder?" | flint codex-shim exec --experimental-json',
  ],
  notes: ["flint-codex does the same, for clients that only accept the path of a program."],
  run: async (args) => (await import("../commands/codex/shim.ts")).codexShim(args),
};

const agm = command({
  summary: "Answer agm requests about tasks on stdin and stdout",
  usage: "",
  flags: HELP_FLAG,
  examples: [
    `echo '{"method":"task.list"}' | flint agm`,
    `echo '{"method":"session.create","params":{"title":"Port the parser"}}' | flint agm`,
  ],
  notes: [
    'One JSON object per line, {"method", "params"}, is answered by a line with "ok" and "data", or "error" and "code".',
    "The tasks are those of flint tasks: they run in the background server, which is started if none is running.",
    "A posted message is published in Redis as session:message: if tasks.redis is set, otherwise printed as a line after the answer.",
    "Without Redis, events.follow writes the events of all tasks as lines while stdin is open.",
  ],
  run: async (given) => (await import("../commands/agm.ts")).agm(given),
});

const connect = command({
  summary: "Bridge stdin and stdout to the running server",
  usage: "[--protocol PROTOCOL] [--start] [--url URL]",
  flags: {
    ...PROTOCOL_FLAG,
    start: { type: "boolean", doc: "Start a server in the background if none is running" },
    "idle-exit": {
      type: "string",
      takes: "SECONDS",
      doc: `Stop that server after this long without clients or turns (default: ${DEFAULT_IDLE_SECONDS}; 0: never)`,
    },
    url: { type: "string", takes: "URL", doc: "Server to connect to: ws://127.0.0.1:PORT or wss://HOST" },
    "token-file": {
      type: "string",
      takes: "FILE",
      doc: "File with the token for --url (default: FLINT_TOKEN)",
    },
    ...HELP_FLAG,
  },
  examples: [
    "flint connect",
    "flint connect --start --protocol harness",
    "flint connect --url ws://127.0.0.1:4747",
  ],
  notes: [
    "Copies bytes both ways until one side closes. Exits with 1 if the server closes the connection or none is running.",
    "New threads use the current folder unless the client sets another. A background server logs to",
    "run/server.log in the state folder.",
  ],
  run: async (given) => (await import("../commands/serve/connect.ts")).connect(given),
});

const harness = command({
  summary: "Serve the harness protocol on stdin and stdout",
  usage: "--cwd DIR",
  flags: SERVER_FLAGS,
  examples: [`echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}' | flint harness`],
  notes: ["Threads are stored in DIR/.harness."],
  run: async (given) => (await import("../commands/harness/harness.ts")).harness(given),
});

const harnessClient = command({
  summary: "Run a prompt with an example client for the harness protocol",
  usage: '--cwd DIR "PROMPT"',
  flags: { cwd: SERVER_FLAGS.cwd, ...HELP_FLAG },
  examples: ['flint harness-client --cwd . "hello"'],
  run: async (given) => (await import("../commands/harness/harness.ts")).harnessClient(given),
});

const conformance = command({
  summary: "Test whether a server conforms to a protocol",
  usage: "SERVER --protocol PROTOCOL",
  flags: {
    ...PROTOCOL_FLAG,
    only: { type: "string", takes: "TEXT", doc: "Run only checks whose title or group contains this text" },
    cwd: {
      type: "string",
      short: "C",
      takes: "DIR",
      doc: "Folder for threads (default: a temporary folder)",
    },
    timeout: { type: "string", takes: "SECONDS", doc: "Timeout for each response (default: 30)" },
    "offline-model": { type: "boolean", doc: "Start the offline model and point the server at it" },
    "token-file": { type: "string", takes: "FILE", doc: "File with the bearer token of a WebSocket server" },
    schemas: {
      type: "string",
      takes: "DIR",
      doc: "Validate every message against the schemas of codex app-server generate-json-schema",
    },
    record: {
      type: "string",
      takes: "FILE",
      doc: "Record the server's messages in this file, without ids and times",
    },
    compare: {
      type: "string",
      takes: "FILE",
      doc: "Compare the server's messages with a file from --record",
    },
    ...JSON_FLAG,
    ...HELP_FLAG,
  },
  examples: [
    'flint conformance "flint serve --stdio --offline" --protocol flint',
    "flint conformance ws://127.0.0.1:4747 --protocol codex",
    "flint conformance --protocol codex --offline-model -- codex app-server --listen ws://127.0.0.1:{port}",
    'flint conformance "my-agent --acp" --protocol acp --only permission',
  ],
  notes: [
    "SERVER is an address (ws://, wss://, unix://) or a command that serves stdin and stdout. If a command",
    "contains {port} or {socket}, it is started once and every check connects to it, so checks can use several clients.",
  ],
  run: async (given) => (await import("../commands/conformance.ts")).conformance(given),
});

const model: CommandGroup = {
  summary: "Use the built-in offline model from other programs",
  commands: {
    serve: command({
      summary: "Serve the offline model over HTTP on this machine",
      usage: "",
      flags: {
        port: { type: "string", takes: "PORT", doc: "Port on 127.0.0.1 (default: a free one)" },
        script: {
          type: "string",
          takes: "FILE",
          doc: "Play this script instead of following the built-in rules",
        },
        ...HELP_FLAG,
      },
      examples: [
        "flint model serve --port 8123",
        "ANTHROPIC_BASE_URL=http://127.0.0.1:8123 ANTHROPIC_API_KEY=none claude",
      ],
      notes: [
        "It speaks Anthropic Messages, OpenAI Responses and Chat Completions, so other agents run without a key.",
      ],
      run: async (given) => (await import("../commands/models.ts")).serveModel(given),
    }),
  },
};

const replay = command({
  summary: "Play a thread in the terminal, or print a trace",
  usage: "THREAD|FILE",
  flags: {
    ...REPLAY_FLAGS,
    agent: { type: "string", takes: "AGENT", doc: "Traces only: show messages of this agent" },
    full: { type: "boolean", doc: "Traces only: show messages in full" },
    fixture: { type: "boolean", doc: "Traces only: print the agent's messages as a test fixture" },
    ...JSON_FLAG,
    ...HELP_FLAG,
  },
  examples: [
    "flint replay last --speed 4",
    "flint replay last --turn 2",
    "flint replay agent.trace",
    "flint replay agent.trace --fixture > fixture.jsonl",
  ],
  notes: [
    "FILE is a trace that --trace wrote. Anything else is a thread: an id, a part of one, a name, or `last` (the latest in this folder).",
  ],
  run: async (given) => (await import("../commands/replay.ts")).replay(given),
});

const schema = command({
  summary: "Print a protocol as JSON Schema or TypeScript",
  usage: "[NAME]",
  flags: {
    out: { type: "string", takes: "DIR", doc: "Write one file per protocol to this folder" },
    typescript: { type: "boolean", doc: "Print TypeScript declarations" },
    ...HELP_FLAG,
  },
  examples: ["flint schema flint", "flint schema --out schemas", "flint schema --typescript"],
  run: async (given) => (await import("../commands/schema.ts")).schema(given),
});
