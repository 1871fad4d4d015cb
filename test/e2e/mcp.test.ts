import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { agentFolder, agentProgram, needs } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { type CommandFixture, commandFixture } from "./flint.ts";

const SERVER = fileURLToPath(new URL("../../packages/agent/src/mcp/fixtures/server.mjs", import.meta.url));

const SCRIPT = JSON.stringify([
  [{ call: "mcp__notes__echo", input: { text: "hello from a tool" } }],
  [{ text: "The server answered." }],
]);

async function placeWithScript(): Promise<CommandFixture & { readonly env: NodeJS.ProcessEnv }> {
  const fixture = await commandFixture();
  await writeFile(`${fixture.home}/script.json`, SCRIPT);
  return { ...fixture, env: { FLINT_OFFLINE_SCRIPT: `${fixture.home}/script.json` } };
}

function items(
  stdout: string,
): { readonly type: string; readonly status?: string; readonly result?: unknown }[] {
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return events.filter((event) => event.type === "item/completed").map((event) => event.item);
}

needs("bwrap", "claude")(
  "an MCP server of another agent that cannot be started is reported",
  async () => {
    const { flint, home } = await commandFixture(agentFolder());
    await mkdir(`${home}/.config/flint`, { recursive: true });
    const claude = `[agents.claude]\ncommand = [${JSON.stringify(agentProgram("claude"))}]\n`;
    const server = '[mcp_servers.notes]\ncommand = "/no/such/notes-server"\n';
    await writeFile(`${home}/.config/flint/config.toml`, claude + server);
    const { code, stdout, stderr } = await flint(["exec", "--offline", "--agent", "claude", "hello"]);
    expect(stdout + stderr).toMatch(/MCP server "notes": .*\/no\/such\/notes-server/);
    expect(code).toBe(0);
  },
  60_000,
);

describe("an MCP server of the user's configuration", () => {
  test("is started, its tool is called and shown, and it ends with Flint", async () => {
    const { flint, home, env } = await placeWithScript();
    await mkdir(`${home}/.config/flint`, { recursive: true });
    const config = `[mcp_servers.notes]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(SERVER)}]\n`;
    await writeFile(`${home}/.config/flint/config.toml`, config);
    const { code, stdout } = await flint(["exec", "--json", "--approval", "never", "go"], { env });
    expect(code).toBe(0);
    const call = items(stdout).find((item) => item.type === "mcpToolCall");
    expect(call).toMatchObject({ server: "notes", tool: "echo", status: "completed" });
    expect(JSON.stringify(call?.result)).toContain("hello from a tool");
  });

  test("that a repository configures is not started before it is trusted [P35]", async () => {
    const { flint, cwd, env } = await placeWithScript();
    const servers = { notes: { command: process.execPath, args: [SERVER] } };
    await writeFile(`${cwd}/.mcp.json`, JSON.stringify({ mcpServers: servers }));
    const before = await flint(["exec", "--json", "--approval", "never", "go"], { env });
    expect(items(before.stdout).filter((item) => item.type === "mcpToolCall")).toEqual([]);
    await flint(["trust", "--yes"]);
    const after = await flint(["exec", "--json", "--approval", "never", "go"], { env });
    expect(items(after.stdout).find((item) => item.type === "mcpToolCall")).toMatchObject({
      status: "completed",
    });
  });
});
