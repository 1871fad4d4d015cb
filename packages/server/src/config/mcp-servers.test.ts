import { join } from "node:path";
import { expect, test } from "vitest";
import { homeFolder } from "./environment.ts";
import { mcpServersOf } from "./mcp-servers.ts";
import { parseConfig } from "./parse.ts";

test("the program of an MCP server may be below the home folder, and its arguments stay as they are", async () => {
  const text = '[mcp_servers.docs]\ncommand = "~/bin/docs"\nargs = ["~/docs"]\n';
  const servers = mcpServersOf(await parseConfig(text, "config.toml", "user"), (value) => value);
  const command = join(homeFolder() ?? "", "bin/docs");
  expect(servers).toEqual([{ type: "stdio", name: "docs", command, args: ["~/docs"], env: {} }]);
});
