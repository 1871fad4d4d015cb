import { mkdir, writeFile } from "node:fs/promises";
import type { Params } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { ServerFixture } from "./listening-server.ts";

/** Starting a listening server may take long on a busy machine. */
const TEST_MS = 60_000;
type Server = NonNullable<Params<"thread/start">["mcpServers"]>[number];
const STDIO_SERVER: Server = { type: "stdio", name: "notes", command: "/bin/notes", args: [], env: {} };

describe("stdio MCP servers of a remote client", { timeout: TEST_MS }, () => {
  test("are rejected with an error that names the flag and the setting", async () => {
    const client = await clientOf([], "");
    const rejected = client.call("thread/start", { mcpServers: [STDIO_SERVER] });
    await expect(rejected).rejects.toThrow("--allow-remote-mcp (allow_remote_mcp = true)");
  });

  test.each([
    ["flag", ["--allow-remote-mcp"], ""],
    ["setting", [], "allow_remote_mcp = true\n"],
  ])("are accepted with the %s", async (_by, flags, config) => {
    const client = await clientOf(flags, config);
    const started = await client.call("thread/start", { mcpServers: [STDIO_SERVER] });
    expect(started).toHaveProperty("thread.id");
  });
});

async function clientOf(flags: readonly string[], config: string) {
  const fixture = await ServerFixture.make();
  await mkdir(fixture.home);
  await writeFile(`${fixture.home}/config.toml`, config);
  const { addresses } = await fixture.listening(["--listen", "ws://127.0.0.1:0", ...flags]);
  return fixture.client(addresses[0] ?? "");
}
