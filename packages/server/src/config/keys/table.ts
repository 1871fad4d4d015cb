import {
  COMMAND_IDS,
  DEFAULT_STATUS_LINE,
  DEFAULT_THEME,
  readChord,
  STATUS_PART_NAMES,
  THEME_NAMES,
} from "@flint/view/commands";
import * as z from "zod/mini";
import { PERMISSION_MODES, PERMISSION_MODES_DOC } from "../permission-modes.ts";
import { AGENT_KEYS } from "./agent-keys.ts";
import {
  ADDRESS,
  AMOUNT,
  address,
  amount,
  BOOLEAN,
  COUNT,
  type ConfigKey,
  choice,
  count,
  HOSTS,
  key,
  PAIRS,
  PRICE,
  pairs,
  price,
  SECONDS,
  STRINGS,
  string,
  strings,
} from "./key.ts";
import { APPROVAL_NAMES, ENFORCEMENTS, GIT_MODES, SANDBOX_NAMES } from "./policy-names.ts";
import { TASK_KEYS } from "./task-keys.ts";

const chord = z.string().check(z.refine((text) => readChord(text) !== undefined));

const DURABILITIES = ["full", "relaxed"] as const;

/** Every key of `config.toml`. Nothing else is accepted. */
export const CONFIG_KEYS = {
  model: key(string, "a model id", "Model for new threads.", "user or project"),
  agent: key(
    string,
    "the name of an agent",
    "Agent for new threads, such as claude; `model` may name one of its models.",
    "user",
  ),
  approval_policy: key(
    z.enum(APPROVAL_NAMES),
    choice(APPROVAL_NAMES),
    "When to ask for approval.",
    "user or project",
  ),
  sandbox: key(z.enum(SANDBOX_NAMES), choice(SANDBOX_NAMES), "What commands may access.", "user or project"),
  permissions: key(
    z.enum(PERMISSION_MODES),
    choice(PERMISSION_MODES),
    `Permission mode of new threads (${PERMISSION_MODES_DOC}). The keys below override parts of it.`,
    "user",
  ),
  network: key(strings, HOSTS, "Hosts that commands in a sandbox may connect to without asking.", "user"),
  git: key(
    z.enum(GIT_MODES),
    choice(GIT_MODES),
    "Whether commits that agents make in the sandbox are added to your repository.",
    "user",
  ),
  network_access: key(
    z.boolean(),
    BOOLEAN,
    "Whether commands in the workspace-write sandbox can use the network.",
    "user or project",
  ),
  writable_roots: key(
    strings,
    "a list of absolute folders",
    "Folders that commands may write to, besides the workspace.",
    "user or project",
  ),
  allow_unconfined: key(
    z.boolean(),
    BOOLEAN,
    "Let clients turn off approvals and the sandbox at the same time.",
    "user",
  ),
  allow_remote_mcp: key(
    z.boolean(),
    BOOLEAN,
    "Let WebSocket clients add stdio MCP servers, which run on this machine.",
    "user",
  ),
  approval_timeout: key(amount, SECONDS, "Decline approvals that are not answered within this time.", "user"),
  silence_timeout: key(
    amount,
    SECONDS,
    "Stop an agent that sends nothing for this long while no tool or command runs and no request is open (default: 900).",
    "user",
  ),
  step_limit: key(
    count,
    COUNT,
    "Model calls after which a turn of Claude or Flint's own agent stops; you can continue it (default for Flint's own agent: 200).",
    "user",
  ),
  policy_file: key(string, "a path", "Policy file for unattended runs.", "user"),
  durability: key(
    z.enum(DURABILITIES),
    choice(DURABILITIES),
    "What completed turns survive: a power failure, or only a crash of Flint.",
    "user",
  ),
  "budget.turn.tokens": key(count, COUNT, "Tokens that a turn may use.", "user or project"),
  "budget.turn.cost_usd": key(amount, AMOUNT, "US dollars that a turn may cost.", "user or project"),
  "budget.turn.seconds": key(amount, AMOUNT, "Working time of a turn, in seconds.", "user or project"),
  "budget.turn.steps": key(count, COUNT, "Model calls that a turn may make.", "user or project"),
  "budget.thread.tokens": key(count, COUNT, "Tokens that a thread may use.", "user or project"),
  "budget.thread.cost_usd": key(amount, AMOUNT, "US dollars that a thread may cost.", "user or project"),
  "budget.thread.seconds": key(
    amount,
    AMOUNT,
    "Working time of all turns of a thread, in seconds.",
    "user or project",
  ),
  "budget.thread.turns": key(count, COUNT, "Turns that a thread may have.", "user or project"),
  "budget.enforcement": key(
    z.enum(ENFORCEMENTS),
    choice(ENFORCEMENTS),
    "What to do if an agent does not report what a limit counts: strict (default) rejects the turn, best-effort runs it.",
    "user",
  ),
  "models.*.context_window": key(
    count,
    COUNT,
    "Context window of a model in tokens. The name is a model id, such as `custom/my-model`, or the model's own name.",
    "user",
  ),
  "models.*.price_input": key(price, PRICE, "Price of a million input tokens in US dollars.", "user"),
  "models.*.price_output": key(price, PRICE, "Price of a million output tokens in US dollars.", "user"),
  "models.*.price_cache_read": key(
    price,
    PRICE,
    "Price of a million cached input tokens in US dollars (default: as input).",
    "user",
  ),
  "models.*.price_cache_write": key(
    price,
    PRICE,
    "Price of writing a million tokens to the cache in US dollars (default: as input).",
    "user",
  ),
  "web.fetch": key(z.boolean(), BOOLEAN, "Let Flint's own agent read web pages, with approval.", "user"),
  "web.search_url": key(
    address,
    ADDRESS,
    "Search URL that returns SearXNG's JSON format; `{query}` is replaced with the query.",
    "user",
  ),
  "providers.*.base_url": key(address, ADDRESS, "Base URL of a Chat Completions endpoint.", "user"),
  "providers.*.api_key_env": key(
    string,
    "the name of an environment variable",
    "Environment variable that holds the API key.",
    "user",
  ),
  "providers.*.models": key(
    strings,
    STRINGS,
    "Models to list, instead of those that the endpoint reports.",
    "user",
  ),
  idle_timeout: key(
    amount,
    SECONDS,
    "Unload an unused thread, and stop its agent's process, after this long.",
    "user",
  ),
  background_timeout: key(
    amount,
    SECONDS,
    "Stop an agent's background work in an unused thread after this long (default: a day).",
    "user",
  ),
  ...TASK_KEYS,
  "acp.auto_resume": key(
    z.boolean(),
    BOOLEAN,
    "Continue an editor's last session in a folder when it opens a new one.",
    "user",
  ),
  "acp.client_terminal": key(
    z.boolean(),
    BOOLEAN,
    "Run unsandboxed commands of Flint's own agent in the editor's terminal, if it offers one.",
    "user",
  ),
  "acp.client_fs": key(
    z.boolean(),
    BOOLEAN,
    "Let Flint's own agent read and write files through the editor, including unsaved changes, if it offers both.",
    "user",
  ),
  ...AGENT_KEYS,
  "mcp_servers.*.command": key(
    string,
    "a program",
    "Program of a stdio MCP server; `~/` is your home.",
    "user or project",
  ),
  "mcp_servers.*.args": key(strings, STRINGS, "Arguments of the program, as they are.", "user or project"),
  "mcp_servers.*.env": key(
    pairs,
    PAIRS,
    "Environment variables; in your own file, `{env:NAME}` is replaced with the value of a variable.",
    "user or project",
  ),
  "mcp_servers.*.network": key(
    strings,
    STRINGS,
    "Hosts that the program may connect to without asking, as for `--network`.",
    "user",
  ),
  "mcp_servers.*.writable": key(
    strings,
    STRINGS,
    "Folders that the program may write to besides the workspace, such as `~/.npm`.",
    "user",
  ),
  "mcp_servers.*.url": key(address, ADDRESS, "URL of an MCP server over HTTP.", "user or project"),
  "mcp_servers.*.headers": key(
    pairs,
    PAIRS,
    "HTTP headers; in your own file, `{env:NAME}` is replaced with the value of a variable.",
    "user or project",
  ),
  "mcp_servers.*.enabled": key(
    z.boolean(),
    BOOLEAN,
    "Set to false to disable this server.",
    "user or project",
  ),
  status_line: key(
    z.array(z.enum(STATUS_PART_NAMES)),
    `a list of ${STATUS_PART_NAMES.join(", ")}`,
    `What the status line of terminal sessions shows, in this order (default: ${DEFAULT_STATUS_LINE.join(", ")}); \`/statusline\` in a session changes it.`,
    "user",
  ),
  theme: key(
    z.enum(THEME_NAMES),
    choice(THEME_NAMES),
    `The colours of terminal sessions (default: ${DEFAULT_THEME}); \`/theme\` in a session changes it.`,
    "user",
  ),
  "keys.*": {
    ...key(
      z.union([chord, z.array(chord)]),
      'a key such as "f2", "ctrl+t" or "ctrl+x t", or a list of keys, which may be empty',
      "Keys for a command in terminal sessions, replacing the defaults. The name is a command such as `listThreads`; `/keys` in a session lists them all.",
      "user",
    ),
    names: COMMAND_IDS,
  },
} as const satisfies Record<string, ConfigKey>;

/** The name of a key. */
export type ConfigName = keyof typeof CONFIG_KEYS;
/** The value of a key. */
export type ConfigValue<Name extends ConfigName> = z.output<(typeof CONFIG_KEYS)[Name]["schema"]>;

/** The names of all keys, in the order of the table. */
// Object.keys forgets which keys the table has.
export const CONFIG_NAMES = Object.keys(CONFIG_KEYS) as readonly ConfigName[];

/** The row of the table for a path. */
export function rowNameOf(path: readonly string[]): ConfigName | undefined {
  return CONFIG_NAMES.find((name) => {
    const parts = name.split(".");
    if (parts.length !== path.length || !parts.every((part, index) => fits(part, path[index]))) return false;
    return possibleNames(name)?.includes(path.at(-1) ?? "") ?? true;
  });
}

/** The names that may follow a path; `*` among them where any name may. */
export function namesBelow(path: readonly string[]): readonly string[] {
  const below = CONFIG_NAMES.flatMap((name) => {
    const parts = name.split(".");
    const isBelow = parts.length > path.length && path.every((part, index) => fits(parts[index], part));
    const next = parts[path.length];
    if (!isBelow || next === undefined) return [];
    return next === "*" ? (possibleNames(name) ?? [next]) : [next];
  });
  return [...new Set(below)];
}

/** Returns the allowed values for the `*` of a key; undefined if any are. */
function possibleNames(name: ConfigName): readonly string[] | undefined {
  const row: ConfigKey = CONFIG_KEYS[name];
  return row.names;
}

function fits(part: string | undefined, given: string | undefined): boolean {
  return part === given || (part === "*" && given !== undefined);
}
