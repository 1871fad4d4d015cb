import { join } from "node:path";
import { readTextNoFollow } from "@flint/host/files";

type Table = Readonly<Record<string, unknown>>;

const MOST_BYTES = 1024 * 1024;

/** Providers that Codex knows without an address in its configuration. */
const CODEX_LOCAL: Readonly<Record<string, string>> = {
  ollama: "http://localhost:11434",
  lmstudio: "http://localhost:1234",
};

/** The addresses of the model that Codex is configured to use. */
export async function codexAddresses(folder: string): Promise<readonly string[]> {
  const config = await parsed(join(folder, "config.toml"), async (text) => {
    const { parse } = await import("smol-toml");
    return parse(text);
  });
  const profile = tableOf(tableOf(config.profiles)[String(config.profile)]);
  const chosen = String(profile.model_provider ?? config.model_provider ?? "openai");
  const { base_url } = tableOf(tableOf(config.model_providers)[chosen]);
  const own = chosen === "openai" ? [config.openai_base_url, config.chatgpt_base_url] : [];
  return strings([base_url ?? CODEX_LOCAL[chosen], ...own, profile.chatgpt_base_url]);
}

const CLAUDE_ADDRESS = /^ANTHROPIC_(?:[A-Z]+_)*BASE_URL$/;

/** The addresses of the model in the variables of Claude's settings. */
export async function claudeAddresses(folder: string): Promise<readonly string[]> {
  const { env } = await parsed(join(folder, "settings.json"), JSON.parse);
  return strings(
    Object.entries(tableOf(env)).flatMap(([name, value]) => (CLAUDE_ADDRESS.test(name) ? [value] : [])),
  );
}

/** The addresses of all providers in OpenCode's settings: a session can change from one to another. */
export async function opencodeAddresses(folder: string): Promise<readonly string[]> {
  const names = ["config.json", "opencode.json", "opencode.jsonc"];
  const files = await Promise.all(
    names.map((name) => parsed(join(folder, name), (text) => JSON.parse(withoutComments(text)))),
  );
  const providers = files.flatMap(({ provider }) => Object.values(tableOf(provider)).map(tableOf));
  return strings(providers.flatMap(({ api, options }) => [api, tableOf(options).baseURL]));
}

const GEMINI_ADDRESS = /^[ \t]*(?:export[ \t]+)?GOOGLE_(?:GEMINI|VERTEX)_BASE_URL[ \t]*=(.*)$/gm;

/** The addresses of the model in the variables that Gemini reads from its folder. */
export async function geminiAddresses(folder: string): Promise<readonly string[]> {
  const text = (await readTextNoFollow(join(folder, ".env"), MOST_BYTES)) ?? "";
  return [...text.matchAll(GEMINI_ADDRESS)].map(([, value = ""]) => value);
}

/** The content of a file that grants something; empty if there is none that can be read, which the agent reports itself. */
async function parsed(path: string, parse: (text: string) => unknown): Promise<Table> {
  const text = await readTextNoFollow(path, MOST_BYTES);
  // Expected: a file that is being edited.
  try {
    return tableOf(text === undefined ? {} : await parse(text));
  } catch {
    return {};
  }
}

const STRING = String.raw`"(?:\\.|[^"\\])*"`;
const COMMENT = new RegExp(String.raw`(${STRING})|//[^\n]*|/\*[\s\S]*?\*/`, "g");
const LAST_COMMA = new RegExp(String.raw`(${STRING})|,(?=\s*[}\]])`, "g");

/** JSON of a text that may have comments, and commas at ends. */
function withoutComments(text: string): string {
  const keep = (_found: string, string = "") => string;
  return text.replace(COMMENT, keep).replace(LAST_COMMA, keep);
}

function tableOf(value: unknown): Table {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function strings(values: readonly unknown[]): string[] {
  return values.filter((value) => typeof value === "string");
}
