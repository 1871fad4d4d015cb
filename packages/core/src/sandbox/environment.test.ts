import { expect, test } from "vitest";
import { commandEnvironment, isSecretName } from "./environment.ts";

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
  };
  expect(Object.keys(commandEnvironment(environment)).sort()).toEqual(["HOME", "LANG", "PATH"]);
});

test("names that only sound alike stay", () => {
  const names = ["KEYBOARD", "TOKENIZERS_PARALLELISM", "SECRETARY", "PATH", "SSH_AUTH_SOCK", "NODE_OPTIONS"];
  expect(names.filter(isSecretName)).toEqual([]);
});

test("a command always has a search path, the user's if there is one", () => {
  expect(commandEnvironment({})).toEqual({ PATH: expect.stringContaining("/usr/bin") });
  expect(commandEnvironment({ PATH: "/opt/bin", EMPTY: undefined })).toEqual({ PATH: "/opt/bin" });
});
