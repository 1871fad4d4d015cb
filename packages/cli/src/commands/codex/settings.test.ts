import { expect, onTestFinished, test, vi } from "vitest";
import { readOverrides, readSettings } from "./settings.ts";

async function read(...given: readonly string[]) {
  return readSettings(await readOverrides(given));
}

test("supports what the Codex SDK sends", async () => {
  expect(
    await read(
      'model_reasoning_effort="high"',
      "sandbox_workspace_write.network_access=true",
      'sandbox_workspace_write.writable_roots=["/a", "/b"]',
      'web_search="disabled"',
      'approval_policy="on-request"',
      'developer_instructions="Be brief."',
      'sandbox_mode="read-only"',
      'model="claude/opus"',
    ),
  ).toEqual({
    settings: {
      model: "claude/opus",
      effort: "high",
      sandbox: "read-only",
      networkAccess: true,
      writableRoots: ["/a", "/b"],
      approval: "on-request",
      developerInstructions: "Be brief.",
      webSearch: "disabled",
    },
    notes: [],
  });
});

test("notes an unsupported setting and applies the others", async () => {
  expect(await read("model=gpt", "features.shiny=true", "hide_agent_reasoning=true", "empty={}")).toEqual({
    settings: { model: "gpt" },
    notes: [
      "Ignoring --config features.shiny: Flint has no such setting.",
      "Ignoring --config hide_agent_reasoning: Flint has no such setting.",
      "Ignoring --config empty: Flint has no such setting.",
    ],
  });
});

test.each([
  "model=1",
  "model_reasoning_effort=true",
  "sandbox_workspace_write.network_access=perhaps",
  "sandbox_workspace_write.writable_roots=[1]",
  "approval_policy=sometimes",
  "developer_instructions=[]",
  "web_search=live",
  "mcp_servers=1",
  "toString=1",
  'openai_base_url="http://127.0.0.1:1"',
  "sandbox_workspace_write=3",
])("notes %s instead of failing", async (given) => {
  const { settings, notes } = await read(given);
  expect(settings).toEqual({});
  expect(notes).toHaveLength(1);
});

test("adds MCP servers, and notes keys that Flint does not support", async () => {
  const { settings, notes } = await read(
    'mcp_servers.lamps.command="node"',
    'mcp_servers.lamps.args=["lamp.mjs"]',
    "mcp_servers.lamps.startup_timeout_sec=5",
    'mcp_servers.far.url="https://lamps.example/mcp"',
    "mcp_servers.nothing.enabled=true",
  );
  expect(settings.mcpServers).toEqual([
    { type: "stdio", name: "lamps", command: "node", args: ["lamp.mjs"], env: {} },
    { type: "http", name: "far", url: "https://lamps.example/mcp", headers: {} },
  ]);
  expect(notes).toEqual([
    "Ignoring --config mcp_servers: Flint does not support lamps.startup_timeout_sec, nothing.",
  ]);
});

test("reads the headers of an MCP server under all of their Codex names", async () => {
  vi.stubEnv("LAMP_TOKEN", "let-there-be");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { settings, notes } = await read(
    "mcp_servers.far.url=http://127.0.0.1:1/mcp",
    'mcp_servers.far.bearer_token_env_var="LAMP_TOKEN"',
    'mcp_servers.far.http_headers.X-Room="hall"',
    'mcp_servers.far.env_http_headers.X-Lamp="LAMP_TOKEN"',
  );
  const headers = { "X-Room": "hall", "X-Lamp": "let-there-be", Authorization: "Bearer let-there-be" };
  expect(settings.mcpServers).toEqual([
    { type: "http", name: "far", url: "http://127.0.0.1:1/mcp", headers },
  ]);
  expect(notes).toEqual([]);
  const unset = await read(
    "mcp_servers.far.url=http://127.0.0.1:1/mcp",
    "mcp_servers.far.bearer_token_env_var=NO",
  );
  expect(unset.notes).toEqual([
    "Ignoring --config mcp_servers: Flint does not support far.bearer_token_env_var.",
  ]);
});

test("an MCP server that is disabled or redefined replaces the user's own", async () => {
  const { settings, notes } = await read(
    "mcp_servers.lamps.enabled=false",
    'mcp_servers.far.url="https://lamps.example/mcp"',
  );
  expect([settings.withoutMcpServers, notes]).toEqual([["lamps", "far"], []]);
});

test("a later setting wins, and a string needs no quotes", async () => {
  expect(await readOverrides(["a.b=1", "a.c= plain words ", "a.b=2", "d=x=y"])).toEqual({
    a: { b: 2, c: "plain words" },
    d: "x=y",
  });
});

test.each(["model", "=1", ".a=1", "a..b=1", "__proto__.polluted=1"])(
  "rejects the setting %s",
  async (given) => {
    await expect(readOverrides([given])).rejects.toThrow(/--config/);
  },
);
