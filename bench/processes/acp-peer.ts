import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Bench } from "../bench.ts";
import type { Relay } from "../relays/relay.ts";
import { runNode } from "./child.ts";
import { WireProcess } from "./wire-process.ts";

const FINDER = fileURLToPath(new URL("./find-peer.mjs", import.meta.url));

/** An adapter that editors use for Claude Code, between the same engine and the same client. */
export const PEER_NAME = "claude-agent-acp";

/** Starts it, fetched if need be. Rejects with the reason if it cannot be had or does not do its work. */
export async function startPeer(bench: Bench): Promise<Relay> {
  const server = new WireProcess([await findPeer()], {
    environment: await peerEnvironment(bench),
    isDelta: (line) => line.includes('"sessionUpdate":"agent_message_chunk"'),
    quiet: true,
  });
  await server.exchange("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const cwd = await bench.newFolder();
  const { result } = await server.exchange("session/new", { cwd, mcpServers: [] });
  // The protocol says so, and without it the first turn fails.
  const { sessionId } = result as { sessionId: string };
  return {
    server,
    stream: async (order) => {
      const prompt = [{ type: "text", text: JSON.stringify(order) }];
      await server.exchange("session/prompt", { sessionId, prompt });
    },
    // The line was chosen by the kind of update that it is.
    textOf: (line) => JSON.parse(line).params.update.content.text as string,
  };
}

async function findPeer(): Promise<string> {
  // Written by the program of this folder.
  const found = JSON.parse(await runNode([FINDER])) as { path?: string; reason?: string };
  if (found.path === undefined) throw new Error(`${PEER_NAME} could not be had: ${found.reason}`);
  return found.path;
}

/** It must find nothing of the user's, no login and no network, only the program that plays Claude. */
async function peerEnvironment(bench: Bench): Promise<Record<string, string>> {
  const home = await bench.newFolder();
  const program = join(home, "claude");
  // It also starts the program to ask who is signed in; no one is.
  const script = `#!/bin/sh\n[ "$1" = auth ] && exit 1\nexec "${process.execPath}" "${bench.program("fake-claude")}"\n`;
  await writeFile(program, script);
  await chmod(program, 0o755);
  return {
    ...{ HOME: home, CLAUDE_CONFIG_DIR: home, CLAUDE_CODE_EXECUTABLE: program },
    ...{ ANTHROPIC_API_KEY: "none", ANTHROPIC_BASE_URL: "http://127.0.0.1:9" },
  };
}
