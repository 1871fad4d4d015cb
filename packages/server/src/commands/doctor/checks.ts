import { access, constants, mkdir, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { ConfigValues } from "../../config/config-values.ts";
import { configuredOptions, nativeOptions } from "../../config/server-config.ts";
import { UserConfig } from "../../config/user-config.ts";
import { setting, stateFolder, userConfigPath } from "../../config.ts";
import { embed } from "../../embed.ts";
import { VERSION } from "../../version.ts";

/** What was found about one thing. `absent`: Flint works without it. */
export interface Finding {
  readonly name: string;
  readonly state: "ok" | "absent" | "problem";
  readonly detail: string;
  /** The line that changes it. */
  readonly wayOut?: string;
}

/** Looks at one thing. Never rejects. */
export type Check = (cwd: string) => Promise<readonly Finding[]>;

/** Everything that is looked at, in the order it is told. */
export const CHECKS: readonly Check[] = [
  program,
  state,
  configuration,
  sandbox,
  models,
  () => tool("ripgrep", "rg", "search is slower without it: apt-get install ripgrep"),
  () => tool("git", "git", "reviews need it: apt-get install git"),
  workspace,
];

async function program(): Promise<readonly Finding[]> {
  const [major = 0] = process.versions.node.split(".").map(Number);
  const detail = `${VERSION} on Node ${process.versions.node}`;
  if (major >= 20) return [{ name: "flint", state: "ok", detail }];
  return [{ name: "flint", state: "problem", detail, wayOut: "Node 20.19 or newer is needed." }];
}

async function state(): Promise<readonly Finding[]> {
  const folder = stateFolder();
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.W_OK);
    const open = ((await stat(folder)).mode & 0o077) !== 0;
    const detail = open ? `${folder} is open to other users` : folder;
    return [
      {
        name: "threads",
        state: open ? "problem" : "ok",
        detail,
        ...(open ? { wayOut: `chmod 700 ${folder}` } : {}),
      },
    ];
  } catch (thrown) {
    const detail = `${folder}: ${reason(thrown)}`;
    return [{ name: "threads", state: "problem", detail, wayOut: "Set FLINT_HOME to a folder of yours." }];
  }
}

async function configuration(): Promise<readonly Finding[]> {
  const config = new UserConfig(userConfigPath());
  try {
    const values = await config.read();
    const { mcpServers = [] } = configuredOptions(values);
    const count = values.entries().length;
    const detail = count === 0 ? "none, the defaults hold" : `${count} keys in ${config.path}`;
    const servers = mcpServers.map(
      ({ name }): Finding => ({
        name: "MCP server",
        state: "ok",
        detail: `${name} is started with the first thread`,
      }),
    );
    return [{ name: "configuration", state: "ok", detail }, ...servers];
  } catch (thrown) {
    return [
      { name: "configuration", state: "problem", detail: reason(thrown), wayOut: `Edit ${config.path}.` },
    ];
  }
}

async function sandbox(cwd: string): Promise<readonly Finding[]> {
  const embedded = await embed({ cwd });
  try {
    const { sandbox: found } = await embedded.client.configRead();
    if (found.available) return [{ name: "sandbox", state: "ok", detail: found.mechanism }];
    const wayOut = "apt-get install bubblewrap";
    return [{ name: "sandbox", state: "problem", detail: found.detail ?? "none", wayOut }];
  } catch (thrown) {
    return [{ name: "sandbox", state: "problem", detail: reason(thrown) }];
  } finally {
    await embedded.close();
  }
}

/** What models there are, by where they come from; which keys are set, never what they are. */
async function models(cwd: string): Promise<readonly Finding[]> {
  const embedded = await embed({ cwd, ...(await configured()) });
  try {
    const list = (await embedded.client.models()).map((model) => model.id);
    const { model: chosen } = await embedded.client.configRead();
    const { access: providers } = nativeOptions();
    return [
      { name: "model", state: "ok", detail: `new threads use ${chosen}` },
      keyFinding("Anthropic", "ANTHROPIC_API_KEY", providers.anthropic !== undefined),
      keyFinding("OpenAI", "OPENAI_API_KEY", providers.openai !== undefined),
      ollama(providers.ollama.baseUrl, list.filter((id) => id.startsWith("flint/ollama/")).length),
      ...providers.others.map((other) => endpoint(other.name, other.baseUrl, list)),
    ];
  } catch (thrown) {
    return [{ name: "model", state: "problem", detail: reason(thrown) }];
  } finally {
    await embedded.close();
  }
}

async function configured() {
  // A configuration with a fault is told by its own check.
  const none = new ConfigValues();
  return configuredOptions(await new UserConfig(userConfigPath()).read().catch(() => none));
}

function keyFinding(name: string, key: string, isSet: boolean): Finding {
  if (isSet) return { name, state: "ok", detail: `${key} is set` };
  return { name, state: "absent", detail: `${key} is not set`, wayOut: `export ${key}=…` };
}

function ollama(address: string, count: number): Finding {
  if (count > 0) return { name: "Ollama", state: "ok", detail: `${count} models at ${address}` };
  const wayOut = "Start it with ollama serve, get a model with ollama pull qwen3, or set OLLAMA_HOST.";
  return { name: "Ollama", state: "absent", detail: `no models at ${address}`, wayOut };
}

function endpoint(name: string, address: string, list: readonly string[]): Finding {
  const count = list.filter((id) => id.startsWith(`flint/${name}/`)).length;
  if (count > 0) return { name, state: "ok", detail: `${count} models at ${address}` };
  return {
    name,
    state: "problem",
    detail: `${address} lists no model`,
    wayOut: "Is it running, and is the key right?",
  };
}

async function tool(name: string, file: string, wayOut: string): Promise<readonly Finding[]> {
  for (const folder of (setting("PATH") ?? "").split(delimiter).filter((entry) => entry.startsWith("/"))) {
    const path = join(folder, file);
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return [{ name, state: "ok", detail: path }];
  }
  return [{ name, state: "absent", detail: "not on PATH", wayOut }];
}

async function workspace(cwd: string): Promise<readonly Finding[]> {
  const embedded = await embed({ cwd });
  try {
    const { files } = await embedded.client.call("workspace/read", { cwd });
    return files.map(({ path, trusted, problem }): Finding => {
      if (problem !== undefined)
        return { name: "this folder", state: "problem", detail: `${path}: ${problem}` };
      if (trusted) return { name: "this folder", state: "ok", detail: `${path} is trusted` };
      return { name: "this folder", state: "absent", detail: `${path} is ignored`, wayOut: "flint trust" };
    });
  } finally {
    await embedded.close();
  }
}

function reason(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
