import { expect, test } from "vitest";
import { commandEnvironment, isSecretName, secretsIn } from "./environment.ts";

test("keys, tokens and everything of a model provider are kept from commands [P31]", () => {
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

test("names that only sound alike stay", () => {
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

test("a command always has a search path, the user's if there is one", () => {
  expect(commandEnvironment({})).toEqual({ PATH: expect.stringContaining("/usr/bin") });
  expect(commandEnvironment({ PATH: "/opt/bin", EMPTY: undefined })).toEqual({ PATH: "/opt/bin" });
  expect(commandEnvironment({ PATH: "." })).toEqual({ PATH: expect.stringContaining("/usr/bin") });
});

test("a workspace cannot bring its own programs or settings for known ones [P34]", () => {
  const environment = {
    PATH: ":.:/opt/bin:bin:./node_modules/.bin:/bin:",
    RIPGREP_CONFIG_PATH: ".ripgreprc",
  };
  expect(commandEnvironment(environment)).toEqual({ PATH: "/opt/bin:/bin" });
});

test("secrets are the values of variables that are named so, not endpoints, regions, paths or short words [P31]", () => {
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
