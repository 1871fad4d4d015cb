import { mkdir, writeFile } from "node:fs/promises";
import type { Params } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { ListeningPlace } from "./listening-place.ts";

/** A server with a port is started, on a machine that may be busy. */
const PATIENCE = 60_000;
type Server = NonNullable<Params<"thread/start">["mcpServers"]>[number];
const PROGRAM: Server = { type: "stdio", name: "notes", command: "/bin/notes", args: [], env: {} };

describe("MCP servers that are programs, from a client of a port", { timeout: PATIENCE }, () => {
  test("are refused, and the refusal names the flag and the setting", async () => {
    const client = await clientOf([], "");
    const refused = client.call("thread/start", { mcpServers: [PROGRAM] });
    await expect(refused).rejects.toThrow("--allow-remote-mcp (allow_remote_mcp = true)");
  });

  test.each([
    ["flag", ["--allow-remote-mcp"], ""],
    ["setting", [], "allow_remote_mcp = true\n"],
  ])("are taken with the %s", async (_by, flags, config) => {
    const client = await clientOf(flags, config);
    const started = await client.call("thread/start", { mcpServers: [PROGRAM] });
    expect(started).toHaveProperty("thread.id");
  });
});

async function clientOf(flags: readonly string[], config: string) {
  const place = await ListeningPlace.make();
  await mkdir(place.home);
  await writeFile(`${place.home}/config.toml`, config);
  const { places } = await place.listening(["--listen", "ws://127.0.0.1:0", ...flags]);
  return place.client(places[0] ?? "");
}
