// A chat channel in three calls. The conversation goes on after the program, and the server, were restarted.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ConversationAdapter, connect, describeEvent, FileConversationMap } from "@flint/sdk";

const flint = fileURLToPath(new URL("../packages/cli/bin/flint.cjs", import.meta.url));
const home = await mkdtemp(join(tmpdir(), "flint-home-"));
const folder = await mkdtemp(join(tmpdir(), "flint-folder-"));
const file = join(home, "conversations.json");

const adapters: ConversationAdapter[] = [];
function startAdapter(): ConversationAdapter {
  const spawn = {
    command: process.execPath,
    args: [flint, "serve", "--stdio"],
    env: { ...process.env, FLINT_HOME: home, FLINT_MODEL: "flint/offline" },
  };
  const conversations = new FileConversationMap(file);
  const adapter = new ConversationAdapter({ connect: () => connect({ spawn }), conversations });
  adapters.push(adapter);
  return adapter;
}

async function say(adapter: ConversationAdapter, prompt: string): Promise<string> {
  const answer = await adapter.runTurn("chat:42", prompt, {
    cwd: folder,
    approvalPolicy: "never",
    onEvent: (event) => {
      const line = describeEvent(event);
      if (line !== undefined) console.log(line);
    },
  });
  console.log(`> ${prompt}\n${answer}\n`);
  return answer;
}

try {
  const before = startAdapter();
  assert.match(await say(before, "run `echo the password is swordfish`"), /swordfish/);
  assert.match(await say(before, "what is in this folder?"), /empty/);
  await before.closeAll();
  const stored = JSON.parse(await readFile(file, "utf8")).threads;

  const after = startAdapter();
  assert.match(await say(after, "what did I ask you before?"), /swordfish/);
  assert.deepEqual(JSON.parse(await readFile(file, "utf8")).threads, stored);
  await after.startNewSession("chat:42");
  assert.doesNotMatch(await say(after, "what did I ask you before?"), /swordfish/);
} finally {
  await Promise.all(adapters.map((adapter) => adapter.closeAll()));
  await rm(home, { recursive: true });
  await rm(folder, { recursive: true });
}
