import { expect, test } from "vitest";
import type { McpServerConfig } from "../ports/index.ts";
import { mcpServerSecrets } from "./server-keys.ts";

function program(env: Record<string, string>): McpServerConfig {
  return { type: "stdio", name: "s", command: "x", args: [], env };
}

function address(headers: Record<string, string>): McpServerConfig {
  return { type: "http", name: "s", url: "https://example.org", headers };
}

test("the keys of an MCP server are those that its variables and headers are named for", () => {
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

test("what is short or a path is no key, whatever it is called", () => {
  expect(mcpServerSecrets(program({ KEY: "abc", TOKEN: "/run/secrets/token" }))).toEqual([]);
  expect(mcpServerSecrets(address({ Authorization: "Bearer x" }))).toEqual([]);
});
