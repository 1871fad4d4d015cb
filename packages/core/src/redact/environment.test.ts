import { expect, test } from "vitest";
import type { McpServerConfig } from "../ports/index.ts";
import { commandEnvironment, isSecretName, mcpServerSecrets, secretsIn } from "./environment.ts";

test("hides keys, tokens and the variables of model providers from commands [P31]", () => {
  const environment = {
    HOME: "/home/someone",
    LANG: "C.UTF-8",
    ANTHROPIC_API_KEY: "a",
    ANTHROPIC_BASE_URL: "b",
    OPENAI_ORGANIZATION: "c",
    AWS_PROFILE: "d",
    GITHUB_TOKEN: "e",
    MY_SECRET: "f",
    my_api_key: "g",
    TOKEN: "h",
    DATABASE_PASSWORD: "i",
    FLINT_MODEL_KEY: "j",
    FLINT_MODEL_URL: "k",
    GITHUB_PAT: "l",
    npm_config__authToken: "m",
    SSH_KEY_PASSPHRASE: "n",
  };
  expect(Object.keys(commandEnvironment(environment)).sort()).toEqual(["HOME", "LANG", "PATH"]);
});

test("keeps variables whose names only look alike", () => {
  const names = [
    "KEYBOARD",
    "TOKENIZERS_PARALLELISM",
    "SECRETARY",
    "PATH",
    "KEYMAP",
    "PATTERN",
    "SSH_AUTH_SOCK",
    "NODE_OPTIONS",
  ];
  expect(names.filter(isSecretName)).toEqual([]);
});

test("always sets PATH, to the user's if there is one", () => {
  expect(commandEnvironment({})).toEqual({ PATH: expect.stringContaining("/usr/bin") });
  expect(commandEnvironment({ PATH: "/opt/bin", EMPTY: undefined })).toEqual({ PATH: "/opt/bin" });
  expect(commandEnvironment({ PATH: "." })).toEqual({ PATH: expect.stringContaining("/usr/bin") });
});

test("drops relative PATH entries and steering variables [P34]", () => {
  const environment = {
    PATH: ":.:/opt/bin:bin:./node_modules/.bin:/bin:",
    RIPGREP_CONFIG_PATH: ".ripgreprc",
  };
  expect(commandEnvironment(environment)).toEqual({ PATH: "/opt/bin:/bin" });
});

test("takes the values of secret variables, not endpoints, regions, paths or short words [P31]", () => {
  const environment = {
    ANTHROPIC_API_KEY: "sk-ant-something",
    OPENAI_API_KEY: " padded-key \n",
    SAME_TOKEN: "sk-ant-something",
    ANTHROPIC_BASE_URL: "https://example.com",
    AWS_REGION: "eu-central-1",
    GOOGLE_APPLICATION_CREDENTIALS: "/home/someone/key.json",
    SHORT_TOKEN: "abc",
    EMPTY_KEY: undefined,
  };
  expect(secretsIn(environment)).toEqual(["sk-ant-something", "padded-key"]);
});

function program(env: Record<string, string>): McpServerConfig {
  return { type: "stdio", name: "s", command: "x", args: [], env };
}

function address(headers: Record<string, string>): McpServerConfig {
  return { type: "http", name: "s", url: "https://example.org", headers };
}

test("finds the keys of an MCP server by the names of its variables and headers", () => {
  const env = { GITHUB_TOKEN: "ghp_0123456789", ROOT: "/home/me/projects/mine", REGION: "eu-central-1-a" };
  expect(mcpServerSecrets(program(env))).toEqual(["ghp_0123456789"]);
  const headers = {
    ...{ Authorization: "Bearer abcdefghijklmnop", "X-Api-Key": "0123456789abcdef" },
    ...{ "X-Workspace": "the-workspace-of-everybody", Cookie: "session=0123456789" },
  };
  expect(mcpServerSecrets(address(headers))).toEqual([
    "abcdefghijklmnop",
    "0123456789abcdef",
    "session=0123456789",
  ]);
});

test("does not take short values and paths for keys, whatever their name", () => {
  expect(mcpServerSecrets(program({ KEY: "abc", TOKEN: "/run/secrets/token" }))).toEqual([]);
  expect(mcpServerSecrets(address({ Authorization: "Bearer x" }))).toEqual([]);
});
