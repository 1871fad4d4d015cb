import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { agentFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { hostsIn } from "../agent-process.ts";
import { CLAUDE_FOLDER, CODEX_FOLDER, GEMINI_FOLDER, OPENCODE_FOLDERS } from "./agent-folders.ts";
import { modelAddresses } from "./agent-paths.ts";

const LOCAL = '[model_providers.local]\nbase_url = "http://127.0.0.1:11434/v1"\n';
const GATEWAY = '[model_providers.gateway]\nbase_url = "https://models.corp.example/v1"\n';

const FOLDERS = [CODEX_FOLDER, CLAUDE_FOLDER, GEMINI_FOLDER, ...OPENCODE_FOLDERS];

async function hostsWith(path: string, text: string) {
  const { path: home } = await agentFolder();
  await mkdir(join(home, path, ".."), { recursive: true });
  await writeFile(join(home, path), text);
  return { home, hosts: hostsIn(await modelAddresses(FOLDERS, {}, home)) };
}

const CODEX = ".codex/config.toml";
const OPENCODE = ".config/opencode/opencode.json";

test.each([
  ["the provider that is chosen", CODEX, `model_provider = "local"\n${LOCAL}${GATEWAY}`, ["localhost:11434"]],
  [
    "the provider of the profile",
    CODEX,
    `profile = "work"\nmodel_provider = "local"\n${LOCAL}${GATEWAY}[profiles.work]\nmodel_provider = "gateway"\n`,
    ["models.corp.example:443"],
  ],
  ["no provider that is not chosen", CODEX, `${LOCAL}${GATEWAY}`, []],
  ["a provider that Codex knows", CODEX, 'model_provider = "ollama"', ["localhost:11434"]],
  ["another address of OpenAI", CODEX, 'openai_base_url = "https://eu.example/v1"', ["eu.example:443"]],
  ["no address of a file that is no TOML", CODEX, `model_provider = "local"\n${LOCAL}[`, []],
  [
    "the variable in Claude's settings",
    ".claude/settings.json",
    '{"env": {"ANTHROPIC_BASE_URL": "http://localhost:4000", "DOCS_URL": "https://docs.example"}}',
    ["localhost:4000"],
  ],
  [
    "the variable of Gemini",
    ".gemini/.env",
    'OTHER=https://other.example\nGOOGLE_GEMINI_BASE_URL="https://gemini.corp.example"\n',
    ["gemini.corp.example:443"],
  ],
  [
    "each provider of OpenCode",
    OPENCODE,
    '{ // mine\n "$schema": "https://opencode.ai/config.json",\n "provider": { "a": { "options": { "baseURL": "http://127.0.0.1:1234/v1" } }, /* and */ "b": { "api": "https://b.example/v1" }, },\n}',
    ["localhost:1234", "b.example:443"],
  ],
])("reads %s from %s", async (_what, path, text, expected) => {
  expect((await hostsWith(path, text)).hosts).toEqual(expected);
});

test("a link in the place of a file grants nothing", async () => {
  const { home, hosts } = await hostsWith(CODEX, `model_provider = "local"\n${LOCAL}`);
  expect(hosts).toEqual(["localhost:11434"]);
  await rename(join(home, CODEX), join(home, "elsewhere"));
  await symlink(join(home, "elsewhere"), join(home, CODEX));
  expect(await modelAddresses(FOLDERS, {}, home)).toEqual([]);
});
