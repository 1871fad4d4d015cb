import { ApprovalPolicy, SandboxShorthand } from "@flint/protocol";
import * as z from "zod/mini";

/** A key of the configuration. In its name, `*` stands for a name that the user chooses. */
interface ConfigKey<Schema extends z.ZodMiniType = z.ZodMiniType> {
  readonly schema: Schema;
  /** What it takes, in words. */
  readonly takes: string;
  readonly doc: string;
  /** Whether the file of a project may have it. Addresses and keys never come from a project. */
  readonly inProject: boolean;
}

function key<Schema extends z.ZodMiniType>(
  schema: Schema,
  takes: string,
  doc: string,
  where: "user" | "user or project",
): ConfigKey<Schema> {
  return { schema, takes, doc, inProject: where === "user or project" };
}

const count = z.int().check(z.minimum(1));
const amount = z.number().check(z.positive());
const text = z.string().check(z.minLength(1));
const texts = z.array(z.string());
const pairs = z.record(z.string(), z.string());
const address = z.url({ protocol: /^https?$/ });

const COUNT = "a whole number above 0";
const AMOUNT = "a number above 0";
const ADDRESS = "an address that begins with http:// or https://";
const SANDBOXES = SandboxShorthand.options.filter((name) => /^[a-z-]+$/.test(name));
const choice = (values: readonly string[]) => values.map((value) => JSON.stringify(value)).join(", ");

/** Every key of `config.toml`. Nothing else is accepted. */
export const CONFIG_KEYS = {
  model: key(text, "a model id", "The model of new threads.", "user or project"),
  approval_policy: key(
    ApprovalPolicy,
    choice(ApprovalPolicy.options),
    "When the user is asked.",
    "user or project",
  ),
  sandbox: key(
    z.enum(SANDBOXES as [string, ...string[]]),
    choice(SANDBOXES),
    "What commands may touch.",
    "user or project",
  ),
  network_access: key(
    z.boolean(),
    "true or false",
    "Whether commands in the workspace-write sandbox reach the network.",
    "user or project",
  ),
  writable_roots: key(
    texts,
    "a list of absolute folders",
    "Folders that may be written beside the workspace.",
    "user or project",
  ),
  allow_unconfined: key(
    z.boolean(),
    "true or false",
    'Lets clients choose "never" together with "danger-full-access".',
    "user",
  ),
  allow_remote_mcp: key(
    z.boolean(),
    "true or false",
    "Lets clients of a port bring MCP servers that are programs; they run here, outside the sandbox.",
    "user",
  ),
  approval_timeout: key(
    amount,
    "a number of seconds",
    "An approval nobody answers is declined after this.",
    "user",
  ),
  policy_file: key(text, "a path", "A policy file for unattended runs.", "user"),
  durability: key(
    z.enum(["full", "relaxed"]),
    choice(["full", "relaxed"]),
    "What a completed turn survives: a power cut, or only the end of Flint.",
    "user",
  ),
  "budget.turn.tokens": key(count, COUNT, "Tokens that one turn may use.", "user or project"),
  "budget.turn.cost_usd": key(amount, AMOUNT, "Dollars that one turn may cost.", "user or project"),
  "budget.turn.seconds": key(amount, AMOUNT, "How long one turn may work.", "user or project"),
  "budget.turn.steps": key(count, COUNT, "How often one turn may ask the model.", "user or project"),
  "budget.thread.tokens": key(count, COUNT, "Tokens that a thread may use.", "user or project"),
  "budget.thread.cost_usd": key(amount, AMOUNT, "Dollars that a thread may cost.", "user or project"),
  "budget.thread.seconds": key(
    amount,
    AMOUNT,
    "How long the turns of a thread may work together.",
    "user or project",
  ),
  "budget.thread.turns": key(count, COUNT, "How many turns a thread may have.", "user or project"),
  "web.fetch": key(
    z.boolean(),
    "true or false",
    "Lets Flint's own agent read web pages, asked first.",
    "user",
  ),
  "web.search_url": key(
    address,
    ADDRESS,
    "A search that answers in JSON as SearXNG does; `{query}` stands for the words.",
    "user",
  ),
  "providers.*.base_url": key(address, ADDRESS, "An endpoint that speaks Chat Completions.", "user"),
  "providers.*.api_key_env": key(text, "the name of a variable", "The variable that holds its key.", "user"),
  "providers.*.models": key(texts, "a list of names", "Its models, if it should not be asked.", "user"),
  idle_timeout: key(
    amount,
    "a number of seconds",
    "A thread nobody uses is put to rest after this, and its agent's process is ended.",
    "user",
  ),
  background_timeout: key(
    amount,
    "a number of seconds",
    "What an agent has in the background of a thread nobody uses is ended after this; a day unless told.",
    "user",
  ),
  "acp.auto_resume": key(
    z.boolean(),
    "true or false",
    "The first new session of an editor in a folder goes on with the last one that it had there.",
    "user",
  ),
  "agents.*.command": key(
    texts,
    "a list: the program and its arguments",
    "An agent: claude, codex, or any that speaks ACP.",
    "user",
  ),
  "agents.*.process": key(
    z.enum(["thread", "turn"]),
    choice(["thread", "turn"]),
    "Of claude: one process for as long as a thread is used, or a new one for every turn.",
    "user",
  ),
  "agents.*.env": key(pairs, "a table of texts", "Variables that only this agent gets.", "user"),
  "agents.*.enabled": key(z.boolean(), "true or false", "Set to false to leave it out.", "user"),
  "mcp_servers.*.command": key(text, "a program", "The program of an MCP server.", "user or project"),
  "mcp_servers.*.args": key(texts, "a list of texts", "Its arguments.", "user or project"),
  "mcp_servers.*.env": key(
    pairs,
    "a table of texts",
    "Variables for it; in the user's file `{env:NAME}` stands for a variable.",
    "user or project",
  ),
  "mcp_servers.*.url": key(address, ADDRESS, "The address of an MCP server over HTTP.", "user or project"),
  "mcp_servers.*.headers": key(
    pairs,
    "a table of texts",
    "Headers for it; in the user's file `{env:NAME}` stands for a variable.",
    "user or project",
  ),
  "mcp_servers.*.enabled": key(
    z.boolean(),
    "true or false",
    "Set to false to leave it out.",
    "user or project",
  ),
} as const satisfies Record<string, ConfigKey>;

/** The name of a key. */
export type ConfigName = keyof typeof CONFIG_KEYS;
/** What a key holds. */
export type ConfigValue<Name extends ConfigName> = z.output<(typeof CONFIG_KEYS)[Name]["schema"]>;

/** All names, in the order of the table. */
// The keys of a table of ours; Object.keys forgets that.
export const CONFIG_NAMES = Object.keys(CONFIG_KEYS) as readonly ConfigName[];

/** The row that a path belongs to. */
export function rowNameOf(path: readonly string[]): ConfigName | undefined {
  return CONFIG_NAMES.find((name) => {
    const parts = name.split(".");
    return parts.length === path.length && parts.every((part, place) => fits(part, path[place]));
  });
}

/** The names that may stand at this place of a path, `*` among them where any may. */
export function namesBelow(path: readonly string[]): readonly string[] {
  const below = CONFIG_NAMES.map((name) => name.split(".")).filter(
    (parts) => parts.length > path.length && path.every((part, place) => fits(parts[place], part)),
  );
  return [...new Set(below.flatMap((parts) => parts[path.length] ?? []))];
}

function fits(part: string | undefined, given: string | undefined): boolean {
  return part === given || (part === "*" && given !== undefined);
}
